//! What a run or a node may spend.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Amount;

/// Data of `budget.warned`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetWarned {
    /// Which bound.
    pub bound: BudgetBound,
    /// What has been spent.
    pub spent: Amount,
    /// What may be spent.
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetChanged {
    /// The run's budget from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<crate::Budget>,
    /// The node's budget from now on, where the event names a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_budgets: Option<crate::NodeBudgets>,
}

/// Data of `node.blocked`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeBlocked {
    /// Why, in words.
    pub reason: String,
}
