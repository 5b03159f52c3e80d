//! Routing of a result: the edge, the payload, and the change of the variables.

use std::sync::Arc;

use crate::schema::{JsonSchema, omit_none};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{EdgeId, EnvelopeKind, NodeId, Offered, PayloadContent};

/// Data of `route.selected`.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RouteSelected {
    /// The `turn.started` whose result was routed; absent where nothing ran.
    pub turn: Option<u64>,
    /// The edge; absent where none matched.
    #[keep_none]
    pub edge_id: Option<EdgeId>,
    /// The node it leads to, `end` or `fail`.
    pub to: String,
    /// The verdict that was read.
    pub satisfied: Option<bool>,
}

/// Data of `handoff.sent`. The payload's id is the id of this event.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HandoffSent {
    /// The payload.
    pub payload_id: Uuid,
    /// The edge it crosses.
    pub edge_id: EdgeId,
    /// Where it goes.
    pub to: NodeId,
    /// The `turn.started` whose output it carries; absent where nothing ran.
    pub turn: Option<u64>,
    /// The kind of the payload.
    pub kind: EnvelopeKind,
    /// The beginning of what it says.
    pub preview: String,
    /// Its content, if it is not the output of a turn.
    pub offered: Option<Offered>,
    /// The parts that the transform of the edge replaced.
    pub mapped: Option<Arc<PayloadContent>>,
    /// The value that `dedupeBy` of the edge compares.
    pub sameness: Option<String>,
}

/// Data of `payload.delivered`.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PayloadDelivered {
    /// The payload.
    pub payload_id: Uuid,
    /// The edge it crossed; absent for what comes from a person.
    pub edge_id: Option<EdgeId>,
}

/// Data of `payload.consumed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PayloadConsumed {
    /// The payload.
    pub payload_id: Uuid,
}

/// Data of `state.patched`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatePatched {
    /// The `turn.started` whose output did it.
    pub turn: u64,
    /// Whole variables that a utility's `state` object set, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub merged: IndexMap<String, Value>,
    /// Values that `assign` copied, by dotted target.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub assigned: IndexMap<String, Value>,
}

/// Data of `output.fields_ignored`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutputFieldsIgnored {
    /// The `turn.started` whose output it was.
    pub turn: u64,
    /// The fields, as paths (`$.state.satisfied`).
    pub fields: Vec<String>,
    /// Why they have no meaning there.
    pub reason: String,
}
