//! A place in a graph, as its author writes it.

use crate::schema::{JsonSchema, omit_none};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::{
    AdvanceDoc, Approval, Consume, Control, EdgeDoc, Extra, ForeachDoc, NodeBudgetsDoc, NodeMode,
    OnFailureDoc, OnInterrupt, OutputSelector, Parse, PolicyDoc, RetriesDoc, Routing,
    SessionPolicy, SocketPromptDoc, ToolsDoc, Trigger,
};

/// A socket: a place in the graph with a materia and edges to the next sockets.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Socket {
    /// The name of the materia that runs here.
    #[schemars(extend("examples" = ["Test"]))]
    pub materia: Option<String>,
    /// Agent: text that is added to the prompt of the materia. `{"replace": …}` replaces it.
    #[schemars(extend("examples" = ["Use tabs."]))]
    pub prompt: Option<SocketPromptDoc>,
    /// Agent: overrides `model` of the materia.
    #[schemars(extend("examples" = ["opus"]))]
    pub model: Option<String>,
    /// Agent: overrides `tools` of the materia.
    #[schemars(extend("examples" = ["readOnly"]))]
    pub tools: Option<ToolsDoc>,
    /// Utility: overrides single values of the materia's `params`.
    #[schemars(extend("examples" = [{"word": "FIXME"}]))]
    pub params: Option<serde_json::Map<String, serde_json::Value>>,
    /// Utility: adds to `env` of the materia, or overrides single variables.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(extend("examples" = [{"CI": "1"}]))]
    pub env: IndexMap<String, String>,
    /// The edges to the next sockets, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [[{"when": "satisfied", "to": "end"}, {"to": "fix", "maxTraversals": 5}]]))]
    pub edges: Vec<EdgeDoc>,
    /// The next socket when a turn here has failed for good. Without it the cast fails.
    #[schemars(extend("examples" = [{"to": "fix", "maxTraversals": 3}]))]
    pub on_failure: Option<OnFailureDoc>,
    /// Utility: overrides `retries` of the materia.
    #[schemars(extend("examples" = [{"max": 2}]))]
    pub retries: Option<RetriesDoc>,
    /// Whether the output goes over the first matching edge, or over all of them.
    #[schemars(extend("default" = "first", "examples" = ["all"]))]
    pub routing: Option<Routing>,
    /// Overrides `parse` of the materia.
    #[schemars(extend("examples" = ["json"]))]
    pub parse: Option<Parse>,
    /// Adds to `assign` of the materia, or overrides single names.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(extend("examples" = [{"plan": "$.context"}]))]
    pub assign: IndexMap<String, String>,
    /// Overrides `timeoutMs` of the materia.
    #[schemars(range(min = 1, max = crate::time::DURATION_MS_MAX))]
    #[schemars(extend("examples" = [600_000]))]
    pub timeout_ms: Option<u64>,
    /// Moves the innermost loop to its next item after this socket.
    #[schemars(extend("examples" = [{"when": "satisfied"}]))]
    pub advance: Option<AdvanceDoc>,
    /// Runs this socket once for each element of a list.
    #[schemars(extend("examples" = [{"items": "state.files", "as": "file"}]))]
    pub foreach: Option<ForeachDoc>,
    /// Whether turns start by themselves (`auto`) or only when a person starts them (`interactive`).
    #[schemars(extend("default" = "auto", "examples" = ["interactive"]))]
    pub mode: Option<NodeMode>,
    /// Another name for `mode`, which it overrides: `manual` means `interactive`, `automatic` means `auto`.
    #[schemars(extend("examples" = ["manual"]))]
    pub control: Option<Control>,
    /// The event that starts a turn: an input, the clock, or a person.
    #[schemars(extend("default" = "on_any_input", "examples" = ["scheduled"]))]
    pub trigger: Option<Trigger>,
    /// The time between two turns of a `scheduled` socket, in milliseconds.
    #[schemars(range(min = 1, max = crate::time::DURATION_MS_MAX))]
    #[schemars(extend("examples" = [600_000]))]
    pub interval_ms: Option<u64>,
    /// The times of a `scheduled` socket, instead of an interval: `minute hour day-of-month month day-of-week`.
    #[schemars(extend("examples" = ["30 6 * * mon-fri"]))]
    pub cron: Option<String>,
    /// Whether a `scheduled` socket also runs when the cast begins.
    #[schemars(extend("default" = false, "examples" = [true]))]
    pub run_at_start: Option<bool>,
    /// The time zone of `cron`, by its IANA name.
    #[schemars(extend("default" = "UTC", "examples" = ["Europe/Vienna"]))]
    pub timezone: Option<String>,
    /// How many turns of this socket may run at the same time.
    #[schemars(range(min = 1))]
    #[schemars(extend("default" = 1, "examples" = [3]))]
    pub max_in_flight: Option<u32>,
    /// Whether a turn takes all waiting payloads, or the oldest one.
    #[schemars(extend("default" = "all", "examples" = ["one"]))]
    pub consume: Option<Consume>,
    /// The most that this socket may spend. At the limit it is blocked; its inputs are kept.
    #[schemars(extend("examples" = [{"turns": 12}]))]
    pub budgets: Option<NodeBudgetsDoc>,
    /// Permissions of turns of this socket.
    #[schemars(extend("examples" = [{"write": ["src"], "network": false}]))]
    pub policy: Option<PolicyDoc>,
    /// The part of the output that is sent to the next socket.
    #[schemars(extend("default" = "message.final", "examples" = ["composite"]))]
    pub output_selector: Option<OutputSelector>,
    /// The artifacts that `composite` sends: `diff`, `logs`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [["diff"]]))]
    pub artifacts: Vec<String>,
    /// `before`: a person must approve each turn before it starts.
    #[schemars(extend("examples" = ["before"]))]
    pub approval: Option<Approval>,
    /// Sockets that must complete a turn before this one may run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [["build"]]))]
    pub depends_on: Vec<String>,
    /// How `resume` treats a turn that a crash interrupted: run it again, or ask first.
    #[schemars(extend("default" = "retry", "examples" = ["ask"]))]
    pub on_interrupt: Option<OnInterrupt>,
    /// Overrides `session` of the materia.
    #[schemars(extend("examples" = ["keep"]))]
    pub session: Option<SessionPolicy>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
