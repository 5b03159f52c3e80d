//! Decisions: from an input to events.

mod acts;
mod agenda;
mod consent;
mod cursor;
mod deliver;
mod draft;
mod edges;
mod elements;
mod ending;
mod exclusive;
mod fault;
mod halt;
mod instant;
mod rejection;
mod retry;
mod schedule;
mod settle;
mod skip;
mod spending;
mod stall;
mod timers;

use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{
    Acting, AgentsChosen, Cron, Event, EventBody, InFirstEvent, Input, Moment, MomentOf, NextTick,
    NodeId, RecordedInput, RunCreated, RunWaiting, Timer, Trigger, WaitReason,
};

pub use acts::order_timeline;
pub use draft::Now;
pub use rejection::Rejection;

use agenda::Due;
use draft::Draft;

use crate::ask::fits;
use crate::ask::owed::is_idle;
use crate::state::{Phase, Run};

/// A decision: its events, and its input as the journal stores it.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The input, without reports of turns that are not in flight.
    pub input: RecordedInput,
    /// The next ticks of schedules, as far as they were needed.
    pub ticks: Vec<NextTick>,
    /// The events that follow.
    pub events: Vec<Event>,
}

/// The events that follow from `input` at the instant `now`. Changes nothing.
///
/// A driver uses [`take`], which does the same without the copy.
pub fn decide(run: &Run, now: impl Into<Now>, input: Input) -> Result<Vec<Event>, Rejection> {
    step(&mut run.clone(), now, input)
}

/// Decides what follows from `input` and applies it; gives the events alone.
pub fn step(run: &mut Run, now: impl Into<Now>, input: Input) -> Result<Vec<Event>, Rejection> {
    Ok(take(run, now, input)?.events)
}

/// Decides on `input` and applies the events. The caller must make them durable before any effect; if it cannot, it
/// must drop `run`, which is ahead of its journal. A rejected input changes nothing.
pub fn take(run: &mut Run, now: impl Into<Now>, input: Input) -> Result<Decision, Rejection> {
    take_with(run, now, &[], input)
}

/// The same with schedules: `ticks` has the next ticks of [`due_schedules`].
pub fn take_with(
    run: &mut Run,
    now: impl Into<Now>,
    ticks: &[NextTick],
    input: Input,
) -> Result<Decision, Rejection> {
    let now = now.into();
    accept(run, &input)?;
    let mut needed = Vec::new();
    for (node, _) in due_schedules(run, now.at, &input) {
        let told = ticks.iter().find(|tick| tick.node == *node && tick.at > now.at);
        let told = told.ok_or_else(|| Rejection::NoNextTick(node.clone()))?;
        needed.push(told.clone());
    }
    let mut recorded = recorded(&input);
    let mut draft = Draft::new(run, now, needed);
    match input {
        Input::Create(created) => create(&mut draft, created),
        Input::Moment(moment) => instant::begin(&mut draft, moment),
        Input::SetAgents(agents) => {
            if *draft.run().agents != agents {
                draft.emit(AgentsChosen { agents });
            }
        }
        Input::Measured(storage) => {
            if draft.run().storage != Some(storage) {
                draft.emit(storage);
            }
            draft.then(Due::Start);
        }
        Input::Stopped { reports, message } => {
            for report in reports {
                draft.then(Due::Report(report.into()));
            }
            draft.then(Due::Stopped { message });
        }
        Input::Withheld { reports, turn, message, files } => {
            // A turn that was not started has no report.
            let others = reports.into_iter().filter(|report| report.turn != turn);
            for report in others {
                draft.then(Due::Report(report.into()));
            }
            draft.then(Due::Withheld { turn, message, files });
        }
        Input::Published(published) => {
            draft.emit(*published);
            draft.then(Due::Start);
        }
        Input::Unpublished { message } => {
            draft.emit(RunWaiting { reason: WaitReason::Workspace, node: None, message });
        }
        Input::RunForElapsed => halt::run_for(&mut draft),
        Input::Idle => schedule::rest(&mut draft),
    }
    go_round(&mut draft);
    let (events, reported, ticks) = draft.finish();
    match &mut recorded {
        RecordedInput::Moment(MomentOf { reports, .. })
        | RecordedInput::Stopped { reports, .. }
        | RecordedInput::Withheld { reports, .. } => *reports = reported,
        RecordedInput::Create(_)
        | RecordedInput::SetAgents(_)
        | RecordedInput::Measured(_)
        | RecordedInput::Published(_)
        | RecordedInput::Unpublished { .. }
        | RecordedInput::RunForElapsed
        | RecordedInput::Idle => {}
    }
    Ok(Decision { input: recorded, ticks, events })
}

