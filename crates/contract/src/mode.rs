//! Modes of a run.

use serde::{Deserialize, Serialize};

use crate::schema::JsonSchema;

/// Whether the scheduler starts turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Pace {
    /// Whenever a node is runnable.
    #[default]
    Auto,
    /// Never; a person does.
    Interactive,
}

/// Where turns may write: PLANNING or IMPLEMENTATION.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum GlobalMode {
    /// Only the folder of documents.
    Planning,
    /// The paths that the node's policy allows.
    #[default]
    Implementation,
}
