//! Input of a turn, and its end.

use std::sync::Arc;

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::layers::{PromptLayer, stored_layers};
use crate::time::Micros;
use crate::{Amount, ErrorCode, FileState, GlobalMode, ScriptEntry, ToolsDoc, UtilityInput};

/// Data of `turn.started`.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnStarted {
    /// The number of the visit of this node, from 1.
    pub visit: u32,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The key of the current work item.
    #[keep_none]
    pub item: Option<String>,
    /// Its name for people: its title.
    pub item_label: Option<String>,
    /// Why it runs.
    pub cause: Cause,
    /// The payloads it takes, in order.
    pub consumed: Vec<Uuid>,
    /// An agent's prompt: exactly the text that the provider gets.
    pub prompt: Option<String>,
    /// A utility's input: the object that it reads, as its parts.
    pub input: Option<UtilityInput>,
    /// Where each part of the prompt comes from; laid end to end they are the prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "stored_layers")]
    #[schemars(with = "Vec<PromptLayer>")]
    pub layers: Vec<PromptLayer>,
    /// The provider session it belongs to.
    pub session: Option<SessionRef>,
    /// The scripted answer it takes, if a script answers this node.
    pub script: Option<ScriptEntry>,
    /// Where the turn may write. If it is absent, as at the beginning of the run. An agent's turn always says it.
    pub global_mode: Option<GlobalMode>,
    /// The agent that is asked.
    pub provider: Option<String>,
    /// The version that the agent's program reports.
    pub program_version: Option<String>,
    /// The model that is asked for, where one was chosen.
    pub model: Option<String>,
    /// The tools that the agent may use, if they are set.
    pub tools: Option<ToolsDoc>,
    /// The form of the answer, as a JSON Schema, where it is to be JSON.
    pub schema: Option<Arc<Value>>,
    /// The hash that a person approved, if the node needs approval.
    pub approved: Option<String>,
    /// In a workspace: the tree that it begins with.
    pub tree: Option<String>,
    /// In a workspace: the commit of HEAD that it begins with.
    pub head: Option<String>,
    /// In a workspace: the list of refs that it begins with.
    pub refs: Option<String>,
    /// Whether the workspace is put back to these files before it starts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub put_back: bool,
}

impl TurnStarted {
    /// The files that it begins with, where the run has a workspace.
    pub fn files(&self) -> Option<FileState> {
        file_state(self.tree.as_ref(), self.head.as_ref(), self.refs.as_ref())
    }
}

fn file_state(
    tree: Option<&String>,
    head: Option<&String>,
    refs: Option<&String>,
) -> Option<FileState> {
    Some(FileState { tree: tree?.clone(), head: head?.clone(), refs: refs?.clone() })
}

/// The provider session of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionRef {
    /// Its name: derived from the run, so that it is the same in every replay.
    pub id: Uuid,
    /// Whether it continues an earlier turn of the session.
    pub resume: bool,
}

/// Why a turn runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Cause {
    /// Payloads arrived.
    Input,
    /// The next element of a `foreach`.
    Foreach {
        /// Its position, from 0.
        index: u32,
    },
    /// An earlier attempt was interrupted, failed in a way that may pass, or lost its session.
    Retry {
        /// The `turn.started` of that attempt.
        turn: u64,
    },
    /// An earlier attempt broke the contract.
    Repair {
        /// The `turn.started` of that attempt.
        turn: u64,
    },
    /// A person asked for it.
    Manual,
    /// A person tries a failed turn again.
    Recast {
        /// The `turn.started` of the attempt that failed.
        turn: u64,
    },
}

/// Data of `turn.completed`.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnCompleted {
    /// The `turn.started` that began it.
    pub turn: u64,
    /// The number of the visit of this node, from 1.
    pub visit: u32,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The verdict that was read from the output.
    pub satisfied: Option<bool>,
    /// Where in the output its object stands, where one was asked for: first byte, and the one behind
    /// the last.
    pub object: Option<(usize, usize)>,
    /// Its `context`, where the verdict comes from the exit code: how its output and its standard error end.
    pub context: Option<String>,
    /// The work items that a generator produced.
    pub work_items: Option<Arc<Vec<Value>>>,
    /// The runner's report.
    #[serde(flatten)]
    pub report: TurnOutput,
}

/// A runner's report of a turn.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnOutput {
    /// A utility's standard output, or an agent's final text.
    pub output: String,
    /// A utility's standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// The program's exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended the program.
    pub signal: Option<i32>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// Bytes of standard output that are not in `output`: those between its beginning and its end (D69).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stdout_dropped: u64,
    /// Bytes of standard error that are not in `stderr`: those between its beginning and its end.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stderr_dropped: u64,
    /// All of standard output, where `output` lacks its middle and JSON is read from it.
    pub whole: Option<String>,
    /// Whether some bytes were no UTF-8 and are shown as U+FFFD.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
    /// Tokens and cost of the turn.
    pub usage: Option<TurnUsage>,
    /// Artifacts of the turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// The file that holds what the agent's program said, word for word.
    pub transcript: Option<Box<Transcript>>,
    /// Files that it left, of which no event has the words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<LeftFile>,
    /// Things worth knowing that are no failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The kind of failure, if an agent failed.
    pub class: Option<crate::FailureClass>,
    /// How long to wait before another try, where the provider said so.
    pub retry_after_ms: Option<u64>,
    /// In a workspace: the tree that it left.
    pub tree: Option<String>,
    /// In a workspace: the commit of HEAD that it left.
    pub head: Option<String>,
    /// In a workspace: the list of refs that it left.
    pub refs: Option<String>,
    /// In a workspace: whether HEAD no longer has the base of the run as an ancestor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub off_base: bool,
}

