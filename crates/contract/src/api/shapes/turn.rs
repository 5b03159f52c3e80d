//! A turn, its cost and its files.

use crate::schema::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Amount, Budget, Envelope, NodeId, PromptLayer, SessionRef, TurnUsage, UsageTotals, Uuid,
};

/// A turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnView {
    /// Where it began.
    pub seq: u64,
    /// Where it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_label: Option<String>,
    /// How it ended: completed, rejected, failed, interrupted, or running.
    pub outcome: crate::Outcome,
    /// When it began.
    pub started_at: String,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// An agent's prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Where each part of it comes from.
    pub layers: Vec<PromptLayer>,
    /// A utility's input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Its parsed output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parsed: Option<Value>,
    /// Standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// Its verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub satisfied: Option<bool>,
    /// Why it failed, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Its tokens and cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TurnUsage>,
    /// The provider that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Which model was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The provider session it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionRef>,
    /// The payloads it took.
    pub consumed: Vec<Uuid>,
    /// In a workspace: whether it changed files; absent where it has not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_files: Option<bool>,
    /// The files it left.
    pub artifacts: Vec<FileItem>,
}

/// The input that the next turn of a socket would get.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GivenView {
    /// An agent's prompt; absent for a `foreach`, whose turns get one element each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Where each part of it comes from.
    pub layers: Vec<PromptLayer>,
    /// A utility's input; absent for a `foreach`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Spent {
    /// The socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<NodeId>,
    /// The materia in the socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub materia: Option<String>,
    /// The key of the item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Attempts that were started.
    pub turns: u64,
    /// Tokens, as far as they were reported.
    pub tokens: u64,
    /// Cost, as far as it was reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
