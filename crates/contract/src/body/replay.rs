use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{CastStatus, RunId};

/// What came of verifying a cast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ReplayBody {
    /// Everything holds.
    Verified(Verified),
    /// Something does not.
    Mismatch(Mismatch),
}

/// A cast whose events all hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verified {
    /// The cast.
    pub cast_id: RunId,
    /// Always `true`.
    pub ok: bool,
    /// How many events were verified.
    pub events: u64,
    /// The last event that an earlier version wrote, without what it was decided on: up to there only the hashes
    /// could be checked. 0 where there is none.
    pub undecided: u64,
    /// Where it stands.
    pub status: CastStatus,
    /// The variables.
    pub state: Map<String, Value>,
    /// The last event that was asked for.
    pub last_seq: u64,
    /// Its hash.
    pub last_hash: String,
}

/// A cast of which something does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Mismatch {
    /// The cast.
    pub cast_id: RunId,
    /// Always `false`.
    pub ok: bool,
    /// The first event that does not follow; absent where the damage lies beside the events.
    pub seq: Option<u64>,
    /// What is wrong with it, in words.
    pub fault: String,
}
