//! The plan: what a run executes and what its first event pins.
//!
//! A plan is checked: every id it mentions exists, every default is written out. It is made by
//! the compiler and read by the kernel, which never sees a document.

use std::path::PathBuf;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Amount, Approval, Condition, Consume, Control, Cron, DedupeBy, DeliveryMode, EdgeId, NodeId,
    NodeMode, OnInterrupt, OutputSelector, Overflow, Parse, Path, Routing, SessionPolicy, ToolsDoc,
    Trigger, VerdictFrom,
};

/// How long a utility may run if nothing else is said.
pub const UTILITY_TIMEOUT_MS_DEFAULT: u64 = 30_000;

/// A compiled graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The name of the loadout it was made from.
    pub loadout: String,
    /// Where a run begins.
    pub entry: NodeId,
    /// All nodes, in the order the author wrote them.
    pub nodes: IndexMap<NodeId, Node>,
    /// Regions that run once for each work item, by id.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub loops: IndexMap<String, Loop>,
    /// Bounds of the run.
    pub limits: Limits,
    /// What the run may spend.
    #[serde(default)]
    pub budget: Budget,
    /// The only folder that turns may write to in Planning mode, relative to the project.
    pub doc_root: String,
}

/// A place where one behaviour runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// The name of the materia.
    pub materia: String,
    /// The colour of the materia, for whoever draws it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    /// What runs here.
    pub behavior: Behavior,
    /// How output is read.
    pub parse: Parse,
    /// Where the verdict of a utility comes from, where it is not in its output (D48).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictFrom>,
    /// Variables of a utility's environment, beside those that it inherits.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub env: IndexMap<String, String>,
    /// The folder that a utility runs in, relative to the project; absent means the project itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Names of `params` that hold ids of nodes (D50).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub socket_params: Vec<String>,
    /// Values copied into the variables, in order: dotted target, source.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub assign: IndexMap<String, Path>,
    /// How long a turn may take; for an agent, absent means no limit of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Ways out, in the order they are tried.
    pub edges: Vec<Edge>,
    /// The way out when a turn has failed for good; without one the run fails (D61).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<Edge>,
    /// How often a failed turn of a utility is tried again, and after how long (D62).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<Retries>,
    /// Whether the first matching edge is taken or every one.
    pub routing: Routing,
    /// Runs the node once for each element of a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreach: Option<Foreach>,
    /// Whether the scheduler may start turns here.
    pub mode: NodeMode,
    /// What counts instead of the mode, where it is present (D17).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
    /// What starts a turn.
    pub trigger: Trigger,
    /// How many turns may run here at once.
    pub max_in_flight: u32,
    /// How much of what waits a turn takes.
    pub consume: Consume,
    /// Which part of an output travels on.
    pub output_selector: OutputSelector,
    /// The kinds of artifacts that `composite` sends along; none named means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<String>,
    /// The interval of a `scheduled` trigger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_ms: Option<u64>,
    /// The times of a `scheduled` trigger, instead of an interval (D63).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron: Option<Cron>,
    /// Whether a turn waits for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// Nodes that must have completed a turn before one starts here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<NodeId>,
    /// What turns may do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// What happens to a turn that a crash interrupted.
    pub on_interrupt: OnInterrupt,
    /// Whether it produces `workItems`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub generator: bool,
    /// When a completed turn moves the cursor of the innermost loop around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advance: Option<Condition>,
    /// What it may spend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budgets: Option<NodeBudgets>,
    /// The loops around it, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loops: Vec<String>,
    /// Paths that must be present before it is asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<Path>,
    /// Paths whose values the first prompt shows, where they are present.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<Path>,
    /// Whether it pauses after each answer until a person continues.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub multi_turn: bool,
    /// Whether a provider session is kept between turns.
    #[serde(default = "auto_session")]
    pub session: SessionPolicy,
}

fn auto_session() -> SessionPolicy {
    SessionPolicy::Auto
}

/// A region that runs once for each work item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Loop {
    /// The nodes inside.
    pub members: Vec<NodeId>,
    /// The generator whose list it iterates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumes: Option<NodeId>,
    /// The list it iterates where no generator is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Path>,
    /// The name of its cursor.
    pub cursor: String,
    /// Ways out when the list is exhausted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exits: Vec<Exit>,
}

