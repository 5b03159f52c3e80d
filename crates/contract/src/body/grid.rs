use std::ops::Not;

use crate::schema::{JsonSchema, omit_none};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::{Condition, EdgeId, Guard, NodeId, Path};

/// The graph of a plan, with the place of each socket.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Grid {
    /// The loadout.
    pub loadout: String,
    /// Where a cast begins.
    pub entry: NodeId,
    /// The sockets, in the order in which they are written.
    pub sockets: Vec<GridSocket>,
    /// The sockets of each row, from the top.
    pub ranks: Vec<Vec<NodeId>>,
    /// The loops.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub loops: IndexMap<String, GridLoop>,
}

/// Kind of the materia in a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SocketType {
    /// An agent with a prompt.
    Agent,
    /// A local program.
    Utility,
}

/// A socket, and the ways out of it.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GridSocket {
    /// Its id.
    pub id: NodeId,
    /// The materia that it names.
    pub materia: String,
    /// The colour of the materia.
    pub color: Option<String>,
    /// Whether an agent or a utility runs there.
    #[serde(rename = "type")]
    pub kind: SocketType,
    /// The ways out, in the order in which they are tried.
    pub edges: Vec<GridEdge>,
    /// Where a failed turn leads.
    pub on_failure: Option<GridFailure>,
    /// Whether its output has work items.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub generator: bool,
    /// Whether a person talks with it until it is finished.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub multi_turn: bool,
    /// When it moves the innermost loop around it on.
    pub advance: Option<Advance>,
    /// Its row, from the top.
    pub rank: usize,
}

/// The way out of a failed turn.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GridFailure {
    /// Its id.
    pub id: EdgeId,
    /// The socket it leads to.
    pub to: String,
    /// How often it may be taken for one work item.
    pub max_traversals: Option<u32>,
}

/// When a socket moves a loop on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Advance {
    /// The verdict it asks for.
    pub when: Condition,
}

/// A way from a socket to another, or to the end.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GridEdge {
    /// Its id.
    pub id: EdgeId,
    /// The verdict it asks for.
    pub when: Condition,
    /// A socket, or `end`.
    pub to: String,
    /// The comparison that must hold for the edge to be taken.
    #[serde(rename = "where")]
    pub guard: Option<Guard>,
    /// How often it may be taken for one item.
    pub max_traversals: Option<u32>,
    /// Whether it leads back up, or to the socket itself.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub back: bool,
}

/// A loop.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GridLoop {
    /// The sockets inside.
    pub sockets: Vec<NodeId>,
    /// The name of its cursor.
    pub cursor: String,
    /// The ways out when its list is exhausted.
    pub exits: Vec<GridExit>,
    /// The generator whose work items it takes one by one.
    pub consumes: Option<NodeId>,
    /// The list that it takes one by one.
    pub items: Option<Path>,
}

/// A way out of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GridExit {
    /// Its id.
    pub id: String,
    /// The socket it leaves from.
    pub from: NodeId,
    /// The verdict it asks for.
    pub condition: Condition,
    /// A socket, or `end`.
    pub to: String,
}
