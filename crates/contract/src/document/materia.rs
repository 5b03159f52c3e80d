//! Materia: an agent with a prompt, or a local command.

use crate::schema::{JsonSchema, omit_none};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Expects, Extra, Parse, PromptDoc, SessionPolicy, VerdictFrom};

/// A reusable behaviour: an agent with a prompt, or a local command.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Materia {
    /// `agent` asks a model, `utility` runs a program.
    #[serde(rename = "type")]
    #[schemars(extend("default" = "agent", "examples" = ["utility"]))]
    pub kind: Option<MateriaKind>,
    /// The name shown to people.
    #[schemars(extend("examples" = ["Code review"]))]
    pub label: Option<String>,
    /// A sentence about the materia, shown in lists.
    #[schemars(extend("examples" = ["Looks for mistakes in the last change."]))]
    pub description: Option<String>,
    /// The group under which it is listed.
    #[schemars(extend("examples" = ["Review"]))]
    pub group: Option<String>,
    /// The colour of its cards on the page.
    #[schemars(extend("examples" = ["#4f8a5b"]))]
    pub color: Option<String>,
    /// Agent: its task. A string, or `{"file": PATH}` for a UTF-8 file of at most 256 KiB beside the configuration.
    #[schemars(extend("examples" = ["Fix what the reason below names."]))]
    pub prompt: Option<PromptDoc>,
    /// Agent: `none`, `readOnly`, `coding`, or a list of tool names.
    #[schemars(extend("default" = "coding", "examples" = ["readOnly"]))]
    pub tools: Option<ToolsDoc>,
    /// Agent: the model. By default the agent chooses.
    #[schemars(extend("examples" = ["sonnet"]))]
    pub model: Option<String>,
    /// Agent: the program to ask, such as `claude`. By default `provider` of the configuration.
    #[schemars(extend("examples" = ["claude"]))]
    pub provider: Option<String>,
    /// Agent: waits after each answer for `materia say` or `materia continue`.
    #[schemars(extend("default" = false, "examples" = [true]))]
    pub multi_turn: Option<bool>,
    /// Paths that must have a value. An agent sees each value. If one is missing, the answer is `satisfied: false`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [["state.plan"]]))]
    pub requires: Vec<String>,
    /// Agent: paths whose values are added to its first prompt, up to 32,000 characters each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [["state.plan"]]))]
    pub reads: Vec<String>,
    /// Agent: whether later turns continue the same conversation. Also possible on the socket.
    #[schemars(extend("default" = "auto", "examples" = ["fresh"]))]
    pub session: Option<SessionPolicy>,
    /// Utility: the program and its arguments. No shell is used.
    #[schemars(extend("examples" = [["python3", "check.py"]]))]
    pub command: Option<Vec<String>>,
    /// Utility: a shipped script instead of a command.
    #[schemars(extend("examples" = [{"kind": "shippedUtility", "name": "detect-vcs.mjs"}]))]
    pub script: Option<ScriptLocator>,
    /// Utility: values that it gets as `params`.
    #[schemars(extend("examples" = [{"word": "TODO"}]))]
    pub params: Option<serde_json::Map<String, Value>>,
    /// Utility: names in `params` that hold socket ids. `check` verifies them and `link` renames them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [["sources"]]))]
    pub socket_params: Vec<String>,
    /// Utility: `exitCode` makes the exit code the verdict. 0 is satisfied, anything else is not.
    #[schemars(extend("examples" = ["exitCode"]))]
    pub verdict: Option<VerdictFrom>,
    /// Utility: environment variables to add.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(extend("examples" = [{"CI": "1"}]))]
    pub env: IndexMap<String, String>,
    /// Utility: the folder inside the project in which it runs. By default the project folder.
    #[schemars(extend("examples" = ["server"]))]
    pub cwd: Option<String>,
    /// The kind of output that the target before it in a link must give.
    #[schemars(extend("default" = "text", "examples" = ["workItems"]))]
    pub expects: Option<Expects>,
    /// How the output is read. A generator always uses `json`.
    #[schemars(extend("default" = "text", "examples" = ["json"]))]
    pub parse: Option<Parse>,
    /// Values to copy into the state: a name in the state, and the path of the source.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(extend("examples" = [{"todo.files": "$.files"}]))]
    pub assign: IndexMap<String, String>,
    /// How long a turn may take, in milliseconds. By default 30,000 for a utility and 7,200,000 for an agent.
    #[schemars(range(min = 1, max = crate::time::DURATION_MS_MAX))]
    #[schemars(extend("examples" = [1_800_000]))]
    pub timeout_ms: Option<u64>,
    /// Utility: runs a failed turn again. By default never.
    #[schemars(extend("examples" = [{"max": 2, "delayMs": 1000}]))]
    pub retries: Option<RetriesDoc>,
    /// Whether the output has `workItems`, a list that a loop can use.
    #[schemars(extend("default" = false, "examples" = [true]))]
    pub generator: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Further attempts of a utility that failed or took too long.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetriesDoc {
    /// How many further attempts there are.
    #[schemars(range(min = 1, max = 10))]
    #[schemars(extend("examples" = [2]))]
    pub max: u32,
    /// How long to wait before each attempt, in milliseconds.
    #[schemars(range(max = 3_600_000))]
    #[schemars(extend("default" = 0, "examples" = [1000]))]
    pub delay_ms: Option<u64>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The kind of a materia.
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
pub fn tool_writes(name: &str) -> bool {
    !READING_TOOLS.contains(&name.to_ascii_lowercase().as_str())
}

/// A named set of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ToolSet {
    /// None at all.
    None,
    /// Tools that change nothing.
    ReadOnly,
    /// Tools that change files and run commands.
    Coding,
}

/// Names a script that ships with the program.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScriptLocator {
    /// Always `shippedUtility`.
    #[schemars(extend("examples" = ["shippedUtility"]))]
    pub kind: ScriptKind,
    /// The file name of the script.
    #[schemars(extend("examples" = ["detect-vcs.mjs"]))]
    pub name: String,
    /// The program that runs the script. Only `node` is possible.
    #[schemars(extend("default" = "node", "examples" = ["node"]))]
    pub runtime: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The place of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ScriptKind {
    /// Among the shipped utilities in the profile folder.
    ShippedUtility,
}
