//! Acts on a cast, and their results.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};

use crate::body::WorkspaceBody;
use crate::{Do, NodeId, OpenQuestion, Pace, RunId};

/// Something that is done to a cast: a command, or a fork.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ActBody {
    /// A new cast that shares the history up to an event.
    Fork(ForkBody),
    /// A cast goes on, in a workspace with the files that the last event names.
    Resume(ResumeBody),
    /// A command.
    Do(Do),
}

/// A new cast that shares the history of another.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ForkBody {
    /// Always `fork`.
    #[serde(rename = "do")]
    pub what: ForkWord,
    /// The last event that is shared; of a cast that failed otherwise the one before the turn that failed.
    pub at: Option<u64>,
    /// The id of the new cast; otherwise one is made up.
    pub cast_id: Option<String>,
    /// No turn of the new cast starts by itself.
    #[serde(default)]
    pub interactive: bool,
}

/// The word `fork`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ForkWord {
    /// The only value.
    Fork,
}

/// A cast in a workspace goes on with the files that the last event names.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResumeBody {
    /// Always `resume`.
    #[serde(rename = "do")]
    pub what: ResumeWord,
    /// Restores the files that were changed since the last turn.
    pub put_back: bool,
    /// Whether turns start by themselves.
    pub pace: Option<Pace>,
}

/// The word `resume`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResumeWord {
    /// The only value.
    Resume,
}

/// Removes workspace, branch and refs of a cast.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct DropBody {
    /// Must be true: what is removed may be nowhere else.
    pub confirm: bool,
}

/// Result of an act on a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceActed {
    /// The result in a sentence.
    pub message: String,
    /// The workspace afterwards.
    pub workspace: WorkspaceBody,
}

/// Result of an act.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Acted {
    /// The first and the last of the events that followed; empty where nothing changed.
    pub events: Vec<u64>,
    /// The cast that a fork began.
    pub cast_id: Option<RunId>,
    /// True if the command waits in the inbox for the next driver of the cast.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
    /// The open questions in those events, including one that changed since it was answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<OpenQuestion>,
    /// The reason why it waits, in a sentence.
    pub message: Option<String>,
}

/// A cast that is handed over.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct DriveBody {
    /// The project: its folder.
    pub project: Option<String>,
    /// The act: `resume`, `recast` or `revive`; `resume` by default.
    #[serde(rename = "do")]
    pub what: Option<Do>,
    /// Variables that an agent of it needs and that are set where it was prepared.
    pub needs: Vec<String>,
    /// The agent of every socket that names none.
    pub provider: Option<String>,
}

/// Something that a person can do to bring a cast on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Next {
    /// Say something to the socket that waits; what, the person knows.
    Say,
    /// Let one socket spend more; how much, the person knows.
    NodeBudget {
        /// The socket.
        node: NodeId,
        /// The bounds that it has.
        bounds: Vec<NodeBound>,
    },
    /// Resume with the files that the last event names, without later changes (W10).
    #[serde(rename = "resume")]
    PutBack {
        /// Always true.
        put_back: bool,
    },
    /// Exactly this.
    #[serde(untagged)]
    Do(Do),
}

impl From<Do> for Next {
    fn from(what: Do) -> Self {
        Self::Do(what)
    }
}

/// A bound of one socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum NodeBound {
    /// Time spent in its turns.
    TimeMs,
    /// Cost.
    Cost,
    /// Turns.
    Turns,
}
