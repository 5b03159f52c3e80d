//! Histories of a loadout by chance.

use crate::NodeId;
use crate::schema::JsonSchema;
use crate::script::Script;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// The output of `fuzz --json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FuzzBody {
    /// The loadout.
    pub loadout: String,
    /// The seed of the first history; each further one has the next number.
    pub seed: u64,
    /// How many histories were played.
    pub histories: u64,
    /// How many of them ended early, because the cast refused an act of a person.
    pub refused: u64,
    /// How histories end, each with the number of histories that end so.
    pub ends: IndexMap<String, u64>,
    /// Faults, each once.
    pub findings: Vec<FuzzFinding>,
}

/// A fault, with a small history that shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FuzzFinding {
    /// Who found it.
    pub judge: FuzzJudge,
    /// A sentence that says it.
    pub message: String,
    /// The seed of the history in which it was found.
    pub seed: u64,
    /// How the small history ends.
    pub end: String,
    /// The sockets of its turns, attempts included, in the order in which they start.
    pub visits: Vec<NodeId>,
    /// `cast --virtual-time --script` plays it.
    pub script: Script,
}

/// A judge of histories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FuzzJudge {
    /// The laws of the kernel.
    Kernel,
    /// The verifier, which has the rules a second time, and the decisions taken again.
    Verifier,
    /// A property of the loadout.
    Property,
}