/// A way out of an exhausted loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Exit {
    /// Stable and unique in its loop.
    pub id: String,
    /// The id of the edge that is drawn for it: `loop-exit:<loop>:<id>`.
    pub edge_id: EdgeId,
    /// The member that exhausts the loop.
    pub from: NodeId,
    /// The verdict it asks for.
    pub condition: Condition,
    /// Where it leads; absent means the end of the graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<NodeId>,
}

/// What one node may spend. What is absent is not bounded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeBudgets {
    /// Turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// Time spent in turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// Cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Amount>,
}

/// What a run may spend. What is absent is not bounded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// Tokens, in and out together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<Amount>,
    /// Turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u64>,
    /// When to warn; 75 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warn_at_percent: Option<u32>,
    /// Megabytes that the cast may keep, where a person has changed what its limits say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_storage_mb: Option<u64>,
}

/// What runs at a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Behavior {
    /// A model is asked.
    #[serde(rename_all = "camelCase")]
    Agent {
        /// What it is asked to do, as the author wrote it.
        prompt: String,
        /// Where the author wrote it: file and pointer.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        origin: String,
        /// The tools it may use, if the author said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tools: Option<ToolsDoc>,
        /// The model, if the author chose one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The provider, if the author chose one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
    },
    /// A local program runs.
    #[serde(rename_all = "camelCase")]
    Utility {
        /// The program and its arguments, with script paths made absolute and named as
        /// [`places`](crate::places) says. Never a shell line.
        command: Vec<String>,
        /// What it is given as `params`.
        params: serde_json::Map<String, Value>,
    },
}

/// How a utility that failed is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Retries {
    /// How many further attempts there may be.
    pub max: u32,
    /// How long to wait before each.
    pub delay_ms: u64,
}

/// The id of the way out of a socket whose turn has failed.
#[must_use]
pub fn on_failure_edge(socket: &str) -> EdgeId {
    EdgeId::new(format!("onFailure:{socket}"))
}

/// A guarded way out of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    /// Its identity, unique in the plan.
    pub id: EdgeId,
    /// The verdict it asks for.
    pub when: Condition,
    /// One comparison that must hold as well.
    #[serde(rename = "where", default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<Guard>,
    /// Where it leads; absent means the end of the graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<NodeId>,
    /// How often it may be taken for one work item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_traversals: Option<u32>,
    /// How payloads wait on it.
    #[serde(default, skip_serializing_if = "Delivery::is_plain")]
    pub delivery: Delivery,
}

/// How payloads wait on an edge, with every default written out (D10).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// How they wait.
    pub mode: DeliveryMode,
    /// How many may be on their way and not yet consumed.
    pub max_buffered: u32,
    /// Which one goes when there are more.
    pub overflow: Overflow,
    /// The quiet period of `debounce`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debounce_ms: Option<u64>,
    /// What makes two of them the same.
    pub dedupe_by: DedupeBy,
    /// How far back sameness is looked for; absent means the last accepted one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedupe_window_ms: Option<u64>,
    /// A filter and a mapping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transform: Option<Transform>,
}

/// How many payloads of a `queue` edge may wait, if nothing else is said.
pub const QUEUE_BUFFERED_DEFAULT: u32 = 256;

impl Default for Delivery {
    fn default() -> Self {
        Self::of(DeliveryMode::Queue)
    }
}

impl Delivery {
    /// The defaults of a mode.
    #[must_use]
    pub fn of(mode: DeliveryMode) -> Self {
        let max_buffered = match mode {
            DeliveryMode::Queue => QUEUE_BUFFERED_DEFAULT,
            DeliveryMode::Latest | DeliveryMode::Debounce | DeliveryMode::DropIfBusy => 1,
        };
        Self {
            mode,
            max_buffered,
            overflow: Overflow::DropNewest,
            debounce_ms: None,
            dedupe_by: DedupeBy::None,
            dedupe_window_ms: None,
            transform: None,
        }
    }

    /// Whether it is what an edge has that says nothing.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// A filter and a mapping on payloads; `$` is the payload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Transform {
    /// What must hold of a payload for it to pass.
    #[serde(rename = "where", default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<Guard>,
    /// Parts of the payload that are replaced, and by what.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub map: IndexMap<PayloadPart, Path>,
}

