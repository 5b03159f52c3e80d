//! Events that start or end a turn, and how a turn ended.

use super::{
    EventBody, TurnCompleted, TurnFailed, TurnInterrupted, TurnOutput, TurnStarted, TurnUsage,
};
use crate::enum_words::words;
use crate::{Amount, ErrorCode};

words!(
    /// How an attempt ended.
    Outcome {
        /// With a result.
        Completed = "completed",
        /// With an output that broke its contract.
        Rejected = "rejected",
        /// Without a result.
        Failed = "failed",
        /// With an unknown result.
        Interrupted = "interrupted",
        /// Not yet.
        Running = "running",
    }
);

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
    pub fn of_turn(&self) -> Option<OfTurn<'_>> {
        if let Self::TurnStarted(data) = self {
            Some(OfTurn::Started(data))
        } else if let Self::TurnCompleted(data) = self {
            Some(OfTurn::Completed(data))
        } else if let Self::TurnFailed(data) = self {
            Some(OfTurn::Failed(data))
        } else if let Self::TurnInterrupted(data) = self {
            Some(OfTurn::Interrupted(data))
        } else {
            None
        }
    }
}

impl Outcome {
    /// The word for people, with the verdict of the turn.
    pub fn with_verdict(self, satisfied: Option<bool>) -> &'static str {
        match (self, satisfied) {
            (Self::Completed, Some(true)) => "satisfied",
            (Self::Completed, Some(false)) => "not satisfied",
            (outcome, _) => outcome.word(),
        }
    }
}

impl<'a> OfTurn<'a> {
    /// How the turn ended, if this is its end.
    pub fn end(self) -> Option<TurnEnd<'a>> {
        match self {
            Self::Started(_) => None,
            Self::Completed(data) => Some(TurnEnd {
                turn: data.turn,
                outcome: Outcome::Completed,
                satisfied: data.satisfied,
                failure: None,
                report: Some(&data.report),
            }),
            Self::Failed(data) => {
                let broken = data.code == ErrorCode::ContractError;
                Some(TurnEnd {
                    turn: data.turn,
                    outcome: if broken { Outcome::Rejected } else { Outcome::Failed },
                    satisfied: None,
                    failure: Some((data.code, &data.message)),
                    report: Some(&data.report),
                })
            }
            Self::Interrupted(data) => Some(TurnEnd {
                turn: data.turn,
                outcome: Outcome::Interrupted,
                satisfied: None,
                failure: None,
                report: None,
            }),
        }
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
    /// Why it failed, with the message.
    pub failure: Option<(ErrorCode, &'a str)>,
    /// Its report, unless it was interrupted.
    pub report: Option<&'a TurnOutput>,
}

impl TurnEnd<'_> {
    /// Its tokens, as far as they were reported.
    pub fn tokens(&self) -> Option<u64> {
        self.report?.usage.as_ref().and_then(TurnUsage::tokens)
    }

    /// Its cost, as far as it was reported.
    pub fn cost(&self) -> Option<Amount> {
        self.report?.usage?.cost
    }
}
