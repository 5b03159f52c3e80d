//! Decides again what was decided, from the inputs that the events record.

use std::collections::VecDeque;

use materia_contract::time::Micros;
use materia_contract::{
    Act, ErrorCode, Event, EventBody, InterruptReason, Mode, NodeId, Pace, RunId, RunResumed,
    Timer, WaitReason,
};

use crate::draft::Draft;
use crate::{Acting, Input, Phase, Report, Run, TurnOutcome, acts, schedule, settle, step, timers};

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

    /// What is still to come of the decision under way.
    pub fn rest_of_decision(&self) -> impl Iterator<Item = &Event> {
        self.expected.iter()
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
            let piece = piece_of(found);
            if piece.is_some() && found.wall != self.run.instant {
                // Another decision: the one before it had started all that could.
                self.owes_nothing(found)?;
            }
            let events = match piece {
                // Several things may have happened at one instant, so that scheduling waits.
                Some(piece) => absorb(&mut self.run, found, piece),
                None => match input_of(&self.run, upcoming) {
                    Some(input) => step(&mut self.run, found.wall, input).ok(),
                    None => Some(scheduled(&mut self.run, found)),
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

    /// Nothing was left to start when `found` happened.
    fn owes_nothing(&mut self, found: &Event) -> Result<(), Divergence> {
        let now = self.run.instant;
        match schedule(&mut self.run, now).into_iter().next() {
            None => Ok(()),
            Some(owed) => {
                let (found, expected) = (Box::new(found.clone()), Box::new(owed));
                Err(Divergence::Differs { seq: found.seq, found, expected })
            }
        }
    }
}

/// One of the things that can happen at an instant, before the scheduler looks.
enum Piece {
    Report(Report),
    Act(Acting),
    Timer(NodeId, Timer),
    /// Somebody carried it on, or woke it by something that stands behind.
    Resumed(RunResumed),
    /// The pace that it was carried on at.
    Pace(Pace),
}

/// The piece of an instant that an event records, if it begins one.
fn piece_of(event: &Event) -> Option<Piece> {
    if let Some(report) = report_of(event) {
        return Some(Piece::Report(report));
    }
    if let EventBody::TimelineReached(data) = &event.body {
        let (act, timeline) = (data.act.clone(), Some(data.index));
        return Some(Piece::Act(Acting { act, timeline }));
    }
    if let EventBody::TimerFired(data) = &event.body {
        return Some(Piece::Timer(event.node.clone()?, data.timer.clone()));
    }
    if let EventBody::RunResumed(data) = &event.body
        && !data.recast
    {
        return Some(Piece::Resumed(data.clone()));
    }
    if let EventBody::ModeChanged(data) = &event.body
        && data.reason == "resume"
        && let Mode::Pace(pace) = data.value
    {
        return Some(Piece::Pace(pace));
    }
    acted(event).map(|act| Piece::Act(Acting { act, timeline: None }))
}

/// What a person did, if the event records that.
fn acted(event: &Event) -> Option<Act> {
    let node = event.node.clone();
    if let EventBody::TurnRequested(data) = &event.body {
        return Some(Act::Trigger { node: node?, message: data.message.clone() });
    }
    if let EventBody::ApprovalGiven(_) = &event.body {
        return Some(Act::Approve { node: node? });
    }
    if let EventBody::ApprovalDenied(_) = &event.body {
        return Some(Act::Deny { node: node? });
    }
    if let EventBody::HandoffSent(data) = &event.body {
        let (edge, payload) = (data.edge_id.to_string(), data.offered.clone()?);
        return Some(Act::Offer { edge, payload });
    }
    let EventBody::ModeChanged(data) = &event.body else { return None };
    if data.reason != "person" {
        return None;
    }
    Some(match data.value {
        Mode::Pace(value) => Act::Mode { value },
        Mode::Global(value) => Act::GlobalMode { value },
    })
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

/// Settles one thing without starting anything; `None` if it cannot have happened.
fn absorb(run: &mut Run, found: &Event, piece: Piece) -> Option<Vec<Event>> {
    match &piece {
        Piece::Report(report) => {
            run.turn(report.turn)?;
        }
        Piece::Act(acting) => acts::accept(run, acting).ok()?,
        Piece::Timer(node, timer) => {
            timers::is_set(run, node, timer).then_some(())?;
        }
        Piece::Resumed(_) => {
            let goes_on = matches!(run.phase, Phase::Running | Phase::Waiting(_));
            (goes_on && run.turns.is_empty()).then_some(())?;
        }
        Piece::Pace(_) => {}
    }
    let mut draft = Draft::new(run, found.wall);
    match piece {
        Piece::Report(report) => settle::reports(&mut draft, vec![report]),
        Piece::Act(acting) => acts::perform(&mut draft, acting),
        Piece::Timer(node, timer) => timers::fire(&mut draft, &node, timer),
        Piece::Resumed(data) => draft.emit(data),
        Piece::Pace(pace) => acts::set_pace(&mut draft, pace, "resume"),
    }
    Some(draft.finish())
}

/// Starts what can start, as the end of every decision does.
fn schedule(run: &mut Run, now: Micros) -> Vec<Event> {
    let mut draft = Draft::new(run, now);
    schedule::go_on(&mut draft);
    draft.finish()
}

/// What the scheduler does; where it does nothing and the run rests all the same, whoever drives it
/// has said that nothing can happen by itself, or stopped it.
fn scheduled(run: &mut Run, found: &Event) -> Vec<Event> {
    let events = schedule(run, found.wall);
    let EventBody::RunWaiting(data) = &found.body else { return events };
    if !events.is_empty() || run.phase != Phase::Running {
        return events;
    }
    let input = if data.reason == WaitReason::RunFor {
        Input::RunForElapsed
    } else if schedule::would_rest_as(run, data) {
        Input::Idle
    } else {
        Input::Stop { message: data.message.clone() }
    };
    step(run, found.wall, input).unwrap_or_default()
}

/// The input that the next decision took, as its events record it.
fn input_of(run: &Run, upcoming: &[Event]) -> Option<Input> {
    match &upcoming.first()?.body {
        EventBody::RunCreated(data) => Some(Input::Create(Box::new(data.clone()))),
        EventBody::TurnInterrupted(data) => interrupted_by(run, data.reason, upcoming),
        // Any other resumption is a piece of its instant.
        EventBody::RunResumed(data) => {
            Some(Input::Recast { cwd: data.cwd.clone(), run_dir: data.run_dir.clone() })
        }
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
        | EventBody::PayloadSuperseded(_)
        | EventBody::PayloadDropped(_)
        | EventBody::PayloadDeduplicated(_)
        | EventBody::PayloadFiltered(_)
        | EventBody::TimerSet(_)
        | EventBody::TimerFired(_)
        | EventBody::TurnRequested(_)
        | EventBody::ApprovalRequested(_)
        | EventBody::ApprovalGiven(_)
        | EventBody::ApprovalDenied(_)
        | EventBody::TimelineReached(_)
        | EventBody::BudgetWarned(_) => None,
    }
}

/// The pace that a run was resumed at, where it is not what follows by itself.
fn resumed_pace(run: &Run, next: Option<&Event>) -> Pace {
    if let Some(EventBody::ModeChanged(data)) = next.map(|event| &event.body)
        && data.reason == "resume"
        && let Mode::Pace(pace) = data.value
    {
        return pace;
    }
    run.pace
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
            let (cwd, run_dir) = (data.cwd.clone(), data.run_dir.clone());
            let place =
                upcoming.iter().position(|event| std::ptr::eq(&raw const event.body, closing));
            let next = place.and_then(|place| upcoming.get(place + 1));
            Some(Input::Resume { cwd, run_dir, pace: Some(resumed_pace(run, next)) })
        }
        (InterruptReason::Crash, EventBody::RunWaiting(_)) => {
            let (cwd, run_dir) = (run.cwd.clone(), run.run_dir.clone());
            Some(Input::Resume { cwd, run_dir, pace: None })
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
