//! Acts of people, or of a timeline, on a run.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Do, GlobalMode, Pace};

/// Data of `turn.requested`. A message becomes a payload with the id of this event.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnRequested {
    /// A message for the node, besides its inputs.
    pub message: Option<String>,
    /// The payload that the message becomes.
    pub payload_id: Option<Uuid>,
}

/// Data of `approval.requested`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRequested {
    /// A hash of the turn that would run: its node, item and payloads.
    pub hash: String,
    /// The payloads, in order.
    pub payloads: Vec<Uuid>,
}

/// Data of `approval.given`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalGiven {
    /// The hash of the turn that may run. Anything else must be asked for again.
    pub hash: String,
}

/// Data of `approval.denied`.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalDenied {
    /// The hash of the turn that may not run. Its inputs are kept, unless the refusal leads on.
    pub hash: String,
    /// Why, in the person's words.
    pub reason: Option<String>,
    /// Whether the runtime answers the turn itself, not satisfied, so that the run goes on (D56).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub route: bool,
}

/// Data of `timeline.reached`: the next entry of the script's timeline takes effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelineReached {
    /// Its place in the timeline, from 0.
    pub index: u32,
    /// The act.
    pub act: Do,
}

/// Data of `mode.changed`.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModeChanged {
    /// The mode from now on.
    pub value: Mode,
    /// Why: `stall`, `person`, `timeline`, `resume`.
    pub reason: String,
    /// The turns that were alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<u64>,
    /// A sentence about what these turns have in common.
    pub message: Option<String>,
}

/// A mode of a run: whether the scheduler starts turns, or what turns may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Mode {
    /// Whether the scheduler starts turns.
    Pace(Pace),
    /// Where turns may write: PLANNING or IMPLEMENTATION.
    Global(GlobalMode),
}

/// Data of `message.received`. The payload's id is the id of this event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageReceived {
    /// The payload.
    pub payload_id: Uuid,
    /// The text.
    pub text: String,
}

/// Data of `socket.finished`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SocketFinished {
    /// The last turn of the socket, whose result counts.
    pub turn: u64,
}
