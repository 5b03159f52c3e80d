//! How a turn ended, from the event that ends it.

use materia_contract::{
    Amount, ErrorCode, EventBody, FileState, Outcome, TurnInterrupted, TurnOutput, TurnUsage,
};

/// The end of a turn.
#[derive(Debug, Clone, Copy)]
pub struct TurnEnd<'a> {
    /// The event that started the turn.
    pub turn: u64,
    /// The number of the visit, from 1.
    pub visit: u32,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// Its verdict.
    pub satisfied: Option<bool>,
    /// Where in its output its object stands.
    pub object: Option<(usize, usize)>,
    /// Why it failed, with the message.
    pub failure: Option<(ErrorCode, &'a str)>,
    /// The event, if it was interrupted.
    pub interrupted: Option<&'a TurnInterrupted>,
    /// Its report, unless it was interrupted.
    pub report: Option<&'a TurnOutput>,
}

impl<'a> TurnEnd<'a> {
    /// The end of a turn, if the event is one.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other event ends a turn")]
    #[must_use]
    pub fn of(body: &'a EventBody) -> Option<Self> {
        let ended = |turn, visit, attempt, outcome| {
            let (satisfied, object, failure, interrupted, report) = (None, None, None, None, None);
            Self { turn, visit, attempt, outcome, satisfied, object, failure, interrupted, report }
        };
        match body {
            EventBody::TurnCompleted(data) => Some(Self {
                satisfied: data.satisfied,
                object: data.object,
                report: Some(&data.report),
                ..ended(data.turn, data.visit, data.attempt, Outcome::Completed)
            }),
            EventBody::TurnFailed(data) => {
                let broken = data.code == ErrorCode::ContractError;
                let outcome = if broken { Outcome::Rejected } else { Outcome::Failed };
                Some(Self {
                    failure: Some((data.code, &data.message)),
                    report: Some(&data.report),
                    ..ended(data.turn, data.visit, data.attempt, outcome)
                })
            }
            EventBody::TurnInterrupted(data) => Some(Self {
                interrupted: Some(data),
                ..ended(data.turn, data.visit, data.attempt, Outcome::Interrupted)
            }),
            _ => None,
        }
    }

    /// Its tokens, as far as they were reported.
    #[must_use]
    pub fn tokens(&self) -> Option<u64> {
        self.report?.usage.as_ref().and_then(TurnUsage::tokens)
    }

    /// Its cost, as far as it was reported.
    #[must_use]
    pub fn cost(&self) -> Option<Amount> {
        self.report?.usage?.cost
    }

    /// The files that it left, where the run has a workspace.
    #[must_use]
    pub fn files_left(&self) -> Option<FileState> {
        match self.interrupted {
            Some(data) => data.files.clone(),
            None => self.report?.files_left(),
        }
    }

    /// The tree of the files that it left, where one was noted.
    #[must_use]
    pub fn tree_left(&self) -> Option<&'a String> {
        match self.interrupted {
            Some(data) => data.files.as_ref().map(|files| &files.tree),
            None => self.report?.tree.as_ref(),
        }
    }
}
