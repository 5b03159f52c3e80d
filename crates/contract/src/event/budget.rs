//! Budgets of a run and of its nodes.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};

use crate::Amount;

/// Data of `budget.warned`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetWarned {
    /// Which bound.
    pub bound: BudgetBound,
    /// The amount that was spent.
    pub spent: Amount,
    /// The budget.
    pub limit: Amount,
}

/// A bound of a budget.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum BudgetBound {
    /// Tokens.
    Tokens,
    /// Cost.
    Cost,
    /// Turns.
    Turns,
}

/// Data of `budget.changed`.
#[omit_none]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetChanged {
    /// The run's budget from now on.
    pub budget: Option<crate::Budget>,
    /// The node's budget from now on, where the event names a node.
    pub node_budgets: Option<crate::NodeBudgets>,
}

/// Data of `node.blocked`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeBlocked {
    /// Why, in words.
    pub reason: String,
}

/// Data of `storage.measured`: what a cast keeps, and the room that its disk has left. Written when that decides whether
/// anything may start.
#[omit_none]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StorageMeasured {
    /// Megabytes that the cast keeps, journal and files together.
    pub used_mb: u64,
    /// Megabytes that are free where it keeps them.
    pub free_mb: u64,
    /// Megabytes that have to stay free there.
    pub floor_mb: u64,
    /// The disk in bytes. Where present it decides, because a small disk has less than a megabyte to keep free.
    pub disk: Option<DiskMeasured>,
}

/// The room that a disk has left, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiskMeasured {
    /// Free bytes.
    pub free: u64,
    /// Bytes that must stay free.
    pub floor: u64,
}

impl StorageMeasured {
    /// Whether a cast with this storage limit may start turns.
    pub fn leaves_room(&self, max_mb: u64) -> bool {
        let fits = |disk: DiskMeasured| disk.free >= disk.floor;
        self.used_mb < max_mb && self.disk.map_or(self.free_mb >= self.floor_mb, fits)
    }
}
