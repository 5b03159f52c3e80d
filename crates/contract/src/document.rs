//! The document format: what an author writes in a configuration file.
//!
//! Every field is optional here and unknown ones are kept, so that a document survives being
//! read and written by this version. The JSON Schema under `schemas/` is generated from these
//! types; the compiler checks documents against the same schema and then gives them meaning.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{AgentDoc, PricesDoc};

/// Fields this version does not know. They are kept, and reported.
pub type Extra = IndexMap<String, Value>;

/// A configuration file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The schema that editors use to complete this file.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Where casts are kept, relative to the project; `.materia` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_dir: Option<String>,
    /// The loadout that `materia cast` takes when none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_loadout: Option<String>,
    /// The graphs, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub loadouts: IndexMap<String, Loadout>,
    /// The reusable behaviours, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub materia: IndexMap<String, Materia>,
    /// Bounds that keep a cast from going on for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<LimitsDoc>,
    /// What a cast may spend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetDoc>,
    /// The only folder that turns may write to in Planning mode; `docs` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc_root: Option<String>,
    /// The agent of every materia that names none; the first installed one if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// How agents are started, by name: a known one, or one that speaks a known protocol.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub agents: IndexMap<String, AgentDoc>,
    /// What tokens cost, for agents that report tokens only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<PricesDoc>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A graph of sockets.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Loadout {
    /// The socket that a cast begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// What the loadout is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The placed nodes, by id.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub sockets: IndexMap<String, Socket>,
    /// Regions that run once for each work item, by id.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub loops: IndexMap<String, LoopDoc>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A placed node: which behaviour runs there, and where its output goes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Socket {
    /// The name of the materia that runs here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub materia: Option<String>,
    /// The ways out, tried in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<EdgeDoc>,
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
    #[schemars(range(min = 1))]
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
    /// A person's override of `mode`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
    /// What starts a turn here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Trigger>,
    /// The interval of a `scheduled` trigger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub interval_ms: Option<u64>,
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

/// A guarded way out of a socket.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EdgeDoc {
    /// Its id; `FROM->TO` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The verdict it asks for; `always` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// One comparison with state that must hold as well.
    #[serde(rename = "where", default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<WhereDoc>,
    /// A socket of this loadout, or `end`.
    pub to: String,
    /// How often it may be taken for one work item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_traversals: Option<u32>,
    /// How payloads wait on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_mode: Option<DeliveryMode>,
    /// The quiet period of `debounce`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub debounce_ms: Option<u64>,
    /// How many payloads may wait on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_buffered: Option<u32>,
    /// Which payload goes when it is full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overflow: Option<Overflow>,
    /// What makes two payloads the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedupe_by: Option<DedupeBy>,
    /// How far back sameness is looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub dedupe_window_ms: Option<u64>,
    /// A filter and a mapping on the payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transform: Option<TransformDoc>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One comparison: exactly one of `equals`, `notEquals` and `exists`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhereDoc {
    /// What is looked at.
    pub path: String,
    /// It is there and equals this value.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub equals: Option<Value>,
    /// It is missing or differs from this value.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub not_equals: Option<Value>,
    /// Whether it must be there at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exists: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Keeps a written `null` apart from a field that was left out.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// A filter and a mapping on a payload; `$` is the payload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TransformDoc {
    /// Payloads for which this does not hold are filtered out.
    #[serde(rename = "where", default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<WhereDoc>,
    /// Fields of the payload and the paths they are taken from.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub map: IndexMap<String, String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A reusable behaviour: an agent with a prompt, or a local command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Materia {
    /// What kind of behaviour it is; `agent` if left out.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<MateriaKind>,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where it is listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Its colour on the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    /// Agent: what it is asked to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Agent: `none`, `readOnly`, `coding`, or a list of names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolsDoc>,
    /// Agent: the model it runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Agent: the program that runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Agent: pauses after each answer until a person continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multi_turn: Option<bool>,
    /// Paths that must be present before it is asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    /// Agent: paths whose values its first prompt shows, where they are present.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// Agent: whether a provider session is kept between turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionPolicy>,
    /// Utility: the program and its arguments. No shell reads them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// Utility: a shipped script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptLocator>,
    /// Utility: what it is given as `params`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<serde_json::Map<String, Value>>,
    /// How output is read; `text` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parse: Option<Parse>,
    /// Values to copy into state: target to source path.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub assign: IndexMap<String, String>,
    /// How long a turn may take; 30,000 for utilities if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// Whether it produces `workItems`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What kind of behaviour a materia is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MateriaKind {
    /// A model is asked.
    #[default]
    Agent,
    /// A local program runs.
    Utility,
}

/// The tools an agent may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ToolsDoc {
    /// A named set.
    Set(ToolSet),
    /// Single tools by name.
    List(Vec<String>),
}

/// A named set of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ToolSet {
    /// None at all.
    None,
    /// Those that change nothing.
    ReadOnly,
    /// Those that change files and run commands.
    Coding,
}

/// Names a script that ships with the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScriptLocator {
    /// The only kind there is.
    pub kind: ScriptKind,
    /// The file name of the script.
    pub name: String,
    /// What runs it; `node` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Where a script is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ScriptKind {
    /// Among the shipped utilities in the profile folder.
    ShippedUtility,
}

