//! Payloads that travel along an edge.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::time::Micros;
use crate::{EdgeId, NodeId};

/// A payload in transit or waiting at a node. It never changes once it exists.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Envelope {
    /// Its identity: the id of the event that created it.
    pub payload_id: Uuid,
    /// Kind of the payload.
    pub kind: EnvelopeKind,
    /// The node that produced it; absent for what comes from a person.
    pub from_node_id: Option<NodeId>,
    /// The edge it crossed; absent for what comes from a person.
    pub edge_id: Option<EdgeId>,
    /// The run's logical time when it came to be.
    pub ts: Micros,
    /// Text for the next node.
    pub message: Option<String>,
    /// Parsed output.
    pub structured: Option<Value>,
    /// Things too large to travel, named by hash.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<ArtifactRef>,
    /// The verdict of the producing turn.
    pub status: Option<PayloadStatus>,
}

/// Kinds of payloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EnvelopeKind {
    /// Text output of a node.
    Message,
    /// A handoff object of a node.
    Handoff,
    /// A compact delta for a node that continues.
    Tick,
    /// A message of a person: the request, or an instruction.
    User,
}

/// A stored thing, named by what it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactRef {
    /// `diff`, `logs`, …
    pub kind: String,
    /// Its name for people.
    pub name: String,
    /// The hash of its bytes, in hexadecimal.
    pub hash: String,
}

/// Content of a payload, without its source and time.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PayloadContent {
    /// Text.
    pub message: Option<String>,
    /// A parsed value.
    pub structured: Option<Value>,
    /// Things that travel with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<ArtifactRef>,
    /// The verdict of its source.
    pub status: Option<PayloadStatus>,
}

/// How the producing turn judged its own result.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PayloadStatus {
    /// The verdict, or true where there is none.
    pub ok: bool,
    /// Why not, where the turn said so.
    pub reason: Option<String>,
}
