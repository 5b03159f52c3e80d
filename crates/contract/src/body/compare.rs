//! Two casts side by side.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Amount, CastStatus, EdgeId, NodeId, Outcome, RunId, UsageTotals};

/// Output of `compare --json`.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The one that was named first.
    pub a: Compared,
    /// The other one.
    pub b: Compared,
    /// The last event that both share, where one was forked from the other or both from a third. What was before is
    /// no part of the rows.
    pub forked_at: Option<u64>,
    /// Turns, aligned by socket, work item and place among the turns of both.
    pub rows: Vec<ComparedTurn>,
    /// Ways that were taken a different number of times.
    pub routes: Vec<ComparedRoute>,
    /// Variables that differ.
    pub variables: Vec<ComparedValue>,
    /// Usage of both casts; of forks only the part after the fork.
    pub totals: ComparedTotals,
}

/// One of the two casts.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Compared {
    /// Its id.
    pub cast_id: RunId,
    /// The loadout it runs.
    pub loadout: String,
    /// The request of the user.
    pub request: String,
    /// Where it stands.
    pub status: CastStatus,
    /// The cast it was forked from.
    pub forked_from: Option<RunId>,
    /// Its usage in all.
    pub usage: UsageTotals,
}

/// Whether two turns, or two values, are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ComparedVerdict {
    /// Both have it, with the same content.
    Same,
    /// Both have it, with different content.
    Differs,
    /// Only the first cast has it.
    OnlyA,
    /// Only the second one.
    OnlyB,
}

/// In what two turns can differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ComparedAspect {
    /// How it ended.
    Outcome,
    /// Its prompt, or the input of a utility.
    Prompt,
    /// Its output.
    Output,
    /// Where it led.
    Route,
    /// Its cost.
    Cost,
}

/// A turn of each cast.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparedTurn {
    /// Where it ran.
    pub socket: NodeId,
    /// The materia in the socket.
    pub materia: String,
    /// The key of the work item.
    pub item: Option<String>,
    /// Its name for people.
    pub item_label: Option<String>,
    /// The number of the attempt at this item of this socket, counted after the fork.
    pub attempt: u32,
    /// Whether they agree.
    pub verdict: ComparedVerdict,
    /// In what they do not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differs: Vec<ComparedAspect>,
    /// The turn of the first cast.
    pub a: Option<TurnSide>,
    /// The turn of the second.
    pub b: Option<TurnSide>,
    /// Both prompts, where they differ.
    pub prompt: Option<TwoTexts>,
    /// Both outputs, where they differ.
    pub output: Option<TwoTexts>,
}

/// A turn of one of the casts.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnSide {
    /// The event with which it began.
    pub seq: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Its verdict.
    pub satisfied: Option<bool>,
    /// The ways that it led to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<String>,
    /// Its cost, as far as it was reported.
    pub cost: Option<Amount>,
    /// Its tokens, as far as they were reported.
    pub tokens: Option<u64>,
    /// How long it took.
    pub duration_ms: Option<u64>,
}

/// A text of each cast.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TwoTexts {
    /// The text of the first.
    pub a: String,
    /// The text of the second.
    pub b: String,
}

/// A way, and how often each cast took it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedRoute {
    /// The edge.
    pub edge: EdgeId,
    /// Times in the first.
    pub a: u64,
    /// Times in the second.
    pub b: u64,
}

/// A variable that differs.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedValue {
    /// Its name, with dots for what is inside it.
    pub path: String,
    /// Its value in the first, if it has one.
    pub a: Option<Value>,
    /// Its value in the second.
    pub b: Option<Value>,
}

/// Usage of both casts; of forks only the part after the fork.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparedTotals {
    /// Attempts that were started.
    pub turns: Two<u64>,
    /// Tokens.
    pub tokens: Two<u64>,
    /// Cost, where it was reported.
    pub cost: Two<Option<Amount>>,
    /// Time in turns.
    pub duration_ms: Two<u64>,
}

/// A figure of each cast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Two<T> {
    /// The value of the first.
    pub a: T,
    /// The value of the second.
    pub b: T,
}
