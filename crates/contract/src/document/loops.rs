//! Work that goes through items: loops, exits, `foreach`.

use crate::schema::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Condition, Extra};

/// A region that runs once for each work item.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopDoc {
    /// The sockets inside.
    #[serde(default)]
    pub sockets: Vec<String>,
    /// Where the list comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumes: Option<ConsumesDoc>,
    /// Where to go when the list is exhausted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exits: Vec<ExitDoc>,
    /// Short for the `advance` of one member and its exit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<ExitShorthandDoc>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The generator that feeds a loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConsumesDoc {
    /// The socket id of the generator.
    pub from: String,
    /// `workItems`.
    pub output: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A way out of an exhausted loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExitDoc {
    /// Stable and unique in its loop.
    pub id: String,
    /// The member that exhausted the loop.
    pub from: String,
    /// The verdict it asks for.
    pub condition: Condition,
    /// Where it leads: a socket of this loadout, `end` or `fail`.
    pub target_socket_id: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The short form of a loop's one exit, as the original system writes it.
///
/// Beside `consumes` the member also moves the cursor when `when` holds, unless it has an
/// `advance` of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExitShorthandDoc {
    /// The member that moves the cursor and leaves the loop.
    pub from: String,
    /// The verdict it asks for; `always` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// A socket of this loadout, `end` or `fail`; `end` it is if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Moves a loop's cursor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdvanceDoc {
    /// The name of the cursor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The list it walks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<String>,
    /// The verdict it asks for; `always` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Runs one socket once for each element of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForeachDoc {
    /// The path of the list.
    pub items: String,
    /// The name under which the element appears in the utility's `state`.
    #[serde(rename = "as", default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// The name of the cursor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
