//! Losses of memory at every point of a cast, and how it ends then.

use crate::NodeId;
use crate::schema::JsonSchema;
use serde::{Deserialize, Serialize};

/// The output of `crashtest --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrashtestBody {
    /// The loadout.
    pub loadout: String,
    /// Whether programs ran, each time in a new copy of the project.
    pub real: bool,
    /// How the cast ends without a crash.
    pub end: String,
    /// The points at which memory can be lost, in the order in which the cast reaches them.
    pub points: Vec<CrashPoint>,
    /// How often the cast was played with one crash.
    pub plays: u64,
    /// How often it was played with two.
    pub pairs: u64,
    /// Utilities that ran again after a crash: they must be idempotent.
    pub repeated: Vec<RanAgain>,
    /// Ends that differ from the end without a crash.
    pub findings: Vec<CrashFinding>,
    /// Limits of the result.
    pub notes: Vec<String>,
}

/// A point at which memory can be lost.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrashPoint {
    /// Its number, from 1, in the play in which memory was lost there.
    pub number: u64,
    /// The step before the loss.
    pub kind: CrashPointKind,
    /// The last event of the decision, or the event with which the turn had started.
    pub event: u64,
    /// The sockets that the decision starts, or the socket whose turn had ended.
    pub sockets: Vec<NodeId>,
}

/// The step before memory was lost.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum CrashPointKind {
    /// A decision was durable, and none of its effects had begun.
    Decision,
    /// A turn had ended, and its report was not durable.
    Report,
}

/// A utility that ran again after a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RanAgain {
    /// Its socket.
    pub socket: NodeId,
    /// Its materia.
    pub materia: String,
    /// The numbers of the points of one crash after which it ran again.
    pub points: Vec<u64>,
}

/// Another end after a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrashFinding {
    /// A sentence that says it.
    pub message: String,
    /// The sockets that ran again and are not idempotent; none where the cast itself goes another way.
    pub sockets: Vec<NodeId>,
    /// Where memory was lost: at one point or at two.
    pub at: Vec<CrashPoint>,
    /// How many plays differ in the same things.
    pub plays: u64,
    /// In what the end differs.
    pub differences: Vec<CrashDifference>,
}

/// A part of the end that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrashDifference {
    /// Its kind.
    pub kind: Differs,
    /// The name of the variable, the path of the file, or the visits.
    pub name: String,
    /// How it is without a crash.
    pub expected: String,
    /// How it is after the crash.
    pub found: String,
}

/// A part of the end of a cast.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Differs {
    /// How it ended.
    End,
    /// How often a socket had a visit with this outcome.
    Visits,
    /// A variable.
    Variable,
    /// A file of the project.
    File,
}
