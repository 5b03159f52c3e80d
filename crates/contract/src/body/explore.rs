//! Exploration of every history that a loadout can take.

use crate::schema::{JsonSchema, omit_none};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::script::Script;
use crate::{EdgeId, NodeId};

/// Output of `explore --json`.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExploreBody {
    /// The loadout.
    pub loadout: String,
    /// The lengths of lists that were tried.
    pub items: Vec<u64>,
    /// Whether every state was explored.
    pub complete: bool,
    /// Why not.
    pub stopped: Option<String>,
    /// How many states were found.
    pub states: u64,
    /// How histories end, each with the number of states that end so.
    pub ends: IndexMap<String, u64>,
    /// Sockets that no history reaches.
    pub unreached_sockets: Vec<NodeId>,
    /// Edges, and exits of loops, that no history takes.
    pub unreached_edges: Vec<EdgeId>,
    /// The findings, each with a shortest history that leads to it.
    pub findings: Vec<ExploreFinding>,
    /// The properties that were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<PropertyAnswer>,
    /// Limits of the result, a sentence each.
    pub notes: Vec<String>,
}

/// Kinds of findings of an exploration.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum ExploreKind {
    /// A history ends failed.
    Fails,
    /// A history ends at rest with input that nothing can start.
    Stuck,
    /// A history ends waiting for a person.
    Waits,
    /// A payload can be dropped.
    Drops,
    /// A loop can be left with items while the cast completes.
    ItemsLeft,
    /// A variable can be read before anything has set it.
    Unset,
    /// Two turns end the cast differently in different orders.
    Race,
}

/// Something that a loadout can do.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExploreFinding {
    /// Its kind.
    pub kind: ExploreKind,
    /// A sentence that says it.
    pub message: String,
    /// The socket it is about.
    pub socket: Option<NodeId>,
    /// The other socket of a race.
    pub other: Option<NodeId>,
    /// The edge it is about.
    pub edge: Option<EdgeId>,
    /// The loop it is about.
    #[serde(rename = "loop")]
    pub region: Option<String>,
    /// A history that shows it.
    pub history: ExploredHistory,
}

/// A history, as a script that plays it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExploredHistory {
    /// How many steps it has: ends of turns, timers, answers of people.
    pub steps: u64,
    /// How it ends.
    pub end: String,
    /// The sockets of its turns, attempts included, in the order in which they start.
    pub visits: Vec<NodeId>,
    /// `cast --virtual-time --script` plays it.
    pub script: Script,
    /// Whether a play of it was seen to come to exactly this end.
    pub plays: bool,
}

/// Whether a property holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Proof {
    /// It holds for every history.
    Proved,
    /// A history breaks it.
    Refuted,
    /// Not all histories were explored, and none of the explored ones breaks it.
    Undecided,
}

/// A property, and whether it holds.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PropertyAnswer {
    /// The property, as it is written.
    pub property: String,
    /// Whether it holds.
    pub answer: Proof,
    /// A shortest history that breaks it.
    pub counterexample: Option<Box<ExploredHistory>>,
}