/// The schedules whose next tick an input needs: all when the run is created, afterwards those whose tick is due.
pub fn due_schedules<'a>(
    run: &'a Run,
    at: Micros,
    input: &'a Input,
) -> Vec<(&'a NodeId, &'a Cron)> {
    if let Input::Create(created) = input {
        let scheduled = created
            .plan
            .nodes
            .iter()
            .filter(|(_, node)| node.trigger == Trigger::Scheduled && node.cron.is_some());
        return scheduled.filter_map(|(id, node)| Some((id, node.cron.as_ref()?))).collect();
    }
    let Input::Moment(moment) = input else { return Vec::new() };
    // Timers fire with an instant; what is done alone leaves them to the next one.
    if moment.acts.iter().any(|acting| !acting.act.is_of_an_instant()) {
        return Vec::new();
    }
    let due = run.timers.iter().take_while(|(due, _, _)| *due <= at);
    let ticks = due.filter(|(_, _, timer)| *timer == Timer::Tick);
    let nodes = ticks.map(|(_, index, _)| run.node(*index));
    nodes.filter_map(|(id, node)| Some((id, node.cron.as_ref()?))).collect()
}

/// The input as it is kept, but for the reports: which events have them shows when they are there.
fn recorded(input: &Input) -> RecordedInput {
    let reports = Vec::new();
    match input {
        Input::Create(_) => RecordedInput::Create(InFirstEvent {}),
        Input::Moment(moment) => {
            RecordedInput::Moment(MomentOf { reports, acts: moment.acts.clone() })
        }
        Input::Stopped { message, .. } => {
            RecordedInput::Stopped { reports, message: message.clone() }
        }
        Input::SetAgents(agents) => RecordedInput::SetAgents(agents.clone()),
        Input::Measured(storage) => RecordedInput::Measured(*storage),
        Input::Withheld { turn, message, files, .. } => {
            let (message, files) = (message.clone(), files.clone());
            RecordedInput::Withheld { reports, turn: *turn, message, files }
        }
        Input::Published(published) => RecordedInput::Published(published.clone()),
        Input::Unpublished { message } => RecordedInput::Unpublished { message: message.clone() },
        Input::RunForElapsed => RecordedInput::RunForElapsed,
        Input::Idle => RecordedInput::Idle,
    }
}

/// Whether the run takes this input in its present phase.
fn accept(run: &Run, input: &Input) -> Result<(), Rejection> {
    match (&run.phase, input) {
        (Phase::New, Input::Create(created)) => {
            fits::whole(&created.plan).map_err(Rejection::BrokenPlan)
        }
        (Phase::New, _) => Err(Rejection::NotCreated),
        (_, Input::Create(_)) => Err(Rejection::AlreadyCreated),
        (_, Input::Moment(moment)) => accept_moment(run, moment),
        // A failed run may be retried with other agents.
        (Phase::Running | Phase::Waiting(_) | Phase::Failed(_), Input::SetAgents(agents)) => {
            let unknown = agents.keys().find(|id| !run.plan().nodes.contains_key(*id));
            unknown.map_or(Ok(()), |id| Err(Rejection::UnknownNode(id.clone())))
        }
        (Phase::Completed | Phase::Failed(_) | Phase::Aborted, _) => {
            Err(Rejection::Ended(run.phase.status()))
        }
        (_, Input::Published(_) | Input::Unpublished { .. }) if !run.is_publishing() => {
            Err(Rejection::NotPublishing)
        }
        (Phase::Waiting(_), Input::Published(_) | Input::Unpublished { .. }) => {
            Err(Rejection::NotRunning)
        }
        (
            Phase::Waiting(_),
            Input::Stopped { .. } | Input::Withheld { .. } | Input::RunForElapsed | Input::Idle,
        ) => Err(Rejection::NotRunning),
        (Phase::Running, Input::Withheld { turn, .. }) if run.turn(*turn).is_none() => {
            Err(Rejection::StaleTurn { turn: *turn })
        }
        (Phase::Running, Input::Idle) if !is_idle(run) => Err(Rejection::NotIdle),
        (Phase::Running | Phase::Waiting(_), Input::Measured(_))
        | (
            Phase::Running,
            Input::Stopped { .. }
            | Input::Withheld { .. }
            | Input::Published(_)
            | Input::Unpublished { .. }
            | Input::RunForElapsed
            | Input::Idle,
        ) => Ok(()),
    }
}

