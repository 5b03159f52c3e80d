//! Decides again what was decided, from the inputs that the events record.

use std::collections::VecDeque;

use materia_contract::time::Micros;
use materia_contract::{ErrorCode, Event, EventBody, InterruptReason, RunId, RunResumed};

use crate::draft::Draft;
use crate::{Input, Report, Run, TurnOutcome, schedule, settle, step};

/// The first event that this program would not have written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Divergence {
    /// It would have written another one.
    #[error("event {seq} is `{}`, but the same inputs give `{}`", .found.body.type_name(), .expected.body.type_name())]
    Differs {
        /// Its place.
        seq: u64,
        /// What is in the journal.
        found: Box<Event>,
        /// What follows from the inputs.
        expected: Box<Event>,
    },
    /// No input can begin with it.
    #[error("event {seq} (`{kind}`) follows from nothing before it")]
    Unexplained {
        /// Its place.
        seq: u64,
        /// Its type.
        kind: &'static str,
    },
}

/// A run that decides again, beside a journal that is being read.
#[derive(Debug)]
pub struct Recomputation {
    run: Run,
    /// Events that the decision under way still expects.
    expected: VecDeque<Event>,
}

impl Recomputation {
    /// Begins before the first event.
    #[must_use]
    pub fn new(id: RunId) -> Self {
        Self { run: Run::new(id), expected: VecDeque::new() }
    }

    /// The run behind the decision under way.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Whether the journal may end here: no decision is half told, and nothing is left to start.
    #[must_use]
    pub fn is_between_decisions(&mut self) -> bool {
        let now = self.run.ts;
        self.expected.is_empty() && schedule(&mut self.run, now).is_empty()
    }

    /// Compares the first event of `upcoming` with what the inputs so far lead to.
    ///
    /// The events behind it are looked at only where the input is told by a later one: why a turn
    /// was interrupted stands behind all that were.
    pub fn next(&mut self, upcoming: &[Event]) -> Result<(), Divergence> {
        let Some(found) = upcoming.first() else { return Ok(()) };
        if self.expected.is_empty() {
            let unexplained =
                || Divergence::Unexplained { seq: found.seq, kind: found.body.type_name() };
            let events = match report_of(found) {
                // Several turns may have ended at one instant, so that scheduling waits.
                Some(report) => absorb(&mut self.run, found.ts, report),
                None => match input_of(&self.run, upcoming) {
                    Some(input) => step(&mut self.run, found.ts, input).ok(),
                    None => Some(schedule(&mut self.run, found.ts)),
                },
            };
            self.expected = events.ok_or_else(unexplained)?.into();
        }
        let expected = self
            .expected
            .pop_front()
            .ok_or(Divergence::Unexplained { seq: found.seq, kind: found.body.type_name() })?;
        // The wall clock may lag behind logical time; it decides nothing.
        let same = expected.seq == found.seq
            && expected.ts == found.ts
            && expected.node == found.node
            && expected.body == found.body;
        if same {
            return Ok(());
        }
        let found = Box::new(found.clone());
        Err(Divergence::Differs { seq: found.seq, found, expected: Box::new(expected) })
    }
}

/// The report that an event records, if it records one.
fn report_of(event: &Event) -> Option<Report> {
    let EventBody::TurnFailed(data) = &event.body else {
        let EventBody::TurnCompleted(data) = &event.body else { return None };
        let outcome = TurnOutcome::Ended(data.report.clone());
        return Some(Report { turn: data.turn, outcome });
    };
    let outcome = if data.code == ErrorCode::ContractError {
        TurnOutcome::Ended(data.report.clone())
    } else {
        let (code, message, report) = (data.code, data.message.clone(), data.report.clone());
        TurnOutcome::Faulted { code, message, report }
    };
    Some(Report { turn: data.turn, outcome })
}

/// Settles a turn without starting anything; `None` if no such turn is in flight.
fn absorb(run: &mut Run, now: Micros, report: Report) -> Option<Vec<Event>> {
    run.turn(report.turn)?;
    let mut draft = Draft::new(run, now);
    settle::reports(&mut draft, vec![report]);
    Some(draft.finish())
}

