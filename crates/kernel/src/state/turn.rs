//! Turns in flight, and the last output.

use std::collections::BTreeSet;
use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{
    Artifact, ErrorCode, FileState, GlobalMode, PayloadContent, PayloadStatus, PromptLayer,
    ScriptEntry, SessionRef, Uuid,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ItemId, Payload, Trail};

/// A turn in flight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub(crate) node: usize,
    /// The how-manieth turn of its node it is.
    pub visit: u32,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The key of its work item.
    pub item: Option<String>,
    /// The name of its work item for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) item_label: Option<String>,
    /// The work item of the loops around it that was current when it started (D21). An element of a
    /// `foreach` is none: the edges behind it are taken once for the whole list.
    pub(crate) about: Option<ItemId>,
    /// The way to it.
    pub(crate) trail: Trail,
    /// The payloads it was started with.
    pub consumed: Vec<Uuid>,
    /// The input for the runner.
    pub work: TurnWork,
    /// Where each part of a prompt comes from.
    pub(crate) layers: Vec<PromptLayer>,
    /// The provider session it belongs to.
    pub session: Option<SessionRef>,
    /// How many attempts before this one broke the contract.
    pub(crate) repairs: u32,
    /// How many attempts before this one failed in a way that may pass.
    pub(crate) retries: u32,
    /// Whether an attempt before it lost its session, so that it was begun anew.
    #[serde(default)]
    pub(crate) afresh: bool,
    /// Its inputs, where it resumes a session: all are sent again if the session is lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) payloads: Vec<Payload>,
    /// When it started.
    pub(crate) since: Micros,
    /// Whether a person asked for it.
    pub(crate) manual: bool,
    /// Where it may write: the strictest mode since it started.
    pub global_mode: GlobalMode,
    /// The scripted answer that it takes.
    pub script: Option<ScriptEntry>,
    /// The files that it began with, where the run has a workspace of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<Box<TurnFiles>>,
}

/// The files that a turn began with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TurnFiles {
    pub(crate) start: FileState,
    /// Whether they are put back before it starts.
    pub(crate) put_back: bool,
    /// Whether no other turn was in flight meanwhile.
    pub(crate) alone: bool,
}

impl Turn {
    /// The files that it begins with in a workspace, and whether they are put back first.
    #[must_use]
    pub fn begins_with(&self) -> Option<(&FileState, bool)> {
        self.files.as_ref().map(|files| (&files.start, files.put_back))
    }
}

/// Input for a runner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum TurnWork {
    /// An agent's prompt.
    Prompt(Arc<str>),
    /// A utility's input object.
    Input(Arc<Value>),
}

/// Output of the last completed turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LastOutput {
    /// Its `turn.started`.
    pub(crate) turn: Option<u64>,
    /// Its visit and attempt.
    #[serde(default)]
    pub(crate) of: Option<(u32, u32)>,
    /// Whether a file has all of its output and `text` lacks its middle (D69).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) full: bool,
    /// The work item it was about.
    pub(crate) item: Option<ItemId>,
    /// The way to it.
    #[serde(default)]
    pub(crate) trail: Trail,
    /// `lastOutput`.
    pub(crate) text: Option<Arc<str>>,
    /// The text whose value is `lastJson`. Parsed only when a path asks for it.
    pub(crate) json: Option<Arc<str>>,
    /// Whether `json` is of this turn, not of an earlier one.
    pub(crate) own_json: bool,
    /// The verdict of the last completed turn.
    pub(crate) verdict: Option<bool>,
    pub(crate) artifacts: Arc<[Artifact]>,
}

/// A turn that failed for good, at a node that has a way out for that (D61).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Caught {
    /// Its `turn.started`.
    pub(crate) turn: u64,
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
}

impl Caught {
    /// The payload for the `on_failure` edge.
    pub(crate) fn content(&self) -> PayloadContent {
        PayloadContent {
            message: Some(self.message.clone()),
            structured: None,
            artifacts: Vec::new(),
            status: Some(PayloadStatus { ok: false, reason: Some(self.code.word().to_owned()) }),
        }
    }
}

/// How far a list of the script has been used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ScriptPosition {
    /// The first entry that no turn has taken.
    pub(crate) next: u32,
    /// Entries that interrupted attempts gave back.
    pub(crate) returned: BTreeSet<u32>,
}

impl ScriptPosition {
    /// The entry that the next turn takes.
    pub(crate) fn upcoming(&self) -> u32 {
        self.returned.first().copied().unwrap_or(self.next)
    }
}

/// The turns of one node that are in flight, by the place of their `turn.started`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InFlightTurns(pub(crate) BTreeSet<u64>);

impl InFlightTurns {
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }
}
