//! Origin of a virtual loadout.
//!
//! A link composes targets into one graph for one cast. The graph is the cast's plan; this record keeps the command
//! and the targets that its names resolved to.

use crate::schema::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::NodeId;

/// The record of a link, in the first event of its cast.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    /// The command, as it would be typed.
    pub invocation: String,
    /// The targets that the names resolved to, in order.
    pub targets: Vec<LinkTarget>,
    /// The id of the virtual loadout: made from its content, so that the same link has the same.
    pub loadout_id: String,
    /// The name of the virtual loadout.
    pub loadout_name: String,
}

/// One target of a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkTarget {
    /// Its kind.
    pub kind: TargetKind,
    /// Its name.
    pub name: String,
    /// The sockets of the virtual loadout that come from it, in order.
    pub sockets: Vec<NodeId>,
}

impl LinkTarget {
    /// The unambiguous form: `loadout:Review`.
    pub fn reference(&self) -> String {
        format!("{}:{}", self.kind.word(), self.name)
    }
}

/// Kinds of targets of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// A behaviour, placed in a socket of its own.
    Materia,
    /// A whole graph.
    Loadout,
}

impl TargetKind {
    /// The word before the colon of a target.
    pub fn word(self) -> &'static str {
        match self {
            Self::Materia => "materia",
            Self::Loadout => "loadout",
        }
    }
}
