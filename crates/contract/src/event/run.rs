//! Start, stop, resumption and end of a run.

use std::collections::BTreeMap;

use crate::enum_words::words;
use crate::schema::{JsonSchema, omit_none};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Answerers, EdgeId, FileState, GlobalMode, Link, NodeId, OwnWorkspace, Pace, Plan};

/// Data of `run.created`.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunCreated {
    /// The request of the person.
    pub request: String,
    /// The graph that runs.
    pub plan: Plan,
    /// The hash of the plan.
    pub plan_hash: String,
    /// The folder that turns work in, as [`path_tokens`](crate::path_tokens) names it.
    pub cwd: String,
    /// The folder of this cast, as a placeholder.
    pub run_dir: String,
    /// Whether the scheduler starts turns.
    pub pace: Pace,
    /// Where turns may write: PLANNING or IMPLEMENTATION.
    pub global_mode: GlobalMode,
    /// Whether time is simulated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub virtual_time: bool,
    /// The script that answers turns, if one does.
    pub script: Option<ScriptBinding>,
    /// The agents of its sockets, chosen before it began. Sockets that the script answers are not listed.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub agents: Answerers,
    /// The cast it continues from.
    pub from_cast_id: Option<String>,
    /// The cast whose beginning it shares.
    pub fork: Option<ForkedFrom>,
    /// How many entries the script's timeline has. The run does not rest before the last.
    #[serde(default, skip_serializing_if = "is_none_left")]
    pub timeline: u32,
    /// The targets of `materia link`, if it was linked.
    pub link: Option<Link>,
    /// The variables it begins with.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub state: serde_json::Map<String, Value>,
    /// The idempotency key of the request, if it had one. The same key starts no second cast.
    pub key: Option<StartKey>,
    /// Its workspace, where its turns do not work in the project folder.
    pub workspace: Option<Box<OwnWorkspace>>,
    /// The approval with which it was handed to the workers of a space on NATS. Other runs have none.
    pub approved: Option<Box<SpaceApproval>>,
    /// The version of the event vocabulary.
    pub journal_version: u32,
}

impl RunCreated {
    /// Whether an earlier program wrote it that was never released. Such runs are refused.
    pub fn is_earlier(&self) -> bool {
        self.journal_version < super::JOURNAL_VERSION_OF_PROJECT
    }
}

/// The approval of a run that workers drive (M8).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpaceApproval {
    /// The user who approved its programs, and the machine.
    pub by: String,
    /// The files of its programs that were approved, by name, with their hashes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

/// The key under which a cast was asked for, and a hash of what was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartKey {
    /// The key.
    pub key: crate::CommandId,
    /// The hash of what was asked for, in hexadecimal.
    pub body: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_none_left(count: &u32) -> bool {
    *count == 0
}

/// Where a fork left the cast it comes from.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForkedFrom {
    /// The cast.
    pub cast_id: crate::RunId,
    /// The last event that was taken from it.
    pub seq: u64,
    /// The hash of that event there.
    pub hash: String,
    /// The casts whose ids the shared events have, each with its last place.
    pub written_by: Vec<(crate::RunId, u64)>,
    /// When the fork was made, by the wall, in microseconds since 1970. Simulated runs have none.
    pub started: Option<crate::time::Micros>,
}

/// The list of a script that answers each node. It is recorded when the run begins, so that the position in each list
/// follows from the events, also after a resume.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScriptBinding {
    /// The file; with a placeholder of [`path_tokens`](crate::path_tokens) if it is in the project.
    pub path: String,
    /// The key that each node uses; nodes without one are not in it. A utility that is in it never starts its program.
    pub keys: IndexMap<NodeId, String>,
}

/// The place of one answer in a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScriptEntry {
    /// The list.
    pub key: String,
    /// The position in it, from 0.
    pub index: u32,
}

/// Data of `run.resumed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunResumed {
    /// The folder that turns work in, as [`path_tokens`](crate::path_tokens) names it.
    pub cwd: String,
    /// The folder of this cast, as a placeholder.
    pub run_dir: String,
    /// Whether failed turns are tried again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recast: bool,
    /// The files from which it goes on, where they are not those that the last event names.
    #[serde(default, skip_serializing_if = "Option::is_none", flatten)]
    pub files: Option<FileState>,
    /// Whether the files are put back to those that the last event names.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub put_back: bool,
}

/// Data of `run.waiting`.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunWaiting {
    /// The reason for waiting.
    pub reason: WaitReason,
    /// The node that is concerned, if it is one.
    pub node: Option<NodeId>,
    /// A sentence for a person.
    pub message: String,
}

/// Reasons why a stopped run waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    /// The pace is INTERACTIVE, or a person stopped it.
    Interactive,
    /// A person must allow a turn.
    Approval,
    /// It made no progress.
    Stall,
    /// A multi-turn socket waits for its next instruction.
    MultiTurn,
    /// It has spent its budget.
    Budget,
    /// The input is at a node that only a person starts.
    Manual,
    /// The simulation reached its end.
    RunFor,
    /// A turn would have run something that is not approved.
    Trust,
    /// The workspace is not as the run left it, or its branch cannot be published.
    Workspace,
}

/// Data of `run.completed`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunCompleted {}

/// Data of `run.failed`.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunFailed {
    /// The error code.
    pub code: ErrorCode,
    /// The error in a sentence.
    pub message: String,
    /// The socket at which it happened.
    pub socket: Option<NodeId>,
    /// Files that show more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<String>,
    /// The edge that was not taken, where that is what stopped it.
    pub edge_id: Option<EdgeId>,
}

words!(
    /// Reasons why a cast fails.
    ErrorCode {
        /// A utility could not be started, or ended badly.
        UtilityFailed = "utility_failed",
        /// A utility took too long.
        UtilityTimeout = "utility_timeout",
        /// An output broke its contract.
        ContractError = "contract_error",
        /// A provider failed.
        ProviderFailed = "provider_failed",
        /// The script has no further answer.
        ScriptExhausted = "script_exhausted",
        /// An edge was taken as often as it may be.
        EdgeExhausted = "edge_exhausted",
        /// The run went in circles.
        NoAdvance = "no_advance",
        /// A way of the graph led to `fail` (D65).
        GraphFailed = "graph_failed",
        /// The files of the workspace could not be read or put back (W4).
        Workspace = "workspace",
        /// A fault of this program.
        Internal = "internal",
    }
);

/// Data of `run.aborted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunAborted {
    /// The person or program that asked for it.
    pub reason: String,
}

/// Data of `run.revived`.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunRevived {
    /// The edge that may be taken further, where one was exhausted.
    pub edge_id: Option<EdgeId>,
}
