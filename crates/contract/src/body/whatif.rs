//! A recorded cast, played against the loadout of today.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};

use crate::{CastStatus, EdgeId, ErrorCode, NodeId, Outcome, RunId, WaitReason};

/// The output of `whatif --json`.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhatIfBody {
    /// The cast whose answers were played.
    pub cast_id: RunId,
    /// The loadout that they were played against.
    pub loadout: String,
    /// Whether the route is the same to its end.
    pub same: bool,
    /// How many turns of the cast ended the same way and led the same way.
    pub matched: usize,
    /// The first difference.
    pub parting: Option<Parting>,
    /// The turns that would be asked and that the cast never answered. The play stops at each of them.
    pub unanswered: Vec<Unanswered>,
    /// The turns of the cast that are not reached any more.
    pub unreached: Vec<TurnName>,
    /// The end of the cast.
    pub recorded_end: RouteEnd,
    /// The end of the play; absent where a turn had no answer.
    pub today_end: Option<RouteEnd>,
    /// Acts of people that were not given again, because they name something that is not there any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_given: Vec<String>,
}

/// A turn by its place in the graph. The same name means the same turn of the cast and of the play.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnName {
    /// Its socket.
    pub socket: NodeId,
    /// The key of its work item.
    pub item: Option<String>,
    /// The number of this turn among those of its socket and item, from 1. Interrupted turns do not count.
    pub attempt: u32,
}

/// The first difference between two routes.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Parting {
    /// The kind of the difference.
    pub kind: PartingKind,
    /// The turn; absent where only the ends differ.
    pub turn: Option<TurnName>,
    /// The event of the cast with which that turn began, if the cast has the turn.
    pub seq: Option<u64>,
    /// The end of the turn in the cast, if the cast has the turn.
    pub recorded: Option<Way>,
    /// The end of the turn in the play, if it is asked there and has an answer.
    pub today: Option<Way>,
}

/// In what two routes differ first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartingKind {
    /// A turn takes other edges, or ends in another way.
    Route,
    /// A turn is asked that the cast does not have.
    Asked,
    /// A turn of the cast is not asked, though nothing before it differs.
    NotAsked,
    /// All turns agree, and the end of the cast does not.
    End,
}

/// How a turn ended, and where that led.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Way {
    /// How it ended.
    pub outcome: Outcome,
    /// Its verdict.
    pub satisfied: Option<bool>,
    /// The edges that it took.
    pub edges: Vec<TakenEdge>,
    /// The cursors that it moved to another work item.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<MovedCursor>,
}

/// A cursor that a turn moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MovedCursor {
    /// The cursor.
    pub cursor: String,
    /// Its new position, from 0.
    pub index: u32,
}

/// An edge that a turn took.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TakenEdge {
    /// The edge; absent where none matched.
    pub edge_id: Option<EdgeId>,
    /// The socket it leads to, `end` or `fail`.
    pub to: String,
}

/// A turn that would be asked and that the cast never answered.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Unanswered {
    /// The turn.
    #[serde(flatten)]
    pub turn: TurnName,
    /// The materia that would be asked.
    pub materia: String,
    /// The turn that led to it; absent at the beginning.
    pub after: Option<TurnName>,
}

/// How a cast ended.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RouteEnd {
    /// Its status.
    pub status: CastStatus,
    /// Why it failed.
    pub error: Option<ErrorCode>,
    /// The reason for waiting.
    pub waiting: Option<WaitReason>,
    /// The socket that it waits at.
    pub node: Option<NodeId>,
}
