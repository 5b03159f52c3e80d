//! Summaries of casts, and the request to start one.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};

use crate::{Amount, Budget, CastLine, RunFailed, RunWaiting, UsageTotals};

/// A cast in short: a line of `casts --json`, and where it stands.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CastSummary {
    /// The line.
    #[serde(flatten)]
    pub line: CastLine,
    /// The project it belongs to.
    pub project: String,
    /// Whether a process drives it now.
    pub driven: bool,
    /// The worker that drives it, where casts are on NATS.
    pub worker: Option<String>,
    /// Whether it waits on the list of the workers, and none has taken it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits_for_worker: bool,
    /// The place of its last event.
    pub last_seq: u64,
    /// When that was.
    pub updated_at: String,
    /// Its usage so far.
    pub usage: UsageTotals,
    /// The reason why it waits.
    pub waiting: Option<RunWaiting>,
    /// Why it failed.
    pub error: Option<RunFailed>,
    /// How far its outermost loop is.
    pub items: Option<Progress>,
}

/// How far a loop is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    /// Items behind the cursor.
    pub done: u32,
    /// All of them.
    pub total: u32,
}

/// A page of casts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Casts {
    /// The casts, newest first.
    pub items: Vec<CastSummary>,
    /// Where the next page begins, if there is one.
    pub next: Option<String>,
    /// Casts whose lines make no sense: which, and what is wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}

/// Request to start a cast. Scripts and recordings are files on the server's machine; only a server that was started
/// with `--test-hooks` takes them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own, as it is sent")]
pub struct StartBody {
    /// The project: its id or its folder; the only one where there is one.
    pub project: Option<String>,
    /// The loadout; the active one where neither this nor a link is named.
    pub loadout: Option<String>,
    /// Materia and loadouts that are linked, in their order.
    pub link: Option<Vec<String>>,
    /// The cast that a link continues from.
    pub from: Option<String>,
    /// The request of the user.
    pub request: String,
    /// That nothing is asked for is meant.
    pub no_request: bool,
    /// The id of the cast; otherwise one is made up.
    pub cast_id: Option<String>,
    /// The agent of every socket that names none.
    pub provider: Option<String>,
    /// Where turns work: `own` for a copy of the git repository; otherwise as the loadout or the configuration says.
    pub workspace: Option<crate::WorkspaceKind>,
    /// The copy begins with the uncommitted changes of the project folder.
    pub include_changes: bool,
    /// Turns may write only under the folder of documents.
    pub planning: bool,
    /// No turn starts by itself.
    pub interactive: bool,
    /// Its budget.
    pub budget: Option<Budget>,
    /// The highest cost.
    pub max_cost: Option<Amount>,
    /// The most turns.
    pub max_turns: Option<u64>,
    /// The most tokens.
    pub max_tokens: Option<u64>,
    /// Only with `--test-hooks`: the script that answers.
    pub script: Option<String>,
    /// Only with `--test-hooks`: time is simulated.
    pub virtual_time: bool,
    /// Only with `--test-hooks`: where what agents say is kept.
    pub record: Option<String>,
    /// Only with `--test-hooks`: the recording that answers.
    pub replay: Option<String>,
}

/// Whether there is a demo to play.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DemoView {
    /// Whether there is.
    pub available: bool,
}
