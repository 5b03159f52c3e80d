//! Work that goes through items: loops, exits, `foreach`.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};

use crate::{Condition, Extra};

/// A loop: its sockets run once for each work item.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopDoc {
    /// The sockets inside the loop.
    #[serde(default)]
    #[schemars(extend("examples" = [["build", "check"]]))]
    pub sockets: Vec<String>,
    /// The generator that the list of work items comes from.
    #[schemars(extend("examples" = [{"from": "plan", "output": "workItems"}]))]
    pub consumes: Option<ConsumesDoc>,
    /// The ways out of the loop after the last item. The exit for the verdict wins, then `always`; without one the
    /// cast ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [[{"id": "done", "from": "check", "condition": "always", "targetSocketId": "end"}]]))]
    pub exits: Vec<ExitDoc>,
    /// The short form for a loop with one exit.
    #[schemars(extend("examples" = [{"from": "check", "to": "end"}]))]
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
    #[schemars(extend("examples" = ["plan"]))]
    pub from: String,
    /// Always `workItems`.
    #[schemars(extend("examples" = ["workItems"]))]
    pub output: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A way out of a loop after its last item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExitDoc {
    /// A name for the exit, unique in its loop.
    #[schemars(extend("examples" = ["done"]))]
    pub id: String,
    /// The socket in the loop that finishes the last item.
    #[schemars(extend("examples" = ["check"]))]
    pub from: String,
    /// The verdict that the exit needs.
    #[schemars(extend("examples" = ["satisfied"]))]
    pub condition: Condition,
    /// The next socket, `end` or `fail`.
    #[schemars(extend("examples" = ["report"]))]
    pub target_socket_id: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The short form for a loop with one exit.
///
/// With `consumes`, the socket in `from` also moves the loop on when `when` holds, unless it has its own
/// `advance`.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExitShorthandDoc {
    /// The socket in the loop that moves to the next item and leaves after the last.
    #[schemars(extend("examples" = ["check"]))]
    pub from: String,
    /// The verdict that the exit needs.
    #[schemars(extend("default" = "always", "examples" = ["satisfied"]))]
    pub when: Option<Condition>,
    /// The next socket, `end` or `fail`.
    #[schemars(extend("default" = "end", "examples" = ["report"]))]
    pub to: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Moves a loop to its next item.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdvanceDoc {
    /// The name of the cursor: a variable that holds the number of the present item.
    #[schemars(extend("default" = "workItemIndex", "examples" = ["fileIndex"]))]
    pub cursor: Option<String>,
    /// The path of the list. Not needed in a loop with `consumes`.
    #[schemars(extend("examples" = ["state.files"]))]
    pub items: Option<String>,
    /// The verdict for which the loop moves to the next item.
    #[schemars(extend("default" = "always", "examples" = ["satisfied"]))]
    pub when: Option<Condition>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Runs one socket once for each element of a list.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForeachDoc {
    /// The path of the list.
    #[schemars(extend("examples" = ["state.todo.files"]))]
    pub items: String,
    /// The name of the element in the utility's `state`.
    #[serde(rename = "as")]
    #[schemars(extend("default" = "item", "examples" = ["file"]))]
    pub alias: Option<String>,
    /// The name of the cursor. By default the socket id with `Index` behind it.
    #[schemars(extend("examples" = ["fileIndex"]))]
    pub cursor: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
