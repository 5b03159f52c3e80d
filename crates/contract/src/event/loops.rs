//! Loops over work items.

use std::sync::Arc;

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::NodeId;

/// Data of `cursor.advanced`.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CursorAdvanced {
    /// The name of the cursor.
    pub cursor: String,
    /// Where it stands now.
    pub index: u32,
    /// How long the list is.
    pub count: u32,
    /// Whether it has passed the last item.
    pub exhausted: bool,
    /// The loop whose cursor it is; absent for a `foreach`.
    #[serde(rename = "loop")]
    pub region: Option<String>,
    /// The list, where it is frozen just now: a `foreach` is entered, or a loop had none before.
    pub items: Option<Arc<Vec<Value>>>,
}

/// Data of `loop.entered`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopEntered {
    /// The loop.
    #[serde(rename = "loop")]
    pub region: String,
    /// The number of the entry, from 1.
    pub entry: u32,
    /// How many items it will iterate; absent where it iterates no list.
    pub count: Option<u32>,
    /// The list that it will iterate; absent where that is what its generator produced last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Arc<Vec<Value>>>,
}

/// Data of `loop.exhausted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopExhausted {
    /// The loop.
    #[serde(rename = "loop")]
    pub region: String,
    /// The exit that is taken; absent means the end.
    pub exit: Option<String>,
    /// Where it leads: a node, or `end`.
    pub to: String,
}

/// Data of `follow_up.captured`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FollowUpCaptured {
    /// The turn that was not satisfied.
    pub turn: u64,
    /// The node that gets the reason.
    pub target: NodeId,
    /// The key of the work item.
    pub item: Option<String>,
    /// Why, bounded.
    pub reason: String,
}

/// Data of `item.skipped`: a person ended the current item of a loop.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemSkipped {
    /// The loop.
    #[serde(rename = "loop")]
    pub region: String,
    /// The item, from 0.
    pub index: u32,
    /// Its key.
    pub item: String,
    /// Its name for people.
    pub item_label: String,
    /// The payloads that waited for it inside the loop, and go with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<crate::Uuid>,
    /// Why, in a person's words.
    pub reason: Option<String>,
}
