//! Output of the commands about a cast.

use crate::enum_words::words;
use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Amount, NodeId, Outcome, RunFailed, RunId, RunWaiting};

words!(
    /// Where a run stands.
    CastStatus {
        /// It is running, or its process was killed and it was not resumed yet.
        Running = "running",
        /// It waits for a person.
        Waiting = "waiting",
        /// It reached its end.
        Completed = "completed",
        /// It stopped short.
        Failed = "failed",
        /// A person ended it.
        Aborted = "aborted",
    }
);

impl CastStatus {
    /// Whether the cast has ended; a person can let some such casts go on.
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Aborted)
    }

    /// The words for people, with the verdict that a cast ended with.
    pub fn words(self, verdict: Option<bool>) -> &'static str {
        match (self, verdict) {
            (Self::Completed, Some(false)) => "completed, not satisfied",
            (_, _) => self.word(),
        }
    }

    /// The status that a word stands for.
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [Self::Running, Self::Waiting, Self::Completed, Self::Failed, Self::Aborted];
        all.into_iter().find(|status| status.word() == word)
    }
}

/// Output of `cast --json` and `show --json`.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CastReport {
    /// The cast.
    pub cast_id: RunId,
    /// Where it stands.
    pub status: CastStatus,
    /// Of a cast that completed: the verdict it ended with, where a turn gave one (D65).
    pub verdict: Option<bool>,
    /// The loadout it runs.
    pub loadout: String,
    /// Every attempt at every turn, in the order they started.
    pub visits: Vec<Visit>,
    /// The variables.
    pub state: Map<String, Value>,
    /// Why it failed.
    pub error: Option<RunFailed>,
    /// The reason why it waits.
    pub waiting: Option<RunWaiting>,
    /// Its usage so far.
    pub usage: UsageTotals,
    /// Its folder.
    pub run_dir: String,
    /// The place of its last event.
    pub last_seq: u64,
    /// The hash of its last event, in hexadecimal.
    pub last_hash: String,
    /// The cast it continues from.
    pub from_cast_id: Option<String>,
    /// The request of the user.
    #[serde(default)]
    pub request: String,
    /// When it began.
    pub started_at: Option<String>,
    /// From its beginning to its last event.
    pub elapsed_ms: Option<u64>,
    /// The loadouts and materia that were linked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linked: Vec<String>,
    /// The id of the graph that it was linked to.
    pub link_id: Option<String>,
    /// Open approvals of its sockets, and refused ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<OpenQuestion>,
    /// The newest answer: of the socket that waits for a person, otherwise of the last turn that ended.
    pub answer: Option<Said>,
    /// `own` where it works in a copy of the repository and not in the project folder.
    pub workspace: Option<String>,
}

/// A question of a socket to a person before a turn.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenQuestion {
    /// The socket.
    pub socket: NodeId,
    /// Hash of the turn that would run.
    pub hash: String,
    /// Whether it was refused.
    pub denied: bool,
    /// Why, in the person's words.
    pub reason: Option<String>,
}

/// Output of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Said {
    /// Where it ran.
    pub socket: NodeId,
    /// The number of the visit, from 1.
    pub visit: u32,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// All of it.
    pub text: String,
}

/// One attempt at one turn.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Visit {
    /// Where it ran.
    pub socket: NodeId,
    /// The number of the visit, from 1.
    pub visit: u32,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The key of the work item.
    #[keep_none]
    pub item: Option<String>,
    /// Its name for people: its title.
    pub item_label: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// The name of what ran there.
    pub materia: Option<String>,
    /// Its verdict, where it gave one.
    pub satisfied: Option<bool>,
    /// Why it was not satisfied, or failed.
    pub reason: Option<String>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// Tokens, in and out together, as far as they were reported.
    pub tokens: Option<u64>,
    /// Cost, as far as it was reported.
    pub cost: Option<Amount>,
    /// True where a person refused the turn and it counts as not satisfied (`deny --route`): it did not run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
}

/// Usage of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageTotals {
    /// Attempts that were started.
    pub turns: u64,
    /// Tokens, in and out together, as far as they were reported.
    pub tokens: u64,
    /// Cost, as far as it was reported; absent while nothing was.
    pub cost: Option<Amount>,
}

/// One line of `casts --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CastLine {
    /// The cast.
    pub cast_id: RunId,
    /// Where it stands.
    pub status: CastStatus,
    /// The loadout it runs.
    pub loadout: String,
    /// The request of the user.
    pub request: String,
    /// When it began.
    pub started_at: String,
    /// The cast it continues from.
    pub from_cast_id: Option<String>,
    /// Of a cast that completed: the verdict it ended with, where a turn gave one (D65). A journal's own list does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<bool>,
}
