//! `workers --json`.

use serde::{Deserialize, Serialize};

use crate::RunId;
use crate::schema::JsonSchema;

/// A worker and its casts. Each is one line of `workers --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkerBody {
    /// Its name, which no other worker of the space has.
    pub name: String,
    /// The machine.
    pub host: String,
    /// Its process on that machine.
    pub pid: u32,
    /// The folder in which it was started.
    pub folder: String,
    /// The version of Materia.
    pub version: String,
    /// The newest rules of a run that it knows.
    pub rules: u32,
    /// How many casts it runs at one time at most.
    pub slots: u32,
    /// Its labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// The casts that it runs now.
    pub runs: Vec<RunId>,
    /// Casts that wait and that it does not take, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_alone: Vec<LeftAlone>,
    /// Whether it takes no more casts, because it was told to end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends: bool,
    /// The time of its last sign of life.
    pub seen_at: String,
}

/// A cast that was copied to another journal. Each is one line of `journal copy --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CopiedBody {
    /// The cast.
    pub cast_id: RunId,
    /// The journal that had it.
    pub from: String,
    /// The journal in which it goes on.
    pub to: String,
    /// The number of its events.
    pub events: u64,
    /// How many of them were new there.
    pub added: u64,
}

/// A cast that a worker does not take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeftAlone {
    /// The cast.
    pub cast_id: RunId,
    /// The reason.
    pub why: String,
}
