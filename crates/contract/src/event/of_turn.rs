//! Events that start or end a turn, and how a turn ended.

use serde::{Deserialize, Serialize};

use super::{EventBody, TurnCompleted, TurnFailed, TurnInterrupted, TurnOutput, TurnStarted};
use crate::ErrorCode;
use crate::schema::JsonSchema;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// With a result.
    Completed,
    /// With an output that broke its contract.
    Rejected,
    /// Without a result.
    Failed,
    /// With an unknown result.
    Interrupted,
    /// Not yet.
    Running,
}

/// The event that starts or ends a turn.
#[derive(Debug, Clone, Copy)]
pub enum OfTurn<'a> {
    /// It starts.
    Started(&'a TurnStarted),
    /// It ended by itself.
    Completed(&'a TurnCompleted),
    /// It failed.
    Failed(&'a TurnFailed),
    /// Its result is unknown.
    Interrupted(&'a TurnInterrupted),
}

impl EventBody {
    /// The data of the event, if it starts or ends a turn.
    #[must_use]
    pub fn of_turn(&self) -> Option<OfTurn<'_>> {
        match self {
            Self::TurnStarted(data) => Some(OfTurn::Started(data)),
            Self::TurnCompleted(data) => Some(OfTurn::Completed(data)),
            Self::TurnFailed(data) => Some(OfTurn::Failed(data)),
            Self::TurnInterrupted(data) => Some(OfTurn::Interrupted(data)),
            Self::RunCreated(_)
            | Self::RunResumed(_)
            | Self::RunWaiting(_)
            | Self::RunCompleted(_)
            | Self::RunFailed(_)
            | Self::RunAborted(_)
            | Self::RouteSelected(_)
            | Self::HandoffSent(_)
            | Self::PayloadDelivered(_)
            | Self::PayloadConsumed(_)
            | Self::StatePatched(_)
            | Self::OutputFieldsIgnored(_)
            | Self::CursorAdvanced(_)
            | Self::LoopEntered(_)
            | Self::LoopExhausted(_)
            | Self::ItemSkipped(_)
            | Self::FollowUpCaptured(_)
            | Self::BudgetWarned(_)
            | Self::NodeBlocked(_)
            | Self::ModeChanged(_)
            | Self::PayloadSuperseded(_)
            | Self::PayloadDropped(_)
            | Self::PayloadDeduplicated(_)
            | Self::PayloadFiltered(_)
            | Self::TimerSet(_)
            | Self::TimerFired(_)
            | Self::TurnRequested(_)
            | Self::ApprovalRequested(_)
            | Self::ApprovalGiven(_)
            | Self::ApprovalDenied(_)
            | Self::TimelineReached(_)
            | Self::BudgetChanged(_)
            | Self::RunRevived(_)
            | Self::MessageReceived(_)
            | Self::SocketFinished(_)
            | Self::AgentsChosen(_)
            | Self::StorageMeasured(_)
            | Self::WorkspacePublishing(_)
            | Self::WorkspacePublished(_) => None,
        }
    }
}

impl<'a> OfTurn<'a> {
    /// How the turn ended, if this is its end.
    #[must_use]
    pub fn end(self) -> Option<TurnEnd<'a>> {
        let (turn, outcome, satisfied, report) = match self {
            Self::Started(_) => return None,
            Self::Completed(data) => {
                (data.turn, Outcome::Completed, data.satisfied, Some(&data.report))
            }
            Self::Failed(data) => {
                let broken = data.code == ErrorCode::ContractError;
                let outcome = if broken { Outcome::Rejected } else { Outcome::Failed };
                (data.turn, outcome, None, Some(&data.report))
            }
            Self::Interrupted(data) => (data.turn, Outcome::Interrupted, None, None),
        };
        Some(TurnEnd { turn, outcome, satisfied, report })
    }
}

/// The end of a turn.
#[derive(Debug, Clone, Copy)]
pub struct TurnEnd<'a> {
    /// The event that started the turn.
    pub turn: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Its verdict.
    pub satisfied: Option<bool>,
    /// Its report, unless it was interrupted.
    pub report: Option<&'a TurnOutput>,
}
