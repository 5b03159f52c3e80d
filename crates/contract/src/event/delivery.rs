//! Delivery of payloads, and timers.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::EdgeId;
use crate::time::Micros;

/// Data of `payload.superseded`: a newer payload of the same edge took its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PayloadSuperseded {
    /// The payload.
    pub payload_id: Uuid,
    /// Its edge.
    pub edge_id: EdgeId,
    /// The newer one.
    pub by: Uuid,
}

/// Data of `payload.dropped`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PayloadDropped {
    /// The payload.
    pub payload_id: Uuid,
    /// Its edge.
    pub edge_id: EdgeId,
    /// Why.
    pub reason: DropReason,
}

/// Why a payload was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DropReason {
    /// Its edge holds as many as it may.
    Overflow,
    /// The node was busy.
    Busy,
}

/// Data of `payload.deduplicated`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PayloadDeduplicated {
    /// The payload.
    pub payload_id: Uuid,
    /// Its edge.
    pub edge_id: EdgeId,
    /// The accepted payload that it equals.
    pub of: Uuid,
}

/// Data of `payload.filtered`: its edge's transform keeps it out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PayloadFiltered {
    /// The payload.
    pub payload_id: Uuid,
    /// Its edge.
    pub edge_id: EdgeId,
}

/// Purpose of a timer. There is at most one of each.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Timer {
    /// The quiet period of an edge.
    Debounce {
        /// The edge.
        edge_id: EdgeId,
    },
    /// The next tick of the node that the event names.
    Tick,
    /// A failed turn of the node that the event names is tried again.
    Retry {
        /// The `turn.started` of the attempt that failed.
        turn: u64,
    },
}

/// Data of `timer.set`. A timer that is set again moves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimerSet {
    /// The timer.
    pub timer: Timer,
    /// The instant at which it fires, in microseconds.
    pub at: Micros,
}

/// Data of `timer.fired`. Where it makes a payload (a tick), that has the id of this event.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimerFired {
    /// The timer.
    pub timer: Timer,
    /// The tick that it brings; absent where one is still owed and they are one.
    pub payload_id: Option<Uuid>,
}
