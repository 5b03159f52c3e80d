//! The agents that answer the agent nodes of a run.

use crate::schema::{JsonSchema, omit_none};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::NodeId;

/// The name under which a script answers.
pub const SCRIPTED: &str = "scripted";

/// The name of the provider that gives the least that keeps the contract (D54).
pub const MOCK: &str = "mock";

/// The name under which a recording answers.
pub const RECORDED: &str = "recorded";

/// The agent of a node.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Answerer {
    /// The provider, by the name that authors write.
    pub provider: String,
    /// The version that the program of the agent reports.
    pub program_version: Option<String>,
    /// The model that it is asked for, where one was chosen.
    pub model: Option<String>,
}

/// The agents, by node.
pub type Answerers = IndexMap<NodeId, Answerer>;

/// Data of `agents.chosen`: from here on others answer than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentsChosen {
    /// The agents. Nodes without an agent are not listed.
    pub agents: Answerers,
}