/// Starts what can start, as the end of every decision does.
fn schedule(run: &mut Run, now: Micros) -> Vec<Event> {
    let mut draft = Draft::new(run, now);
    schedule::go_on(&mut draft);
    draft.finish()
}

/// The input that the next decision took, as its events record it.
fn input_of(run: &Run, upcoming: &[Event]) -> Option<Input> {
    match &upcoming.first()?.body {
        EventBody::RunCreated(data) => Some(Input::Create(Box::new(data.clone()))),
        EventBody::TurnInterrupted(data) => interrupted_by(run, data.reason, upcoming),
        EventBody::RunResumed(data) => Some(resumed_by(data, &upcoming[1..])),
        EventBody::RunRevived(_) => Some(Input::Revive),
        EventBody::BudgetChanged(data) => match (data.budget, data.node_budgets) {
            (Some(budget), _) => Some(Input::SetBudget(budget)),
            (None, Some(budgets)) => {
                Some(Input::SetNodeBudgets { node: upcoming[0].node.clone()?, budgets })
            }
            (None, None) => None,
        },
        EventBody::MessageReceived(_) | EventBody::SocketFinished(_) => spoken(&upcoming[0]),
        EventBody::RunAborted(data) => Some(Input::Abort { reason: data.reason.clone() }),
        EventBody::RunWaiting(_)
        | EventBody::RunCompleted(_)
        | EventBody::RunFailed(_)
        | EventBody::TurnStarted(_)
        | EventBody::TurnCompleted(_)
        | EventBody::TurnFailed(_)
        | EventBody::RouteSelected(_)
        | EventBody::HandoffSent(_)
        | EventBody::PayloadDelivered(_)
        | EventBody::PayloadConsumed(_)
        | EventBody::StatePatched(_)
        | EventBody::OutputFieldsIgnored(_)
        | EventBody::CursorAdvanced(_)
        | EventBody::LoopEntered(_)
        | EventBody::LoopExhausted(_)
        | EventBody::FollowUpCaptured(_)
        | EventBody::NodeBlocked(_)
        | EventBody::ModeChanged(_)
        | EventBody::BudgetWarned(_) => None,
    }
}

/// What made a run go on: a word to a node stands right behind it, if that was it.
fn resumed_by(data: &RunResumed, behind: &[Event]) -> Input {
    let (cwd, run_dir) = (data.cwd.clone(), data.run_dir.clone());
    if data.recast {
        return Input::Recast { cwd, run_dir };
    }
    behind.first().and_then(spoken).unwrap_or(Input::Resume { cwd, run_dir })
}

/// What a person said to a node, if the event records that.
fn spoken(event: &Event) -> Option<Input> {
    let node = event.node.clone();
    if let EventBody::MessageReceived(data) = &event.body {
        return Some(Input::Say { node, text: data.text.clone() });
    }
    matches!(event.body, EventBody::SocketFinished(_)).then_some(Input::Continue { node })
}

/// What interrupted the turns: the events behind them say the rest.
fn interrupted_by(run: &Run, reason: InterruptReason, upcoming: &[Event]) -> Option<Input> {
    let closing = upcoming
        .iter()
        .map(|event| &event.body)
        .find(|body| !matches!(body, EventBody::TurnInterrupted(_)))?;
    match (reason, closing) {
        (InterruptReason::Crash, EventBody::RunResumed(data)) => {
            Some(Input::Resume { cwd: data.cwd.clone(), run_dir: data.run_dir.clone() })
        }
        (InterruptReason::Crash, EventBody::RunWaiting(_)) => {
            Some(Input::Resume { cwd: run.cwd.clone(), run_dir: run.run_dir.clone() })
        }
        (InterruptReason::Stopped, EventBody::RunWaiting(data)) => {
            Some(Input::Stop { message: data.message.clone() })
        }
        (InterruptReason::RunFor, EventBody::RunWaiting(_)) => Some(Input::RunForElapsed),
        (InterruptReason::Aborted, EventBody::RunAborted(data)) => {
            Some(Input::Abort { reason: data.reason.clone() })
        }
        _ => None,
    }
}
