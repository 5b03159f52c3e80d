//! What can be put into a socket: an agent or a local command.

use crate::schema::JsonSchema;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Expects, Extra, Parse, PromptDoc, SessionPolicy, VerdictFrom};

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
    pub prompt: Option<PromptDoc>,
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
    /// Utility: names of `params` that hold ids of sockets: one, or a list. `link` renames them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub socket_params: Vec<String>,
    /// Utility: `exitCode` makes the exit code the verdict: 0 is satisfied, anything else is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictFrom>,
    /// Utility: variables of its environment, beside those that it inherits.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub env: IndexMap<String, String>,
    /// Utility: the folder it runs in, inside the project; the project itself if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What it must be given by what comes before it in a link; text if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expects: Option<Expects>,
    /// How output is read; `text` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parse: Option<Parse>,
    /// Values to copy into state: target to source path.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub assign: IndexMap<String, String>,
    /// How long a turn may take; 30,000 for utilities if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = crate::time::DURATION_MS_MAX))]
    pub timeout_ms: Option<u64>,
    /// Utility: how a failed turn is tried again; never if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<RetriesDoc>,
    /// Whether it produces `workItems`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How a utility that failed or took too long is tried again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetriesDoc {
    /// How many further attempts there may be.
    #[schemars(range(min = 1, max = 10))]
    pub max: u32,
    /// How long to wait before each, in milliseconds; 0 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 3_600_000))]
    pub delay_ms: Option<u64>,
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

impl ToolsDoc {
    /// Whether a turn with these tools can change files.
    #[must_use]
    pub fn may_write(&self) -> bool {
        match self {
            Self::Set(ToolSet::None | ToolSet::ReadOnly) => false,
            Self::Set(ToolSet::Coding) => true,
            Self::List(names) => names.iter().any(|name| tool_writes(name)),
        }
    }
}

/// Names of tools that change no file.
const READING_TOOLS: [&str; 9] =
    ["read", "grep", "search", "find", "glob", "ls", "list", "web", "fetch"];

/// Whether a tool of that name can change files; one that only its agent knows may.
#[must_use]
pub fn tool_writes(name: &str) -> bool {
    !READING_TOOLS.contains(&name.to_ascii_lowercase().as_str())
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
