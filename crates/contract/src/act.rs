//! Acts on a run: by a person, a program or the timeline of a script.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{Budget, EnvelopeKind, GlobalMode, NodeBudgets, NodeId, Pace, PayloadStatus};

/// An actor: `person`, `timeline`, or the name of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Actor(std::borrow::Cow<'static, str>);

impl Actor {
    /// A person at a terminal.
    pub const PERSON: Self = Self(std::borrow::Cow::Borrowed("person"));
    /// The timeline of a script.
    pub const TIMELINE: Self = Self(std::borrow::Cow::Borrowed("timeline"));

    /// A person at a terminal, the default actor.
    pub fn person() -> Self {
        Self::PERSON
    }

    /// An actor of that name.
    pub fn named(name: impl Into<String>) -> Self {
        Self(std::borrow::Cow::Owned(name.into()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One thing done to a run, by a person, a program or a timeline: the one vocabulary of the command
/// line, the inbox, recorded inputs, suggestions and timelines.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Do {
    /// Puts a payload on an edge, as if its source had produced it.
    Offer {
        /// The edge: its id, or `FROM->TO`.
        edge: String,
        /// The payload to put on the edge.
        payload: Offered,
    },
    /// Asks for a turn of a node. Where the node asks a person before it runs, that is refused while
    /// its question is open or was answered with no, unless it is approved as well (D56).
    Trigger {
        /// The node.
        node: NodeId,
        /// An extra message for the turn, beside its inputs.
        message: Option<String>,
        /// Whether the question of the node is answered with yes, too.
        #[serde(default, skip_serializing_if = "is_false")]
        approve: bool,
        /// The question that was shown; otherwise the newest.
        hash: Option<String>,
    },
    /// Allows the turn that waits at a node.
    Approve {
        /// The node.
        node: NodeId,
        /// The question that was shown; otherwise the newest.
        hash: Option<String>,
    },
    /// Refuses the turn that waits at a node. Its inputs are kept, unless the refusal is to lead on.
    Deny {
        /// The node.
        node: NodeId,
        /// The question that was shown; otherwise the newest.
        hash: Option<String>,
        /// Why, in a person's words.
        reason: Option<String>,
        /// Whether the runtime answers the turn itself with `satisfied: false` and the reason, so that
        /// the run goes on. It needs an edge that is guarded by `not_satisfied`.
        #[serde(default, skip_serializing_if = "is_false")]
        route: bool,
    },
    /// Changes whether the scheduler starts turns.
    Mode {
        /// From now on.
        value: Pace,
    },
    /// Starts nothing more for now; turns under way go on to their end.
    Pause,
    /// Changes what turns may write.
    GlobalMode {
        /// From now on.
        value: GlobalMode,
    },
    /// The process that drives the run loses its memory. Only in simulated time.
    Crash,
    /// Says something to a node.
    Say {
        /// The node; where it is left out, the one that waits.
        node: Option<NodeId>,
        /// The message.
        text: String,
    },
    /// Finishes a multi-turn node.
    Continue {
        /// The node; where it is left out, the one that waits.
        node: Option<NodeId>,
    },
    /// Changes what the run may spend.
    Budget {
        /// From now on; a bound that is left out stays as it is.
        budget: Budget,
    },
    /// Changes what one node may spend.
    NodeBudget {
        /// The node.
        node: NodeId,
        /// From now on; a bound that is left out stays as it is.
        budgets: NodeBudgets,
    },
    /// Carries the run on.
    Resume {
        /// The pace from now on. Where it is left out, a run that a person had paused goes on by
        /// itself, and one that merely lost its process keeps its pace.
        pace: Option<Pace>,
    },
    /// Tries the failed turn again.
    Recast,
    /// Gives an exhausted run further allowance.
    Revive,
    /// Ends the current item of a loop as not satisfied, and moves on.
    Skip {
        /// The loop; where it is left out, the innermost one that is at work on an item.
        #[serde(rename = "loop")]
        region: Option<String>,
        /// Why, in a person's words.
        reason: Option<String>,
    },
    /// Stops the run for now, so that it can be carried on.
    Stop {
        /// A sentence for later readers.
        message: Option<String>,
    },
    /// Ends the run for good.
    Abort {
        /// The person or the reason.
        reason: Option<String>,
    },
}

impl Do {
    /// Asks for a turn of a node, and for nothing else.
    pub fn trigger(node: NodeId, message: Option<String>) -> Self {
        Self::Trigger { node, message, approve: false, hash: None }
    }

    /// Answers the newest question of a node with yes.
    pub fn approve(node: NodeId) -> Self {
        Self::Approve { node, hash: None }
    }

    /// Answers the newest question of a node with no.
    pub fn deny(node: NodeId) -> Self {
        Self::Deny { node, hash: None, reason: None, route: false }
    }

    /// Its name, as it is written.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Offer { .. } => "offer",
            Self::Trigger { .. } => "trigger",
            Self::Approve { .. } => "approve",
            Self::Deny { .. } => "deny",
            Self::Mode { .. } => "mode",
            Self::Pause => "pause",
            Self::GlobalMode { .. } => "globalMode",
            Self::Crash => "crash",
            Self::Say { .. } => "say",
            Self::Continue { .. } => "continue",
            Self::Budget { .. } => "budget",
            Self::NodeBudget { .. } => "nodeBudget",
            Self::Resume { .. } => "resume",
            Self::Recast => "recast",
            Self::Revive => "revive",
            Self::Skip { .. } => "skip",
            Self::Stop { .. } => "stop",
            Self::Abort { .. } => "abort",
        }
    }

    /// Whether it can be decided together with other inputs of one instant (D7). All others are decided alone.
    pub fn is_of_an_instant(&self) -> bool {
        match self {
            Self::Offer { .. }
            | Self::Trigger { .. }
            | Self::Approve { .. }
            | Self::Deny { .. }
            | Self::Mode { .. }
            | Self::Pause
            | Self::GlobalMode { .. }
            | Self::Crash => true,
            Self::Say { .. }
            | Self::Continue { .. }
            | Self::Budget { .. }
            | Self::NodeBudget { .. }
            | Self::Resume { .. }
            | Self::Recast
            | Self::Revive
            | Self::Skip { .. }
            | Self::Stop { .. }
            | Self::Abort { .. } => false,
        }
    }

    /// Whether a timeline may do it. What does not belong to an instant stands alone at its instant there.
    pub fn may_be_scripted(&self) -> bool {
        let alone = matches!(
            self,
            Self::Say { .. }
                | Self::Continue { .. }
                | Self::Skip { .. }
                | Self::Budget { .. }
                | Self::NodeBudget { .. }
        );
        alone || self.is_of_an_instant()
    }

    /// A value that it cannot have, as a sentence.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        if let Self::Budget { budget } = self {
            return budget.fault();
        }
        let Self::NodeBudget { budgets, .. } = self else { return None };
        budgets.fault()
    }

    /// Whether it can set a run going again that has ended.
    pub fn revives(&self) -> bool {
        matches!(self, Self::Recast | Self::Revive | Self::Skip { .. })
    }

    /// Whether the turns in flight end on its account.
    pub fn ends_turns(&self) -> bool {
        matches!(self, Self::Stop { .. } | Self::Abort { .. })
    }
}

/// For fields that are left out unless they are set.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// The content of an offered payload.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Offered {
    /// Its identity; derived where it is left out.
    pub payload_id: Option<Uuid>,
    /// Kind of the payload; `message` by default.
    pub kind: Option<EnvelopeKind>,
    /// Text.
    pub message: Option<String>,
    /// A parsed value.
    pub structured: Option<Value>,
    /// Things that travel with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<crate::ArtifactRef>,
    /// The verdict of its source.
    pub status: Option<PayloadStatus>,
}

impl Offered {
    /// The content, without the id and the kind.
    pub fn content(&self) -> crate::PayloadContent {
        crate::PayloadContent {
            message: self.message.clone(),
            structured: self.structured.clone(),
            artifacts: self.artifacts.clone(),
            status: self.status.clone(),
        }
    }
}

/// Something that happens at a simulated instant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelineEntry {
    /// The instant, from the beginning of the run.
    #[serde(deserialize_with = "crate::time::duration_ms")]
    #[schemars(range(max = crate::time::DURATION_MS_MAX))]
    pub at_ms: u64,
    /// The act.
    #[serde(flatten)]
    pub act: Do,
}
