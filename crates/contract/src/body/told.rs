use crate::schema::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RunId;

/// Answer where another process drives the cast: the command is in its inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Told {
    /// The cast.
    pub cast_id: RunId,
    /// Always true: the command waits in the inbox for the driver of the cast.
    pub told: bool,
    /// The events that followed from it; null where it has not been taken yet.
    pub events: Option<Vec<u64>>,
}
