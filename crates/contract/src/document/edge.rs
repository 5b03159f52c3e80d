//! Edges and comparisons.

use crate::schema::{JsonSchema, omit_none};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Condition, DedupeBy, DeliveryMode, Extra, Overflow};

/// An edge: the way from one socket to the next.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EdgeDoc {
    /// The id of the edge. By default `FROM->TO`, and `FROM->TO#2` for a second edge between the same sockets.
    #[schemars(extend("examples" = ["send-back"]))]
    pub id: Option<String>,
    /// The verdict that the edge needs.
    #[schemars(extend("default" = "always", "examples" = ["not_satisfied"]))]
    pub when: Option<Condition>,
    /// A comparison that must also hold.
    #[serde(rename = "where")]
    #[schemars(extend("examples" = [{"path": "state.count", "equals": 3}]))]
    pub guard: Option<WhereDoc>,
    /// The next socket, `end` (the cast completes) or `fail` (the cast fails).
    #[schemars(extend("examples" = ["fix"]))]
    pub to: String,
    /// How often the edge may be used for one work item. One more time fails the cast with `edge_exhausted`.
    #[schemars(range(min = 1))]
    #[schemars(extend("examples" = [5]))]
    pub max_traversals: Option<u32>,
    /// How payloads wait on the edge. Used with `routing: "all"`.
    #[schemars(extend("default" = "queue", "examples" = ["latest"]))]
    pub delivery_mode: Option<DeliveryMode>,
    /// How long nothing new may arrive before `debounce` delivers, in milliseconds. `debounce` needs it.
    #[schemars(range(min = 1, max = crate::time::DURATION_MS_MAX))]
    #[schemars(extend("examples" = [5000]))]
    pub debounce_ms: Option<u64>,
    /// How many payloads may wait on the edge. By default 256 for `queue` and 1 for the other modes.
    #[schemars(range(min = 1))]
    #[schemars(extend("examples" = [10]))]
    pub max_buffered: Option<u32>,
    /// Which payload is removed when the edge is full.
    #[schemars(extend("default" = "drop_newest", "examples" = ["drop_oldest"]))]
    pub overflow: Option<Overflow>,
    /// When two payloads count as the same. The second one is not delivered.
    #[schemars(extend("default" = "none", "examples" = ["contentHash"]))]
    pub dedupe_by: Option<DedupeBy>,
    /// How far back equal payloads are searched for, in milliseconds. By default only the last accepted payload is
    /// compared.
    #[schemars(range(min = 1, max = crate::time::DURATION_MS_MAX))]
    #[schemars(extend("examples" = [3_600_000]))]
    pub dedupe_window_ms: Option<u64>,
    /// Filters or changes each payload on the edge.
    #[schemars(extend("examples" = [{"where": {"path": "$.status.ok", "equals": false}}]))]
    pub transform: Option<TransformDoc>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The next socket after a turn that failed for good.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnFailureDoc {
    /// The next socket, `end` or `fail`.
    #[schemars(extend("examples" = ["fix"]))]
    pub to: String,
    /// How often this way may be used for one work item. One more time fails the cast with `edge_exhausted`.
    #[schemars(range(min = 1))]
    #[schemars(extend("examples" = [3]))]
    pub max_traversals: Option<u32>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One comparison: exactly one of `equals`, `notEquals` and `exists`.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhereDoc {
    /// The value to compare: `$.name` (output), `state.name`, `lastJson.name` or `lastOutput`.
    #[schemars(extend("examples" = ["state.todo.files.3"]))]
    pub path: String,
    /// Holds if the value exists and is equal to this.
    #[serde(deserialize_with = "present")]
    #[schemars(extend("examples" = [true]))]
    pub equals: Option<Value>,
    /// Holds if the value is missing or differs from this.
    #[serde(deserialize_with = "present")]
    #[schemars(extend("examples" = [0]))]
    pub not_equals: Option<Value>,
    /// Holds if the value exists (`true`) or is missing (`false`).
    #[schemars(extend("examples" = [true]))]
    pub exists: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Keeps a written `null` apart from a field that was left out.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// A filter and a mapping on a payload; `$` is the payload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TransformDoc {
    /// Payloads for which this comparison fails are not delivered. `$` is the payload.
    #[serde(rename = "where", default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = [{"path": "$.status.ok", "equals": false}]))]
    pub guard: Option<WhereDoc>,
    /// Replaces `message`, `structured` or `status` of the payload by the value at a path.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(extend("examples" = [{"message": "$.structured.context"}]))]
    pub map: IndexMap<String, String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
