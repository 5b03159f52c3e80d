//! Capabilities of each kind of agent, as data.
//!
//! The compiler reads the table before a cast, the runners during one; it is here so that neither depends on the
//! other. An agent that speaks the Agent Client Protocol reports most of this when it starts; until then [`ACP`]
//! holds.

use crate::schema::JsonSchema;
use serde::{Deserialize, Serialize};

/// The part that keeps a read-only agent from writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Guarded {
    /// The agent leaves the tools that write away.
    Tools,
    /// The agent puts what its tools start into a sandbox of its own.
    Sandbox,
    /// Only the sandbox that Materia puts around a process.
    Nobody,
}

/// How an agent uses a JSON Schema of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SchemaSupport {
    /// It checks its own answer and corrects it.
    Checked,
    /// It passes the schema to the model and checks nothing.
    Passed,
    /// Nothing: the answer is found in the text.
    Absent,
}

/// Capabilities of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "a row of a table, each column a yes or no")]
pub struct Capabilities {
    /// The name authors write as `provider`.
    pub name: &'static str,
    /// Its name for people.
    pub label: &'static str,
    /// A later turn can go on in the session of an earlier one.
    pub resume: bool,
    /// The caller can choose the name of a session.
    pub chosen_session: bool,
    /// How it uses a JSON Schema of the answer.
    pub schema: SchemaSupport,
    /// The part that enforces `tools: "readOnly"`.
    pub read_only: Guarded,
    /// It can run without any tool: `tools: "none"`.
    pub no_tools: bool,
    /// It can be held to a list of tools.
    pub tool_list: bool,
    /// It says what it is writing while it writes.
    pub deltas: bool,
    /// It reports how many tokens a turn took.
    pub tokens: bool,
    /// It reports what a turn cost.
    pub cost: bool,
}

/// Claude Code.
pub const CLAUDE: Capabilities = Capabilities {
    name: "claude",
    label: "Claude Code",
    resume: true,
    chosen_session: true,
    schema: SchemaSupport::Checked,
    read_only: Guarded::Tools,
    no_tools: true,
    tool_list: true,
    deltas: true,
    tokens: true,
    cost: true,
};

/// Codex.
pub const CODEX: Capabilities = Capabilities {
    name: "codex",
    label: "Codex",
    resume: true,
    chosen_session: false,
    schema: SchemaSupport::Passed,
    read_only: Guarded::Sandbox,
    no_tools: true,
    tool_list: false,
    deltas: false,
    tokens: true,
    cost: false,
};

/// Gemini CLI.
pub const GEMINI: Capabilities = Capabilities {
    name: "gemini",
    label: "Gemini CLI",
    resume: true,
    chosen_session: true,
    schema: SchemaSupport::Absent,
    read_only: Guarded::Tools,
    no_tools: true,
    tool_list: true,
    deltas: true,
    tokens: true,
    cost: false,
};

/// Pi.
pub const PI: Capabilities = Capabilities {
    name: "pi",
    label: "Pi",
    resume: true,
    chosen_session: true,
    schema: SchemaSupport::Absent,
    read_only: Guarded::Tools,
    no_tools: true,
    tool_list: true,
    deltas: true,
    tokens: true,
    cost: true,
};

/// Any agent behind the Agent Client Protocol, before it was asked what it can do.
pub const ACP: Capabilities = Capabilities {
    name: "acp",
    label: "an ACP agent",
    resume: false,
    chosen_session: false,
    schema: SchemaSupport::Absent,
    read_only: Guarded::Nobody,
    no_tools: false,
    tool_list: false,
    deltas: true,
    tokens: false,
    cost: false,
};

/// Every kind of agent, in the order of the search for an installed one.
pub const AGENTS: [Capabilities; 5] = [CLAUDE, CODEX, GEMINI, PI, ACP];

/// The row of an agent, by the name authors write.
pub fn capabilities(name: &str) -> Option<&'static Capabilities> {
    AGENTS.iter().find(|row| row.name == name)
}
