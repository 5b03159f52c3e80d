//! Questions that wait for a person: approvals, instructions and trust.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Next;
use crate::{NodeId, RunId};

/// All casts that wait for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Inbox {
    /// The newest first.
    pub items: Vec<InboxItem>,
}

/// Something that waits for a person.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxItem {
    /// The project.
    pub project: String,
    /// The cast.
    pub cast_id: RunId,
    /// The loadout it runs.
    pub loadout: String,
    /// The request of the user.
    pub request: String,
    /// Why it waits: as `show --json` has it, or `trust`.
    pub reason: String,
    /// The reason in a sentence.
    pub message: String,
    /// Where it waits.
    pub node: Option<NodeId>,
    /// Since when.
    pub since: String,
    /// The turn that needs an approval, where the cast waits for one.
    pub approval: Option<ApprovalAsked>,
    /// The last answer of a multi-turn socket.
    pub said: Option<String>,
    /// The question of trust, where trust is missing.
    pub trust: Option<TrustItem>,
    /// The next steps for a person.
    pub next: Vec<Next>,
}

/// A turn that needs an approval.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalAsked {
    /// Hash of the question; the answer names it.
    pub hash: String,
    /// The turn in a sentence.
    pub runs: String,
    /// The program and its arguments, where a utility would run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// The folder it would run in, in the project.
    pub cwd: Option<String>,
    /// The inputs that the turn would take.
    pub inputs: Vec<String>,
    /// Where it may write.
    pub writes: String,
    /// Whether a refusal can lead on.
    pub routes: bool,
    /// Whether a shell is among the words, so that part of them is a script.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shell: bool,
    /// The refusal, where a person has refused it.
    pub denied: Option<Denied>,
}

/// A refusal of an approval.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Denied {
    /// The event.
    pub seq: u64,
    /// When.
    pub at: String,
    /// The actor: `person` (at a terminal), `page`, `timeline` or the name of a program.
    pub by: String,
    /// Why, in the person's words.
    pub reason: Option<String>,
}

/// The questions of trust.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrustList {
    /// Each once.
    pub items: Vec<TrustItem>,
}

/// Something that has to be approved before it runs.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrustItem {
    /// The project.
    pub project: String,
    /// Hash of the question; it changes with the content.
    pub hash: String,
    /// The cast that waits for it.
    pub cast_id: Option<RunId>,
    /// All of it, in words.
    pub text: String,
    /// The text line by line: programs, agents, writable paths, settings, changes.
    pub runs: Vec<String>,
    /// The question as data: programs, agents, writable paths, settings, changes.
    pub question: Value,
}

/// An approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrustBody {
    /// The project.
    #[serde(default)]
    pub project: Option<String>,
    /// The hash of what was shown.
    pub hash: String,
}

/// Result of an approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Approved {
    /// By its hash.
    pub hash: String,
    /// Casts that had waited for it and go on.
    pub casts: Vec<RunId>,
}
