use crate::schema::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{CastStatus, RunId};

/// Result of verifying a cast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ReplayBody {
    /// Everything holds, as far as it could be checked.
    Verified(Verified),
    /// Something does not.
    Mismatch(Mismatch),
}

/// A cast of which everything holds that could be checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verified {
    /// The cast.
    pub cast_id: RunId,
    /// `true`; `null` where it is unknown whether all events follow, see `undecided`.
    pub ok: Option<bool>,
    /// How many events were verified.
    pub events: u64,
    /// How many of them another version wrote, by other rules or without what they were decided on: of those only the
    /// hashes could be checked.
    pub undecided: u64,
    /// How many transcripts were removed because of their age.
    #[serde(default, skip_serializing_if = "is_none")]
    pub gone: u64,
    /// Whether texts were replaced by their length. Then texts and hashes were not checked, and `lastHash` is empty.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
    /// Where it stands.
    pub status: CastStatus,
    /// The variables.
    pub state: Map<String, Value>,
    /// The last event that was asked for.
    pub last_seq: u64,
    /// Its hash.
    pub last_hash: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// A cast of which something does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Mismatch {
    /// The cast.
    pub cast_id: RunId,
    /// Always `false`.
    pub ok: bool,
    /// The first event that does not follow; absent where the damage is not in the events.
    pub seq: Option<u64>,
    /// The fault in a sentence.
    pub fault: String,
}
