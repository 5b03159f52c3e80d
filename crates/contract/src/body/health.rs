use crate::schema::JsonSchema;
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
    /// Means of the machine to confine turns.
    pub sandbox: Sandbox,
    /// Protections that are missing on this machine, a sentence each.
    #[serde(default)]
    pub gaps: Vec<String>,
    /// The runtime that some agents need; absent where it is not installed.
    pub node: Option<NodeRuntime>,
    /// The git that workspaces use; absent where it is not installed.
    pub git: Option<GitProgram>,
    /// The NATS servers that casts are kept on; absent where they are kept in a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<JournalHealth>,
}

/// The NATS servers that casts are kept on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JournalHealth {
    /// Their address.
    pub address: String,
    /// The name of the project's casts there.
    pub space: String,
    /// Why they cannot be used; absent where they can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The version of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How many servers keep each event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<u64>,
    /// The time of a lease, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_seconds: Option<u64>,
    /// Whether an event that was acknowledged survives the loss of power: `yes`, `no` or `unknown`.
    pub durable: Durable,
    /// The reason for that, in a sentence.
    pub because: String,
}

/// Whether acknowledged events survive the loss of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Durable {
    /// They do.
    Yes,
    /// They may be lost.
    No,
    /// The server does not say.
    Unknown,
}

/// The git of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitProgram {
    /// The version that it says.
    pub version: String,
    /// Whether it is new enough for workspaces.
    pub workspaces: bool,
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
    /// Whether a login was found; absent where it is unknown.
    pub logged_in: Option<bool>,
    /// The sign by which the login was found, such as a file or a variable.
    pub evidence: Option<String>,
    /// Its capabilities.
    pub capabilities: Capabilities,
    /// Missing parts, and how to install them.
    pub missing: Option<String>,
    /// Whether the project names its program and that is not approved: then it was not started.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_run: bool,
    /// The model that this project asks for; absent where it asks for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Means of the machine to confine turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sandbox {
    /// The version of Landlock in the kernel of this machine; 0 where there is none.
    pub landlock: u32,
    /// How far Planning mode and policies are held.
    pub planning: PlanningSupport,
    /// Whether the kernel takes the system-call filter.
    #[serde(default)]
    pub filter: bool,
    /// Whether turns that last get a cgroup.
    #[serde(default)]
    pub cgroup: bool,
    /// Whether programs without privileges may make user namespaces.
    #[serde(default)]
    pub user_namespaces: bool,
}

/// How far the kernel of a machine can hold turns to Planning mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlanningSupport {
    /// Every way of writing is covered.
    Enforced,
    /// Most ways are.
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
