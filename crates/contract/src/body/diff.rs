//! Differences between two documents.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Output of `check --diff --json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Parts that only the newer document has.
    pub added: Vec<Change>,
    /// Parts that only the older document has.
    pub removed: Vec<Change>,
    /// Parts that both have, with different content.
    pub changed: Vec<Change>,
}

impl Difference {
    /// Whether both say the same.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// One change.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Kind of the changed part.
    pub kind: ChangedKind,
    /// A JSON Pointer to it: in the newer document, or in the older one where it is gone.
    pub path: String,
    /// Its name for people.
    pub name: String,
    /// As it was.
    pub from: Option<Value>,
    /// As it is.
    pub to: Option<Value>,
}

/// Kinds of parts of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChangedKind {
    /// A loadout as a whole.
    Loadout,
    /// A socket, without its edges.
    Socket,
    /// A way out of a socket.
    Edge,
    /// A loop, without its exits.
    Loop,
    /// A way out of a loop.
    Exit,
    /// A materia.
    Materia,
    /// Anything else that counts for the whole file or a whole loadout.
    Setting,
    /// Where sockets are drawn.
    Layout,
}
