//! Orders to perform turns: plain data, which can be sent to another machine.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use materia_contract::time::Micros;
use materia_contract::{
    FileState, GlobalMode, Limits, Node, NodeId, OUTPUT_MB_DEFAULT, OwnWorkspace, Parse, Policy,
    RunId, ScriptEntry, SessionRef, ToolsDoc, VerdictFrom,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Order for a turn. Plain data, which can be sent to another machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnOrder {
    /// The run.
    pub run: RunId,
    /// The place of its `turn.started`, which is its identity.
    pub turn: u64,
    /// The node.
    pub node: NodeId,
    /// The how-manieth turn of this node it is.
    pub visit: u32,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The work.
    pub work: Work,
    /// The project folder, in which everything runs.
    pub cwd: PathBuf,
    /// The folder of the cast.
    pub run_dir: PathBuf,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// Where it may write, as it starts.
    pub global_mode: GlobalMode,
    /// The permissions that the author gave it.
    pub policy: Option<Policy>,
    /// The folder it may write to in Planning mode, relative to `cwd`.
    pub doc_root: String,
    /// Whether time is simulated.
    pub virtual_time: bool,
    /// The artifacts that it must leave besides its output.
    pub leaves: Leaves,
    /// The files that it begins with, where the run has a workspace of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FilesOrder>,
}

/// The files that a turn begins with in a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FilesOrder {
    /// The files that `turn.started` names.
    pub start: FileState,
    /// Whether the workspace is put back to them first (W5).
    pub put_back: bool,
    /// Whether no other turn is in flight, so that different files mean a change from outside (W10).
    pub alone: bool,
}

/// A branch to bring into the user's repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishOrder {
    /// The run.
    pub run: RunId,
    /// Its workspace, as it began.
    pub workspace: OwnWorkspace,
    /// The files that its last event names.
    pub files: FileState,
    /// Whether the workspace is put back to them first.
    pub put_back: bool,
    /// All files that its events name, each once.
    pub named: Vec<FileState>,
    /// The time of the event that names the files, in microseconds since 1970: the same however often it is asked.
    pub at: Micros,
    /// The request of the run.
    pub request: String,
}

impl TurnOrder {
    /// The path of an artifact of this turn: `sockets/<node>/<visit>-<attempt>.<extension>`.
    #[must_use]
    pub fn artifact(&self, extension: &str) -> PathBuf {
        self.run_dir
            .join("sockets")
            .join(self.node.as_str())
            .join(format!("{}-{}.{extension}", self.visit, self.attempt))
    }
}

/// Artifacts that a turn must leave besides its output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaves {
    /// A diff of its changes in the project.
    pub diff: bool,
    /// The standard error of its program.
    pub logs: bool,
}

impl Leaves {
    /// Whether anything is wanted.
    #[must_use]
    pub fn any(self) -> bool {
        self.diff || self.logs
    }
}

/// Work of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Work {
    /// Run a local program.
    Utility {
        /// The program and its arguments.
        command: Vec<String>,
        /// Its standard input, as one JSON object.
        input: Arc<Value>,
        /// How it runs.
        manner: Manner,
        /// The scripted result to give instead, if a script has one. Then no program may be started.
        script: Option<ScriptEntry>,
    },
    /// Ask an agent.
    Agent {
        /// The exact text it gets.
        prompt: Arc<str>,
        /// The tools it may use, if the author said so.
        tools: Option<ToolsDoc>,
        /// The model, if the author chose one.
        model: Option<String>,
        /// The provider, if the author chose one.
        provider: Option<String>,
        /// The form of the answer, where it is to be JSON.
        schema: Option<Arc<Value>>,
        /// The provider session to start or to resume.
        session: Option<SessionRef>,
        /// The scripted answer to take, if a script answers.
        script: Option<ScriptEntry>,
    },
}

/// How a local program runs, where its author says so (D48).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manner {
    /// Variables of its environment, beside those that it inherits.
    pub env: Vec<(String, String)>,
    /// The folder that it runs in, relative to the project; absent means the project itself.
    pub folder: Option<String>,
    /// Where its verdict comes from, where it is not in its output.
    pub verdict: Option<VerdictFrom>,
    /// The captured streams.
    pub keeps: Keeps,
}

impl Manner {
    /// How the program of a node runs.
    #[must_use]
    pub fn of(node: &Node, limits: &Limits) -> Self {
        let env = node.env.iter().map(|(name, value)| (name.clone(), value.clone()));
        let json = node.parse == Parse::Json && node.verdict.is_none();
        let keeps = Keeps { megabytes: limits.max_output_mb, json };
        Self { env: env.collect(), folder: node.cwd.clone(), verdict: node.verdict, keeps }
    }
}

/// The captured streams of a program (D69).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Keeps {
    /// How many megabytes of each.
    pub megabytes: u64,
    /// Whether JSON is read from its standard output, so that all of it is reported.
    pub json: bool,
}

impl Default for Keeps {
    fn default() -> Self {
        Self { megabytes: OUTPUT_MB_DEFAULT, json: false }
    }
}
