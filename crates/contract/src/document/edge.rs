//! The ways out of a socket.

use crate::schema::JsonSchema;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Condition, DedupeBy, DeliveryMode, Extra, Overflow};

/// A guarded way out of a socket.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EdgeDoc {
    /// Its id; `FROM->TO` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The verdict it asks for; `always` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// One comparison with state that must hold as well.
    #[serde(rename = "where", default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<WhereDoc>,
    /// A socket of this loadout, `end` or `fail`.
    pub to: String,
    /// How often it may be taken for one work item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_traversals: Option<u32>,
    /// How payloads wait on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_mode: Option<DeliveryMode>,
    /// The quiet period of `debounce`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = crate::time::DURATION_MS_MAX))]
    pub debounce_ms: Option<u64>,
    /// How many payloads may wait on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_buffered: Option<u32>,
    /// Which payload goes when it is full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overflow: Option<Overflow>,
    /// What makes two payloads the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedupe_by: Option<DedupeBy>,
    /// How far back sameness is looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = crate::time::DURATION_MS_MAX))]
    pub dedupe_window_ms: Option<u64>,
    /// A filter and a mapping on the payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transform: Option<TransformDoc>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The way out of a socket whose turn has failed for good.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnFailureDoc {
    /// A socket of this loadout, `end` or `fail`.
    pub to: String,
    /// How often it may be taken for one work item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_traversals: Option<u32>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One comparison: exactly one of `equals`, `notEquals` and `exists`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhereDoc {
    /// What is looked at.
    pub path: String,
    /// It is there and equals this value.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub equals: Option<Value>,
    /// It is missing or differs from this value.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub not_equals: Option<Value>,
    /// Whether it must be there at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    /// Payloads for which this does not hold are filtered out.
    #[serde(rename = "where", default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<WhereDoc>,
    /// Fields of the payload and the paths they are taken from.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub map: IndexMap<String, String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
