use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capability::Capabilities;

/// Which agents could be asked on this machine, and what is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// Every agent that is known here.
    pub agents: Vec<AgentHealth>,
    /// The agent of every socket that names none; absent where there is none.
    pub uses: Option<String>,
    /// What holds turns to Planning mode.
    pub sandbox: Sandbox,
    /// The runtime that some agents need; absent where it is not installed.
    pub node: Option<NodeRuntime>,
}

/// One agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentHealth {
    /// The name that authors write.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// Whether its program is there.
    pub installed: bool,
    /// Where.
    pub path: Option<String>,
    /// The version that it says.
    pub version: Option<String>,
    /// The version that it was tried with.
    pub tested_with: String,
    /// Whether a login was found; absent where nobody can tell.
    pub logged_in: Option<bool>,
    /// What speaks for the login.
    pub evidence: Option<String>,
    /// What it can do.
    pub capabilities: Capabilities,
    /// What is missing, and how to get it.
    pub missing: Option<String>,
    /// Whether this project names its program and nobody has approved that: then it was not started.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub not_run: bool,
}

/// What holds turns to Planning mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sandbox {
    /// The version of Landlock in the kernel of this machine; 0 where there is none.
    pub landlock: u32,
    /// How far it goes.
    pub planning: PlanningSupport,
}

/// How far the kernel of a machine can hold turns to Planning mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlanningSupport {
    /// Every way of writing is covered.
    Enforced,
    /// Most ways are: existing files can still be truncated.
    Partial,
    /// None is.
    Unavailable,
}

/// Node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeRuntime {
    /// Where its program is.
    pub path: String,
    /// The version that it says.
    pub version: Option<String>,
}
