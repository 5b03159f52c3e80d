//! Results of `test`: cases of an author, and casts as cases.

use crate::schema::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EdgeId, RunId};

/// A cast that was written as a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CaseBody {
    /// The cast.
    pub cast_id: RunId,
    /// The file of the case.
    pub file: String,
    /// Whether the case has its own configuration; otherwise it uses the configuration of the project.
    pub own_config: bool,
}

/// A line of `test --json`: each case, and at the end all of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TestBody {
    /// One case.
    Case(TestedCase),
    /// All cases.
    All(TestedAll),
}

/// The result of one case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestedCase {
    /// Its file.
    pub case: String,
    /// The name of the case, a sentence; empty where the file cannot be read.
    pub name: String,
    /// Whether all was as expected.
    pub ok: bool,
    /// Expectations that did not hold.
    pub failures: Vec<String>,
    /// Whether its expectations were updated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub updated: bool,
    /// How long it took.
    pub duration_ms: u64,
}

/// The result of all cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestedAll {
    /// How many cases passed.
    pub passed: usize,
    /// How many did not.
    pub failed: usize,
    /// How many of those were updated.
    pub updated: usize,
    /// The edges that no case takes, of every loadout that a case runs.
    pub untaken: Vec<Untaken>,
}

/// The edges of a loadout that no case takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Untaken {
    /// The loadout.
    pub loadout: String,
    /// How many edges it has, exits of loops and ways out of failures included.
    pub all: usize,
    /// Edges that no case takes.
    pub edges: Vec<EdgeId>,
}