/// Whether anything of an instant concerns the run.
///
/// A report of a turn that is no longer in flight is stale; where it is all there is, it is refused.
fn accept_moment(run: &Run, moment: &Moment) -> Result<(), Rejection> {
    for Acting { act, timeline, .. } in &moment.acts {
        if act.is_of_an_instant() {
            acts::accept(run, act, timeline.is_some())?;
        } else if moment.acts.len() > 1 || (timeline.is_some() && !act.may_be_scripted()) {
            return Err(Rejection::NotBeside(act.name()));
        } else if timeline.is_some() {
            acts::accept_alone(run)?;
        } else {
            exclusive::accept(run, act)?;
        }
    }
    match moment.reports.first() {
        Some(first)
            if moment.acts.is_empty()
                && !moment.reports.iter().any(|report| run.turns.contains_key(&report.turn)) =>
        {
            Err(Rejection::StaleTurn { turn: first.turn })
        }
        None if moment.acts.is_empty() && run.phase != Phase::Running => Err(Rejection::NotRunning),
        Some(_) | None => Ok(()),
    }
}

/// The loop of a decision, and the only one: takes what is due next, and its rule writes events and says what follows.
fn go_round(draft: &mut Draft<'_>) {
    while let Some(due) = draft.due() {
        match due {
            Due::Report(report) => settle::report(draft, *report),
            Due::Acts { acts, since } => instant::others(draft, acts, since),
            Due::Act(acting) => instant::one(draft, *acting),
            Due::Timers => instant::due_timers(draft),
            Due::Answer { turn, context } => settle::answered(draft, turn, &context),
            Due::Unasked { node, missing } => schedule::unasked(draft, node, &missing),
            Due::Leave(leaving) => cursor::leave(draft, leaving),
            Due::Edges(leaving, from) => edges::choose(draft, leaving, from.as_ref()),
            Due::Edge(leaving, place) => edges::take(draft, leaving, place),
            Due::FailureEdge(node) => fault::lead_on(draft, node),
            Due::Arrive(arrival) => cursor::arrive(draft, arrival),
            Due::Exit(exhausted) => cursor::exit(draft, exhausted),
            Due::MoveOn(found) => cursor::move_on(draft, &found),
            Due::Skipped { goes_on } => skip::skipped(draft, goes_on),
            Due::Start => schedule::start(draft),
            Due::Stopped { message } => halt::stopped(draft, message),
            Due::Withheld { turn, message, files } => {
                halt::withheld(draft, turn, message, files.as_deref());
            }
        }
    }
}

fn create(draft: &mut Draft<'_>, created: Arc<RunCreated>) {
    let entry = created.plan.entry.clone();
    draft.emit(EventBody::RunCreated(created));
    // The request is the first payload. It crosses no edge, and has the id of `run.created`.
    let request = draft.run().request_payload();
    draft.emit_at(
        &entry,
        materia_contract::PayloadDelivered { payload_id: request.id, edge_id: None },
    );
    // Nothing can have been produced yet; the compiler refuses an entry inside a consuming loop.
    for region in draft.run().plan().nodes[&entry].loops.clone() {
        cursor::enter(draft, &region);
    }
    timers::begin(draft);
    draft.then(Due::Start);
}
