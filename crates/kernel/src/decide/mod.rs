//! From an input to events: what follows from what has happened.

mod acts;
mod consent;
mod cursor;
mod deliver;
mod draft;
mod elements;
mod fault;
mod halt;
mod rejection;
mod retry;
mod schedule;
mod settle;
mod spending;
mod stall;
mod timers;

use materia_contract::time::Micros;
use materia_contract::{
    AgentsChosen, BudgetChanged, Cron, Event, InFirstEvent, Input, Moment, MomentOf, NextTick,
    NodeId, RecordedInput, RunCreated, Timer, Trigger,
};

pub use acts::order_timeline;
pub use draft::Now;
pub use rejection::Rejection;

use acts::Class;
use draft::Draft;

use crate::ask::fits;
use crate::ask::owed::is_idle;
use crate::state::{Phase, Run, Why};

/// What was decided: the events, and what they rest on as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What was decided on. Reports that nobody waited for are no part of it.
    pub input: RecordedInput,
    /// When schedules come round next, as far as that was needed.
    pub ticks: Vec<NextTick>,
    /// What followed.
    pub events: Vec<Event>,
}

/// What follows from `input` at the instant `now`. Changes nothing.
///
/// A driver uses [`take`], which does the same without the copy.
pub fn decide(run: &Run, now: impl Into<Now>, input: Input) -> Result<Vec<Event>, Rejection> {
    step(&mut run.clone(), now, input)
}

/// Decides what follows from `input` and applies it; gives the events alone.
pub fn step(run: &mut Run, now: impl Into<Now>, input: Input) -> Result<Vec<Event>, Rejection> {
    Ok(take(run, now, input)?.events)
}

/// Decides what follows from `input` and applies it, event by event.
///
/// The events must be made durable before anything happens on their account. A caller that cannot
/// make them durable must throw `run` away, for it has gone ahead of its journal. A rejected input
/// has changed nothing.
pub fn take(run: &mut Run, now: impl Into<Now>, input: Input) -> Result<Decision, Rejection> {
    take_with(run, now, &[], input)
}

/// The same, where schedules come round: `ticks` says when those of [`due_schedules`] do so next.
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
        Input::Create(created) => create(&mut draft, *created),
        Input::Moment(moment) => instant(&mut draft, moment),
        Input::Resume { cwd, run_dir, pace } => {
            halt::resume(&mut draft, halt::resumed(cwd, run_dir, false), pace);
        }
        Input::Recast { cwd, run_dir } => {
            halt::recast(&mut draft, halt::resumed(cwd, run_dir, true));
        }
        Input::Revive => halt::revive(&mut draft),
        Input::SetBudget(budget) => {
            draft.emit(BudgetChanged { budget: Some(budget), node_budgets: None });
            schedule::go_on(&mut draft);
        }
        Input::SetNodeBudgets { node, budgets } => {
            let changed = BudgetChanged { budget: None, node_budgets: Some(budgets) };
            draft.emit_at(&node, changed);
            schedule::go_on(&mut draft);
        }
        Input::SetAgents(agents) => {
            if *draft.run().agents != agents {
                draft.emit(AgentsChosen { agents });
            }
        }
        Input::Say { node, text } => halt::say(&mut draft, node, text),
        Input::Continue { node } => halt::finish(&mut draft, node),
        Input::Stop { message } => halt::stop(&mut draft, message),
        Input::RunForElapsed => halt::run_for(&mut draft),
        Input::Idle => schedule::rest(&mut draft),
        Input::Abort { reason } => halt::abort(&mut draft, reason),
    }
    let (events, reported, ticks) = draft.finish();
    if let RecordedInput::Moment(moment) = &mut recorded {
        moment.reports = reported;
    }
    Ok(Decision { input: recorded, ticks, events })
}

/// The schedules of which an input needs to know when they come round next: all where the run is created,
/// afterwards those whose tick is due.
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
    let Input::Moment(_) = input else { return Vec::new() };
    let due = run.timers.iter().take_while(|(due, _, _)| *due <= at);
    let ticks = due.filter(|(_, _, timer)| *timer == Timer::Tick);
    let nodes = ticks.map(|(_, index, _)| run.node(*index));
    nodes.filter_map(|(id, node)| Some((id, node.cron.as_ref()?))).collect()
}

