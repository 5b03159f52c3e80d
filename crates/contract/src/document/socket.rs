//! A place in a graph, as its author writes it.

use crate::schema::JsonSchema;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::{
    AdvanceDoc, Approval, Consume, Control, EdgeDoc, Extra, ForeachDoc, NodeBudgetsDoc, NodeMode,
    OnFailureDoc, OnInterrupt, OutputSelector, Parse, PolicyDoc, RetriesDoc, Routing,
    SessionPolicy, SocketPromptDoc, ToolsDoc, Trigger,
};

/// A placed node: which behaviour runs there, and where its output goes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Socket {
    /// The name of the materia that runs here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub materia: Option<String>,
    /// Agent: words that are added to the materia's prompt, or take its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<SocketPromptDoc>,
    /// Agent: the model it runs on; overrides the materia's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Agent: the tools it may use; overrides the materia's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolsDoc>,
    /// Utility: what it is given as `params`, laid over the materia's name by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<serde_json::Map<String, serde_json::Value>>,
    /// Utility: variables of its environment, laid over the materia's name by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub env: IndexMap<String, String>,
    /// The ways out, tried in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<EdgeDoc>,
    /// The way out when a turn here has failed for good; without one the cast fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<OnFailureDoc>,
    /// Utility: how a failed turn is tried again; overrides the materia's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<RetriesDoc>,
    /// Whether the first matching edge is taken, or every one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<Routing>,
    /// How output is read; overrides the materia's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parse: Option<Parse>,
    /// Values to copy into state: target to source path. Merged over the materia's.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub assign: IndexMap<String, String>,
    /// How long a turn may take; overrides the materia's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = crate::time::DURATION_MS_MAX))]
    pub timeout_ms: Option<u64>,
    /// Moves a loop's cursor after this socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advance: Option<AdvanceDoc>,
    /// Runs this socket once for each element of a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreach: Option<ForeachDoc>,
    /// Whether the scheduler may start turns here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<NodeMode>,
    /// What counts instead of `mode`: `manual` as `interactive`, `automatic` as `auto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
    /// What starts a turn here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Trigger>,
    /// The interval of a `scheduled` trigger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = crate::time::DURATION_MS_MAX))]
    pub interval_ms: Option<u64>,
    /// The times of a `scheduled` trigger, instead of an interval: `minute hour day-of-month month day-of-week`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    /// Whether a scheduled socket ticks when the cast begins, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_at_start: Option<bool>,
    /// The time zone in which `cron` is read, by its IANA name; UTC if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// How many turns may run here at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_in_flight: Option<u32>,
    /// Whether a turn takes everything that waits, or one payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consume: Option<Consume>,
    /// What this node may spend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budgets: Option<NodeBudgetsDoc>,
    /// What turns here may do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyDoc>,
    /// Which part of the output travels on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_selector: Option<OutputSelector>,
    /// The artifacts that `composite` sends along.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<String>,
    /// `before`: a turn waits for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// Nodes that must have completed a turn first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// What happens to a turn that a crash interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_interrupt: Option<OnInterrupt>,
    /// Whether a provider session is kept between turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionPolicy>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
