//! A node: its behavior, and the rules for its turns.

use std::path::PathBuf;

use crate::schema::{JsonSchema, omit_none};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::bounds::NodeBudgets;
use super::edge::Edge;
use crate::{
    Approval, Condition, Consume, Control, Cron, NodeId, NodeMode, OnInterrupt, OutputSelector,
    Parse, Path, Routing, SessionPolicy, ToolsDoc, Trigger, VerdictFrom,
};

/// How long a utility may run if nothing else is said.
pub const UTILITY_TIMEOUT_MS_DEFAULT: u64 = 30_000;

/// A place where one behaviour runs.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// The name of the materia.
    pub materia: String,
    /// The colour of the materia in drawings.
    pub color: Option<String>,
    /// The agent or the utility that runs here.
    pub behavior: Behavior,
    /// How output is read.
    pub parse: Parse,
    /// Where the verdict of a utility comes from, where it is not in its output (D48).
    pub verdict: Option<VerdictFrom>,
    /// Variables of a utility's environment, beside those that it inherits.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub env: IndexMap<String, String>,
    /// The folder that a utility runs in, relative to the project; absent means the project itself.
    pub cwd: Option<String>,
    /// Names of `params` that hold ids of nodes (D50).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub socket_params: Vec<String>,
    /// Values copied into the variables, in order: dotted target, source.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub assign: IndexMap<String, Path>,
    /// How long a turn may take; for an agent, absent means no limit of ours.
    pub timeout_ms: Option<u64>,
    /// Ways out, in the order they are tried.
    pub edges: Vec<Edge>,
    /// The way out when a turn has failed for good; without one the run fails (D61).
    pub on_failure: Option<Edge>,
    /// How often a failed turn of a utility is tried again, and after how long (D62).
    pub retries: Option<Retries>,
    /// Whether the first matching edge is taken or every one.
    pub routing: Routing,
    /// Runs the node once for each element of a list.
    pub foreach: Option<Foreach>,
    /// Whether the scheduler may start turns here.
    pub mode: NodeMode,
    /// Replaces the mode where it is present (D17).
    pub control: Option<Control>,
    /// The cause of a turn.
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
    pub interval_ms: Option<u64>,
    /// The times of a `scheduled` trigger, instead of an interval (D63).
    pub cron: Option<Cron>,
    /// Whether a scheduled node ticks when the run begins, too (D71).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub run_at_start: bool,
    /// Whether a turn waits for a person.
    pub approval: Option<Approval>,
    /// Nodes that must have completed a turn before one starts here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<NodeId>,
    /// Permissions of its turns.
    pub policy: Option<Policy>,
    /// The treatment of a turn that a crash interrupted.
    pub on_interrupt: OnInterrupt,
    /// Whether it produces `workItems`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub generator: bool,
    /// When a completed turn moves the cursor of the innermost loop around it.
    pub advance: Option<Condition>,
    /// Its budget.
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

/// An agent or a utility.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Behavior {
    /// A model is asked.
    #[serde(rename_all = "camelCase")]
    Agent {
        /// The prompt, as the author wrote it.
        prompt: String,
        /// Where the author wrote it: file and pointer.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        origin: String,
        /// The tools it may use, if the author said so.
        tools: Option<ToolsDoc>,
        /// The model, if the author chose one.
        model: Option<String>,
        /// The provider, if the author chose one.
        provider: Option<String>,
    },
    /// A local program runs.
    #[serde(rename_all = "camelCase")]
    Utility {
        /// The program and its arguments, with script paths made absolute and named as
        /// [`path_tokens`](crate::path_tokens) says. Never a shell line.
        command: Vec<String>,
        /// The `params` of its input.
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

/// Permissions of the turns of a node.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// The tools that an agent may use.
    pub tools: Option<ToolsDoc>,
    /// The only paths of the project that may be written; absent means all of it.
    pub write: Option<Vec<String>>,
    /// Whether the network may be used; absent means yes.
    pub network: Option<bool>,
    /// Whether its turns may control casts; absent means no.
    pub steer: Option<bool>,
    /// Labels that a worker must have to run the cast.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
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

impl Node {
    /// A node with every default, around a behaviour.
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
            run_at_start: false,
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
    pub fn program(&self) -> Option<PathBuf> {
        match &self.behavior {
            Behavior::Utility { command, .. } => command.first().map(PathBuf::from),
            Behavior::Agent { .. } => None,
        }
    }
}
