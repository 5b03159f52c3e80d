//! What a run and its turns may do and spend.

use crate::schema::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Amount, Extra, ToolsDoc};

/// Bounds of a cast.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LimitsDoc {
    /// Further tries after an output that breaks the contract; 1 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_repairs: Option<u32>,
    /// Cycles that may close before the item moves; 3 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_no_advance_cycles: Option<u32>,
    /// Turns that may run at once; 64 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_concurrent_turns: Option<u32>,
    /// Turns of a socket with `routing: "all"` on a cycle without a bound, before a person is asked; 50 if
    /// left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_cycle_turns: Option<u32>,
    /// Further tries after a provider failed in a way that may pass; 4 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    /// Megabytes that a cast may keep, journal and files together, before it waits; 1024 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_storage_mb: Option<u64>,
    /// Megabytes of each stream of a command that are kept; 64 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = crate::OUTPUT_MB_MAX))]
    pub max_output_mb: Option<u64>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a cast may spend.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetDoc {
    /// Tokens, in and out together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_tokens: Option<u64>,
    /// Cost, in the currency of the provider's reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = crate::AMOUNT_MAX))]
    pub max_cost: Option<Amount>,
    /// Turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_turns: Option<u64>,
    /// When to warn; 75 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub warn_at_percent: Option<u32>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What one node may spend.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeBudgetsDoc {
    /// Turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// Time spent in turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = crate::time::DURATION_MS_MAX))]
    pub time_ms: Option<u64>,
    /// Cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = crate::AMOUNT_MAX))]
    pub cost: Option<Amount>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What turns of a node may do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyDoc {
    /// The tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolsDoc>,
    /// Folders that may be written to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Vec<String>>,
    /// Whether the network may be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<bool>,
    /// Whether its turns may control casts: start, approve, carry on and end them. They may not by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steer: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