/// A region that runs once for each work item.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopDoc {
    /// The sockets inside.
    #[serde(default)]
    pub sockets: Vec<String>,
    /// Where the list comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumes: Option<ConsumesDoc>,
    /// Where to go when the list is exhausted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exits: Vec<ExitDoc>,
    /// Short for the `advance` of one member and its exit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<ExitShorthandDoc>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The generator that feeds a loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConsumesDoc {
    /// The socket id of the generator.
    pub from: String,
    /// `workItems`.
    pub output: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A way out of an exhausted loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExitDoc {
    /// Stable and unique in its loop.
    pub id: String,
    /// The member that exhausted the loop.
    pub from: String,
    /// The verdict it asks for.
    pub condition: Condition,
    /// Where it leads.
    pub target_socket_id: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The short form of a loop's one exit, as the original system writes it.
///
/// Beside `consumes` the member also moves the cursor when `when` holds, unless it has an
/// `advance` of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExitShorthandDoc {
    /// The member that moves the cursor and leaves the loop.
    pub from: String,
    /// The verdict it asks for; `always` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// A socket of this loadout, or `end`, which it is if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Moves a loop's cursor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdvanceDoc {
    /// The name of the cursor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The list it walks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<String>,
    /// The verdict it asks for; `always` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Runs one socket once for each element of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForeachDoc {
    /// The path of the list.
    pub items: String,
    /// The name under which the element appears in the utility's `state`.
    #[serde(rename = "as", default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// The name of the cursor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Bounds of a cast.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LimitsDoc {
    /// Further tries after an output that breaks the contract; 1 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_repairs: Option<u32>,
    /// Cycles that may close before the item moves; 3 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_no_advance_cycles: Option<u32>,
    /// Turns that may run at once; 64 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_concurrent_turns: Option<u32>,
    /// Further tries after a provider failed in a way that may pass; 4 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a cast may spend.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetDoc {
    /// Tokens, in and out together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Cost, in the currency of the provider's reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub max_cost: Option<f64>,
    /// Turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u64>,
    /// When to warn; 75 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub warn_at_percent: Option<u32>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What one node may spend.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeBudgetsDoc {
    /// Turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// Time spent in turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// Cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What turns of a node may do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyDoc {
    /// The tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolsDoc>,
    /// Folders that may be written to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Vec<String>>,
    /// Whether the network may be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum $name {
            $($(#[$vdoc])* #[serde(rename = $word)] $variant),+
        }

        impl $name {
            /// The word that stands for it in documents.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    };
}

words!(
    /// The verdict that an edge asks for.
    Condition {
        /// Whatever the verdict.
        Always = "always",
        /// The verdict is true.
        Satisfied = "satisfied",
        /// The verdict is false.
        NotSatisfied = "not_satisfied",
    }
);
words!(
    /// How many matching edges are taken.
    Routing {
        /// The first: the node is a step of a state machine.
        First = "first",
        /// Every one: the node is part of a dataflow graph.
        All = "all",
    }
);
words!(
    /// How output is read.
    Parse {
        /// Kept as it is.
        Text = "text",
        /// Parsed as one JSON value.
        Json = "json",
    }
);
words!(
    /// Whether the scheduler may start turns at a node.
    NodeMode {
        /// Only a person.
        Interactive = "interactive",
        /// The scheduler.
        Auto = "auto",
    }
);
words!(
    /// A person's override of a node's mode.
    Control {
        /// Only a person starts turns.
        Manual = "manual",
        /// No override.
        Automatic = "automatic",
    }
);
words!(
    /// What starts a turn.
    Trigger {
        /// Only a person.
        ManualOnly = "manual_only",
        /// Any input that waits.
        OnAnyInput = "on_any_input",
        /// A fixed interval.
        Scheduled = "scheduled",
    }
);
words!(
    /// How much of what waits a turn takes.
    Consume {
        /// Everything.
        All = "all",
        /// The oldest payload.
        One = "one",
    }
);
words!(
    /// How payloads wait on an edge.
    DeliveryMode {
        /// Only the newest.
        Latest = "latest",
        /// All, in order.
        Queue = "queue",
        /// One after a quiet period.
        Debounce = "debounce",
        /// Only for an idle node.
        DropIfBusy = "drop_if_busy",
    }
);
words!(
    /// Which payload goes when an edge is full.
    Overflow {
        /// The one that arrives.
        DropNewest = "drop_newest",
        /// The one that waited longest.
        DropOldest = "drop_oldest",
    }
);
words!(
    /// What makes two payloads the same.
    DedupeBy {
        /// Their id.
        PayloadId = "payloadId",
        /// Their content.
        ContentHash = "contentHash",
        /// Nothing.
        None = "none",
    }
);
words!(
    /// Which part of an output travels on.
    OutputSelector {
        /// The final text.
        MessageFinal = "message.final",
        /// The parsed output.
        StructuredOutput = "structured_output",
        /// The diff.
        ArtifactsDiff = "artifacts:diff",
        /// The logs.
        ArtifactsLogs = "artifacts:logs",
        /// Text, parsed output and the named artifacts.
        Composite = "composite",
    }
);
words!(
    /// Whether a turn waits for a person.
    Approval {
        /// Before it starts.
        Before = "before",
    }
);
words!(
    /// What happens to a turn that a crash interrupted.
    OnInterrupt {
        /// It runs again at once with the same inputs.
        Retry = "retry",
        /// A person decides.
        Ask = "ask",
    }
);
words!(
    /// Whether a provider session is kept between turns.
    SessionPolicy {
        /// Within one work item.
        Auto = "auto",
        /// Never.
        Fresh = "fresh",
        /// Always.
        Keep = "keep",
    }
);