/// The input as it is kept, but for the reports: which events have them shows when they are there.
fn recorded(input: &Input) -> RecordedInput {
    if let Input::Create(_) = input {
        return RecordedInput::Create(InFirstEvent {});
    }
    if let Input::Moment(moment) = input {
        let (reports, acts) = (Vec::new(), moment.acts.clone());
        return RecordedInput::Moment(MomentOf { reports, acts });
    }
    let same = input.clone().try_map(|_| Err(()), |_| Err(()));
    same.expect("it is neither a creation nor an instant")
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
        (Phase::Failed(failed), Input::Revive) if failed.edge_id.is_some() => Ok(()),
        (_, Input::Revive) => Err(Rejection::NothingExhausted),
        (Phase::Failed(_), Input::Recast { .. })
            if run.held.iter().any(|h| h.why == Why::Failed) =>
        {
            Ok(())
        }
        (_, Input::Recast { .. }) => Err(Rejection::NothingFailed),
        // Whoever tries a failed run again may ask somebody else.
        (Phase::Running | Phase::Waiting(_) | Phase::Failed(_), Input::SetAgents(agents)) => {
            let unknown = agents.keys().find(|id| !run.plan().nodes.contains_key(*id));
            unknown.map_or(Ok(()), |id| Err(Rejection::UnknownNode(id.clone())))
        }
        (Phase::Completed | Phase::Failed(_) | Phase::Aborted, _) => {
            Err(Rejection::Ended(run.phase.status()))
        }
        (_, Input::SetNodeBudgets { node, .. }) if !run.plan().nodes.contains_key(node) => {
            Err(Rejection::UnknownNode(node.clone()))
        }
        (_, Input::Say { node, .. }) => match halt::addressed(run, node.clone()) {
            None => Err(Rejection::NobodyAddressed),
            Some(id) if !run.plan().nodes.contains_key(&id) => Err(Rejection::UnknownNode(id)),
            Some(_) => Ok(()),
        },
        (_, Input::Continue { node }) => {
            let paused = |id: &NodeId| {
                run.plan().nodes.get_index_of(id).is_some_and(|at| run.paused.contains_key(&at))
            };
            match halt::addressed(run, node.clone()) {
                None => Err(Rejection::NothingPaused),
                Some(id) if !run.plan().nodes.contains_key(&id) => Err(Rejection::UnknownNode(id)),
                Some(id) if !paused(&id) => Err(Rejection::NothingPaused),
                Some(_) => Ok(()),
            }
        }
        (Phase::Waiting(_), Input::Stop { .. } | Input::RunForElapsed | Input::Idle) => {
            Err(Rejection::NotRunning)
        }
        (Phase::Running, Input::Idle) if !is_idle(run) => Err(Rejection::NotIdle),
        (
            Phase::Running | Phase::Waiting(_),
            Input::Resume { .. }
            | Input::Abort { .. }
            | Input::SetBudget(_)
            | Input::SetNodeBudgets { .. }
            | Input::Stop { .. }
            | Input::RunForElapsed
            | Input::Idle,
        ) => Ok(()),
    }
}

/// Whether anything of an instant concerns the run.
///
/// A report of a turn that is no longer in flight is stale; where it is all there is, it is refused.
fn accept_moment(run: &Run, moment: &Moment) -> Result<(), Rejection> {
    let ended = matches!(run.phase, Phase::Completed | Phase::Failed(_) | Phase::Aborted);
    if !moment.acts.is_empty() && ended {
        return Err(Rejection::Ended(run.phase.status()));
    }
    for acting in &moment.acts {
        acts::accept(run, acting)?;
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

/// Everything that happens at one instant, in the order of D7.
fn instant(draft: &mut Draft<'_>, moment: Moment) {
    settle::reports(draft, moment.reports);
    if matches!(draft.run().phase, Phase::Failed(_)) {
        // One of them was the end: what else would happen now finds no run.
        return;
    }
    let mut acts = moment.acts;
    // Stable: within a class the order is that of the list.
    acts.sort_by_key(|acting| acts::class(&acting.act));
    if !acts.is_empty() {
        halt::wake(draft);
    }
    let later = acts.partition_point(|acting| acts::class(&acting.act) == Class::Arrival);
    let changes = acts.split_off(later);
    for acting in acts {
        acts::perform(draft, acting);
    }
    if draft.run().phase == Phase::Running {
        timers::fire_due(draft);
    }
    for acting in changes {
        acts::perform(draft, acting);
    }
    schedule::go_on(draft);
}

fn create(draft: &mut Draft<'_>, created: RunCreated) {
    let entry = created.plan.entry.clone();
    draft.emit(created);
    // The request is the first payload. It crosses no edge; its id is that of `run.created`.
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
    schedule::go_on(draft);
}
