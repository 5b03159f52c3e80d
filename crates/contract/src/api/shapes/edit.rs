//! Requests of the editor: drafts, simulated walks, links and trials of a utility.

use std::collections::BTreeMap;

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::body::{ExploreBody, Grid};
use crate::{EdgeId, Finding, NodeId, Plan};

/// A text that is not saved yet, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    /// Id of the draft.
    pub id: String,
    /// The layer of the file that it is a draft of.
    pub layer: String,
    /// That file.
    pub file: String,
    /// The hash that the file had when the draft was begun.
    pub base: String,
    /// The text.
    pub text: String,
    /// State of the editor, such as the undo history. The server does not read it.
    pub history: Value,
    /// Counts how often it was kept.
    pub version: u64,
    /// When it was kept last.
    pub updated_at: String,
}

/// A draft to be kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DraftBody {
    /// The layer of the file.
    pub layer: String,
    /// The file.
    pub file: String,
    /// The hash that the file had when the draft was begun.
    pub base: String,
    /// The text.
    pub text: String,
    /// State of the editor, such as the undo history. The server does not read it.
    #[serde(default)]
    pub history: Value,
}

/// A draft was kept, or is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DraftKept {
    /// The version for `If-Match` of the next request.
    pub version: u64,
    /// When it was kept.
    pub updated_at: String,
}

/// A draft in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DraftItem {
    /// Id of the draft.
    pub id: String,
    /// The layer of the file.
    pub layer: String,
    /// The file.
    pub file: String,
    /// The hash that the file had when the draft was begun.
    pub base: String,
    /// Counts how often it was kept.
    pub version: u64,
    /// When it was kept last.
    pub updated_at: String,
    /// The size of its text.
    pub bytes: u64,
}

/// The drafts of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drafts {
    /// By id.
    pub items: Vec<DraftItem>,
}

/// Two documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffBody {
    /// As it was.
    pub from: String,
    /// As it is.
    pub to: String,
}

/// A walk through a loadout.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WalkBody {
    /// The project.
    pub project: Option<String>,
    /// Texts that are not saved yet, by the names of their files.
    pub files: BTreeMap<String, String>,
    /// The loadout.
    pub loadout: String,
    /// The request of the user.
    pub request: String,
    /// How turns end, in order.
    pub choices: Vec<Choice>,
}

/// How a turn ends in a walk.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The socket whose turn it is; the oldest where there are several.
    pub socket: NodeId,
    /// How it ends.
    pub outcome: ChosenEnd,
    /// The number of work items of a generator; 3 by default.
    pub items: Option<u32>,
    /// The output itself, instead of one that is made up.
    pub text: Option<String>,
}

/// How a turn can end in a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChosenEnd {
    /// With a verdict: yes.
    Satisfied,
    /// With a verdict: no.
    NotSatisfied,
    /// Without a verdict.
    Done,
    /// With work items.
    Items,
    /// Badly.
    Fails,
}

/// A walk, as far as the choices lead.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Walk {
    /// The turns that have ended, in order.
    pub steps: Vec<WalkStep>,
    /// The turns that wait for a choice.
    pub asks: Vec<WalkAsk>,
    /// Where it stands: running, waiting, completed or failed.
    pub status: crate::CastStatus,
    /// Why it failed or waits, or which choice could not be taken.
    pub message: Option<String>,
    /// The walk as a script for `materia cast --script`: the agents' answers.
    pub script: Value,
    /// The walk as a conformance case.
    pub case: Value,
    /// Why nothing could be walked.
    pub findings: Vec<Finding>,
}

/// A turn of a walk that has ended.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalkStep {
    /// Where it ran.
    pub socket: NodeId,
    /// The materia in the socket.
    pub materia: String,
    /// The number of the visit, from 1.
    pub visit: u32,
    /// The key of the work item.
    pub item: Option<String>,
    /// Its name for people.
    pub item_label: Option<String>,
    /// How it ended; absent where the runtime answered it.
    pub outcome: Option<ChosenEnd>,
    /// The ways that were taken from there.
    pub routes: Vec<WalkRoute>,
}

/// A way that was taken.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WalkRoute {
    /// The edge; absent where none matched and the way ends.
    pub edge: Option<EdgeId>,
    /// Where it led: a socket, or `end`.
    pub to: String,
    /// Whether it leads out of a loop.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exit: bool,
}

/// A turn of a walk that waits for a choice.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalkAsk {
    /// Where it runs.
    pub socket: NodeId,
    /// The materia in the socket.
    pub materia: String,
    /// The number of the visit, from 1.
    pub visit: u32,
    /// The key of the work item.
    pub item: Option<String>,
    /// Its name for people.
    pub item_label: Option<String>,
    /// How it can end.
    pub outcomes: Vec<ChosenEnd>,
}

/// The history of a cast as a walk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Choices {
    /// The loadout that was cast.
    pub loadout: String,
    /// How its turns ended, in order.
    pub choices: Vec<Choice>,
}

/// A loadout to be explored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExploreRequest {
    /// The project.
    pub project: Option<String>,
    /// Texts that are not saved yet, by the names of their files.
    pub files: BTreeMap<String, String>,
    /// The loadout.
    pub loadout: String,
}

/// The result of an exploration.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExploreView {
    /// As `explore --json` prints it, within the limits of the server; absent where the loadout has errors.
    pub explored: Option<ExploreBody>,
    /// For each of its findings, in their order: the history as a walk.
    pub walks: Vec<ExploreWalk>,
    /// The errors of the loadout.
    pub findings: Vec<Finding>,
}

/// The history of a finding as a walk.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExploreWalk {
    /// The choices of a walk that goes exactly this way; absent where no walk does.
    pub choices: Option<Vec<Choice>>,
    /// Why no walk does.
    pub reason: Option<String>,
}

/// A link to check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LinkBody {
    /// The project.
    pub project: Option<String>,
    /// Texts that are not saved yet, by the names of their files.
    pub files: BTreeMap<String, String>,
    /// Loadouts and materia, in their order.
    pub parts: Vec<String>,
}

/// Result of a link: a graph, or the findings that prevent it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkView {
    /// Whether it can be cast.
    pub ok: bool,
    /// Why not, or what is worth knowing.
    pub findings: Vec<Finding>,
    /// Its graph.
    pub graph: Option<Grid>,
    /// Its plan.
    pub plan: Option<Plan>,
    /// A loadout that does the same, where one can be written.
    pub loadout: Option<Value>,
}

/// A utility to be tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TryBody {
    /// The project.
    #[serde(default)]
    pub project: Option<String>,
    /// The materia, as it is saved.
    pub materia: String,
    /// Its input.
    pub input: Value,
    /// The hash of what was shown and agreed to.
    #[serde(default)]
    pub consent: Option<String>,
}

/// Result of a trial of a utility.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tried {
    /// Its exit code; none where a signal ended it.
    pub exit_code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Its output as data, where it is JSON.
    pub output: Value,
    /// How long it took.
    pub duration_ms: u64,
    /// Why it failed, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