/// A part of a payload that a transform can replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PayloadPart {
    /// Its text.
    Message,
    /// Its parsed value.
    Structured,
    /// Whether its source was content.
    Status,
}

/// What turns of a node may do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// The tools that an agent may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolsDoc>,
    /// The only paths of the project that may be written; absent means all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Vec<String>>,
    /// Whether the network may be used; absent means yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<bool>,
}

/// One comparison with a value of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Guard {
    /// What is looked at.
    pub path: Path,
    /// What must hold of it.
    pub test: Test,
}

/// What a guard asks of a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Test {
    /// It is there and equals this.
    Equals(Value),
    /// It is missing or differs from this.
    NotEquals(Value),
    /// It is there (or, if false, it is not).
    Exists(bool),
}

/// Runs one node once for each element of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Foreach {
    /// The list.
    pub items: Path,
    /// The name under which the element appears in the utility's `state`.
    #[serde(rename = "as")]
    pub alias: String,
    /// The name of the cursor.
    pub cursor: String,
}

/// Bounds of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Further tries after an output that breaks the contract.
    pub max_repairs: u32,
    /// Cycles that may close before the item moves.
    pub max_no_advance_cycles: u32,
    /// Turns that may run at once.
    pub max_concurrent_turns: u32,
    /// Turns of a dataflow node on a cycle without a bound, before a person is asked (D23).
    #[serde(default = "cycle_turns_default", skip_serializing_if = "is_cycle_turns_default")]
    pub max_cycle_turns: u32,
    /// Further tries after a provider failed in a way that may pass.
    #[serde(default = "retries_default")]
    pub max_retries: u32,
    /// Megabytes that the cast may keep, journal and files together.
    #[serde(default = "storage_default", skip_serializing_if = "is_storage_default")]
    pub max_storage_mb: u64,
}

fn storage_default() -> u64 {
    1_024
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_storage_default(megabytes: &u64) -> bool {
    *megabytes == storage_default()
}

fn retries_default() -> u32 {
    4
}

fn cycle_turns_default() -> u32 {
    50
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_cycle_turns_default(turns: &u32) -> bool {
    *turns == cycle_turns_default()
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_repairs: 1,
            max_no_advance_cycles: 3,
            max_concurrent_turns: 64,
            max_cycle_turns: cycle_turns_default(),
            max_storage_mb: storage_default(),
            max_retries: retries_default(),
        }
    }
}

impl Plan {
    /// The hash that names this plan: blake3 over its JSON, in hexadecimal.
    #[must_use]
    pub fn hash(&self) -> String {
        let bytes = serde_json::to_vec(self).expect("a plan is data and always renders");
        blake3::hash(&bytes).to_hex().to_string()
    }

    /// The node of that id, if it is in the plan.
    #[must_use]
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.get(id)
    }
}

impl Node {
    /// A node with every default, around a behaviour.
    #[must_use]
    pub fn new(materia: impl Into<String>, behavior: Behavior) -> Self {
        Self {
            materia: materia.into(),
            behavior,
            parse: Parse::Text,
            verdict: None,
            env: IndexMap::new(),
            cwd: None,
            socket_params: Vec::new(),
            assign: IndexMap::new(),
            timeout_ms: None,
            edges: Vec::new(),
            on_failure: None,
            retries: None,
            routing: Routing::First,
            foreach: None,
            mode: NodeMode::Auto,
            control: None,
            trigger: Trigger::OnAnyInput,
            max_in_flight: 1,
            consume: Consume::All,
            output_selector: OutputSelector::MessageFinal,
            artifacts: Vec::new(),
            interval_ms: None,
            cron: None,
            approval: None,
            depends_on: Vec::new(),
            policy: None,
            on_interrupt: OnInterrupt::Retry,
            generator: false,
            advance: None,
            budgets: None,
            loops: Vec::new(),
            requires: Vec::new(),
            reads: Vec::new(),
            multi_turn: false,
            color: None,
            session: SessionPolicy::Auto,
        }
    }

    /// The program that would run here, if it is a utility.
    #[must_use]
    pub fn program(&self) -> Option<PathBuf> {
        match &self.behavior {
            Behavior::Utility { command, .. } => command.first().map(PathBuf::from),
            Behavior::Agent { .. } => None,
        }
    }
}
