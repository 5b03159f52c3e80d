use crate::schema::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Budget, CastStatus, RunId, UsageTotals};

/// What a cast may spend, and what it has spent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetBody {
    /// The cast.
    pub cast_id: RunId,
    /// Where it stands.
    pub status: CastStatus,
    /// What it may spend; what is absent is not bounded.
    pub budget: Budget,
    /// What it has spent.
    pub usage: UsageTotals,
}
