//! What a person, or a script's timeline, does to a run under way.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{EnvelopeKind, GlobalMode, NodeId, Pace, PayloadStatus};

/// One thing done to a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Act {
    /// Puts a payload on an edge, as if its source had produced it.
    Offer {
        /// The edge: its id, or `FROM->TO`.
        edge: String,
        /// What is put on it.
        payload: Offered,
    },
    /// Asks for a turn of a node.
    Trigger {
        /// The node.
        node: NodeId,
        /// What it is told beside its inputs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// Allows the turn that waits at a node.
    Approve {
        /// The node.
        node: NodeId,
    },
    /// Refuses the turn that waits at a node. Its inputs are kept.
    Deny {
        /// The node.
        node: NodeId,
    },
    /// Changes whether the scheduler starts turns.
    Mode {
        /// From now on.
        value: Pace,
    },
    /// Changes what turns may write.
    GlobalMode {
        /// From now on.
        value: GlobalMode,
    },
    /// The process that drives the run loses its memory. Only in simulated time.
    Crash,
}

/// The content of an offered payload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Offered {
    /// Its identity; derived where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_id: Option<Uuid>,
    /// What kind of payload it is; a message where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<EnvelopeKind>,
    /// Text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// A parsed value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// Things that travel with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<crate::ArtifactRef>,
    /// Whether its source was content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<PayloadStatus>,
}

impl Offered {
    /// What it says.
    #[must_use]
    pub fn content(&self) -> crate::PayloadContent {
        crate::PayloadContent {
            message: self.message.clone(),
            structured: self.structured.clone(),
            artifacts: self.artifacts.clone(),
            status: self.status.clone(),
        }
    }
}

/// Something that happens at a simulated instant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelineEntry {
    /// The instant, from the beginning of the run.
    pub at_ms: u64,
    /// What happens.
    #[serde(flatten)]
    pub act: Act,
}
