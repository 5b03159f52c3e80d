use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};

use crate::{Do, NodeId};

/// Why a node ran, or why it does not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Why {
    /// The node.
    pub node: NodeId,
    /// Whether it has had a turn.
    pub ran: bool,
    /// How many turns it has had.
    pub visits: u32,
    /// The answer in one sentence, with event numbers.
    pub sentence: String,
    /// The facts behind it, oldest first.
    pub because: Vec<Because>,
    /// Whether the scheduler would start a turn there.
    pub runnable: bool,
    /// The conditions that the scheduler checks.
    pub conditions: Vec<Condition>,
    /// The smallest thing that would let it run; absent where nothing would.
    pub suggestion: Option<Suggestion>,
}

/// One fact behind an answer.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Because {
    /// The event that made it true, if one did.
    pub seq: Option<u64>,
    /// The fact in a sentence.
    pub text: String,
}

/// Something that must hold before a node runs, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Its name.
    pub name: String,
    /// Whether it holds.
    pub holds: bool,
    /// Its state in a sentence.
    pub text: String,
    /// The events that made it so.
    pub events: Vec<u64>,
    /// Its parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<Self>,
}

/// The smallest thing found that lets a node run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    /// All of it in one sentence.
    pub sentence: String,
    /// The steps, in order.
    pub steps: Vec<SuggestedStep>,
}

/// One thing to do.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuggestedStep {
    /// Its kind: `fork`, `wait`, or the name of the command.
    pub kind: String,
    /// The step as a command with its arguments.
    #[serde(flatten)]
    pub what: Suggested,
    /// The command to type, where it is one.
    pub command: Option<String>,
    /// Its effect in a sentence.
    pub text: String,
}

/// Something that a person does to a run, or waits for.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Suggested {
    /// Begin a new run that shares events; what follows is done to that one.
    Fork {
        /// The last event that is shared.
        at: u64,
        /// Whether nothing starts there by itself.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        interactive: bool,
    },
    /// Wait for a turn to end.
    Wait {
        /// Its `turn.started`; a fork will have one of its own.
        turn: Option<u64>,
        /// Its node.
        node: NodeId,
    },
    /// Do something to the run.
    #[serde(untagged)]
    Do(Do),
}

impl SuggestedStep {
    /// A step with its name.
    pub fn new(what: Suggested, command: Option<String>, text: String) -> Self {
        let kind = match &what {
            Suggested::Fork { .. } => "fork",
            Suggested::Wait { .. } => "wait",
            Suggested::Do(Do::NodeBudget { .. }) => "node_budget",
            Suggested::Do(Do::GlobalMode { .. }) => "global_mode",
            Suggested::Do(what) => what.name(),
        };
        Self { kind: kind.to_owned(), what, command, text }
    }
}
