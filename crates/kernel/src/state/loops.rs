//! Loops over lists, and counts for each of their items.

use std::collections::VecDeque;
use std::sync::Arc;

use materia_contract::NodeId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One work item: its loop, the number of the loop's entry, and its position (D21).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ItemId {
    pub(crate) region: Region,
    pub(crate) entry: u32,
    pub(crate) index: u32,
}

/// A loop or a `foreach`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Region {
    /// The loop at that place of the plan.
    Loop(usize),
    /// The `foreach` of the node at that place of the plan.
    Foreach(usize),
}

/// Where a loop stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LoopState {
    /// How often it was entered.
    pub(crate) entry: u32,
    /// The list, frozen when it was entered; absent where it has none.
    pub(crate) items: Option<Arc<Vec<Value>>>,
    pub(crate) index: u32,
    /// The event that entered it.
    pub(crate) entered_at: u64,
    /// How often it was entered for one item of the loop around it.
    pub(crate) rounds: Rounds,
}

/// How often something has begun for one work item, where nothing else bounds it (D23).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rounds {
    pub(crate) item: Option<ItemId>,
    pub(crate) count: u32,
}

impl Rounds {
    /// It begins once more.
    pub(crate) fn begin(&mut self, item: Option<ItemId>) {
        let count = if self.item == item { self.count } else { 0 };
        *self = Self { item, count: count.saturating_add(1) };
    }
}

/// How often a bounded edge was taken for a work item, and what a person added to its bound.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Traversed {
    pub(crate) item: Option<ItemId>,
    pub(crate) count: u32,
    pub(crate) allowance: u32,
}

/// Why a work item was sent back to a node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FollowUps {
    pub(crate) item: Option<ItemId>,
    /// The newest reasons, oldest first, with their events and senders.
    pub(crate) reasons: VecDeque<(u64, NodeId, String)>,
}
