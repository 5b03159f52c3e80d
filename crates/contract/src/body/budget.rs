use crate::schema::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Budget, CastStatus, RunId, UsageTotals};

/// Budget and usage of a cast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetBody {
    /// The cast.
    pub cast_id: RunId,
    /// Where it stands.
    pub status: CastStatus,
    /// Its budget; an absent bound is no bound.
    pub budget: Budget,
    /// Its usage so far.
    pub usage: UsageTotals,
}
