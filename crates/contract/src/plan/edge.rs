//! Edges of a node, and how payloads wait on them.

use crate::schema::{JsonSchema, omit_none};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Condition, DedupeBy, DeliveryMode, END, EdgeId, FAIL, NodeId, Overflow, Path};

/// The id of the way out of a socket whose turn has failed.
pub fn on_failure_edge(socket: &str) -> EdgeId {
    EdgeId::new(format!("onFailure:{socket}"))
}

/// A guarded way out of a node.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    /// Its identity, unique in the plan.
    pub id: EdgeId,
    /// The verdict it asks for.
    pub when: Condition,
    /// One comparison that must hold as well.
    #[serde(rename = "where")]
    pub guard: Option<Guard>,
    /// Where it leads; absent means the end of the graph.
    pub to: Option<NodeId>,
    /// Whether the run fails where it is taken (D65); it then leads to no node.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fails: bool,
    /// How often it may be taken for one work item.
    pub max_traversals: Option<u32>,
    /// How payloads wait on it.
    #[serde(default, skip_serializing_if = "Delivery::is_plain")]
    pub delivery: Delivery,
}

impl Edge {
    /// The word for where it leads: a node, `end` or `fail`.
    pub fn target(&self) -> &str {
        target_word(self.to.as_ref(), self.fails)
    }

    /// Whether it leads to the good end of the graph.
    pub fn ends(&self) -> bool {
        self.to.is_none() && !self.fails
    }
}

/// The word for where a way leads.
pub(super) fn target_word(to: Option<&NodeId>, fails: bool) -> &str {
    match to {
        Some(node) => node.as_str(),
        None if fails => FAIL,
        None => END,
    }
}

/// How payloads wait on an edge, with every default written out (D10).
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// How they wait.
    pub mode: DeliveryMode,
    /// How many may be on their way and not yet consumed.
    pub max_buffered: u32,
    /// Which one goes when there are more.
    pub overflow: Overflow,
    /// The quiet period of `debounce`.
    pub debounce_ms: Option<u64>,
    /// The key by which two payloads count as the same.
    pub dedupe_by: DedupeBy,
    /// The window of the comparison; absent means the last accepted payload only.
    pub dedupe_window_ms: Option<u64>,
    /// A filter and a mapping.
    pub transform: Option<Transform>,
}

/// How many payloads of a `queue` edge may wait, if nothing else is said.
pub const QUEUE_BUFFERED_DEFAULT: u32 = 256;

impl Default for Delivery {
    fn default() -> Self {
        Self::of(DeliveryMode::Queue)
    }
}

impl Delivery {
    /// The defaults of a mode.
    pub fn of(mode: DeliveryMode) -> Self {
        let max_buffered = match mode {
            DeliveryMode::Queue => QUEUE_BUFFERED_DEFAULT,
            DeliveryMode::Latest | DeliveryMode::Debounce | DeliveryMode::DropIfBusy => 1,
        };
        Self {
            mode,
            max_buffered,
            overflow: Overflow::DropNewest,
            debounce_ms: None,
            dedupe_by: DedupeBy::None,
            dedupe_window_ms: None,
            transform: None,
        }
    }

    /// Whether it is what an edge has that says nothing.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// A filter and a mapping on payloads; `$` is the payload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Transform {
    /// The comparison that a payload must pass.
    #[serde(rename = "where", default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<Guard>,
    /// Parts of the payload that are replaced, and by what.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub map: IndexMap<PayloadPart, Path>,
}

/// A part of a payload that a transform can replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PayloadPart {
    /// Its text.
    Message,
    /// Its parsed value.
    Structured,
    /// The verdict of its source.
    Status,
}

/// One comparison with a value of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Guard {
    /// The value that is compared.
    pub path: Path,
    /// The comparison.
    pub test: Test,
}

/// A comparison with a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Test {
    /// It is there and equals this.
    Equals(Value),
    /// It is missing or differs from this.
    NotEquals(Value),
    /// It is there (or, if false, it is not).
    Exists(bool),
}
