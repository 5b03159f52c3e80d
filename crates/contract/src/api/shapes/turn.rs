//! A turn, its cost and its files.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Amount, Budget, Envelope, NodeId, PromptLayer, SessionRef, TurnUsage, UsageTotals, Uuid,
};

/// A turn.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnView {
    /// Where it began.
    pub seq: u64,
    /// Where it ended.
    pub end_seq: Option<u64>,
    /// Where it ran.
    pub socket: NodeId,
    /// The materia in the socket.
    pub materia: String,
    /// The number of the visit, from 1.
    pub visit: u32,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The key of the work item.
    pub item: Option<String>,
    /// Its name for people.
    pub item_label: Option<String>,
    /// How it ended: completed, rejected, failed, interrupted, or running.
    pub outcome: crate::Outcome,
    /// When it began.
    pub started_at: String,
    /// When it ended.
    pub ended_at: Option<String>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// An agent's prompt.
    pub prompt: Option<String>,
    /// Where each part of it comes from.
    pub layers: Vec<PromptLayer>,
    /// A utility's input.
    pub input: Option<Value>,
    /// Its output.
    pub output: Option<String>,
    /// Its parsed output.
    pub parsed: Option<Value>,
    /// Standard error.
    pub stderr: Option<String>,
    /// Its verdict.
    pub satisfied: Option<bool>,
    /// Why it failed, in a sentence.
    pub error: Option<String>,
    /// Its tokens and cost.
    pub usage: Option<TurnUsage>,
    /// The provider that answered.
    pub provider: Option<String>,
    /// Which model was asked for.
    pub model: Option<String>,
    /// The provider session it belongs to.
    pub session: Option<SessionRef>,
    /// The payloads it took.
    pub consumed: Vec<Uuid>,
    /// In a workspace: whether it changed files; absent where it has not ended.
    pub changed_files: Option<bool>,
    /// The files it left.
    pub artifacts: Vec<FileItem>,
}

/// The input that the next turn of a socket would get.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GivenView {
    /// An agent's prompt; absent for a `foreach`, whose turns get one element each.
    pub prompt: Option<String>,
    /// Where each part of it comes from.
    pub layers: Vec<PromptLayer>,
    /// A utility's input; absent for a `foreach`.
    pub input: Option<Value>,
    /// The payloads that it would take, in order.
    pub payloads: Vec<Envelope>,
}

/// Usage of a cast, in all, by socket and by work item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// In all.
    pub usage: UsageTotals,
    /// The budget.
    pub budget: Budget,
    /// By socket.
    pub by_socket: Vec<Spent>,
    /// By work item; turns of no item are not among them.
    pub by_item: Vec<Spent>,
}

/// Usage of one socket or of one item.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Spent {
    /// The socket.
    pub socket: Option<NodeId>,
    /// The materia in the socket.
    pub materia: Option<String>,
    /// The key of the item.
    pub item: Option<String>,
    /// Its name for people.
    pub label: Option<String>,
    /// Attempts that were started.
    pub turns: u64,
    /// Tokens, as far as they were reported.
    pub tokens: u64,
    /// Cost, as far as it was reported.
    pub cost: Option<Amount>,
    /// Time spent in turns that have ended.
    pub duration_ms: u64,
}

/// A file that a turn left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileItem {
    /// Its path in the cast's folder.
    pub path: String,
    /// Its size.
    pub bytes: u64,
}

/// The files of a cast.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Files {
    /// By path.
    pub items: Vec<FileItem>,
}