/// The kind of the file with all of a standard output whose middle the event lacks (D69).
pub const FULL_STDOUT: &str = "stdout.full";

impl TurnOutput {
    /// The files that it left, where the run has a workspace.
    pub fn files_left(&self) -> Option<FileState> {
        file_state(self.tree.as_ref(), self.head.as_ref(), self.refs.as_ref())
    }

    /// Notes the files that it left.
    pub fn note_files(&mut self, files: FileState, off_base: bool) {
        let FileState { tree, head, refs } = files;
        (self.tree, self.head, self.refs) = (Some(tree), Some(head), Some(refs));
        self.off_base = off_base;
    }

    /// The text that JSON is read from.
    pub fn json_text(&self) -> &str {
        self.whole.as_deref().unwrap_or(&self.output)
    }

    /// Whether `output` lacks the middle of standard output and a file has all of it.
    pub fn has_full_output(&self) -> bool {
        self.files.iter().any(|file| file.kind == FULL_STDOUT && file.dropped == 0)
    }
}

impl TurnCompleted {
    /// Its object as it stands in the output, where one was asked for and stands there.
    pub fn object_text(&self) -> Option<&str> {
        self.object.and_then(|(start, end)| self.report.json_text().get(start..end))
    }
}

/// Something that a turn left besides its output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// `diff`, `logs`, …
    pub kind: String,
    /// Its file in the folder of the cast.
    pub name: String,
    /// The hash of its content, in hexadecimal.
    pub hash: String,
    /// Its content.
    pub content: String,
}

/// A file that a turn left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeftFile {
    /// `stdout`, `stderr`: what it holds. [`FULL_STDOUT`], `stderr.full`: all of a stream whose middle the event lacks.
    pub kind: String,
    /// The file, relative to the folder of the cast.
    pub name: String,
    /// The BLAKE3 hash of the file, in hexadecimal.
    pub hash: String,
    /// The size of the file.
    pub bytes: u64,
    /// Bytes that were not kept, because the stream was longer than it may be.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped: u64,
}

/// A file with what an agent's program wrote to its standard output, secrets removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Transcript {
    /// The file, relative to the folder of the cast.
    pub path: String,
    /// The BLAKE3 hash of the file, in hexadecimal.
    pub hash: String,
    /// The size of the file.
    pub bytes: u64,
    /// Bytes of output that were not kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Tokens and cost of one turn, as far as they are known.
#[omit_none]
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnUsage {
    /// Tokens read.
    pub input_tokens: Option<u64>,
    /// Tokens written.
    pub output_tokens: Option<u64>,
    /// Cost; absent means unknown, not zero.
    pub cost: Option<Amount>,
}

impl TurnUsage {
    /// Tokens read and written, if either is known. A provider may report any number, so the sum saturates.
    pub fn tokens(&self) -> Option<u64> {
        let (read, written) = (self.input_tokens, self.output_tokens);
        let known = read.is_some() || written.is_some();
        known.then(|| read.unwrap_or(0).saturating_add(written.unwrap_or(0)))
    }
}

/// Data of `turn.failed`.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnFailed {
    /// The `turn.started` that began it.
    pub turn: u64,
    /// The number of the visit of this node, from 1.
    pub visit: u32,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The error code.
    pub code: ErrorCode,
    /// The error in a sentence.
    pub message: String,
    /// Whether it is tried again with the reason in the prompt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repair: bool,
    /// When it is tried again as it was, where that may help; a timer is set for it.
    pub retry_at: Option<Micros>,
    /// Whether its session is lost: the next attempt follows at once in a fresh one, with the full prompt. It does
    /// not count as a retry.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub session_lost: bool,
    /// The rest of the runner's report.
    #[serde(flatten)]
    pub report: TurnOutput,
}

/// Data of `turn.interrupted`.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnInterrupted {
    /// The `turn.started` that began it.
    pub turn: u64,
    /// The number of the visit of this node, from 1.
    pub visit: u32,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The cause of the interruption.
    pub reason: InterruptReason,
    /// In a workspace: the files that were found afterwards.
    #[serde(flatten)]
    pub files: Option<FileState>,
    /// In a workspace: whether its next attempt begins with the files that it began with (W5).
    pub put_back: Option<bool>,
}

/// Reasons why a turn was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InterruptReason {
    /// The process that drove the run went away.
    Crash,
    /// A person stopped the run, or another turn of it was not approved.
    Stopped,
    /// A person aborted the run.
    Aborted,
    /// Another turn made the run fail.
    RunFailed,
    /// The simulation reached its end.
    RunFor,
    /// It would have run something that is not approved: it was not started.
    Trust,
    /// The files of the workspace were changed from outside: it was not started.
    Workspace,
}
