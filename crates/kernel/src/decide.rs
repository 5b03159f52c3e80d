use materia_contract::time::Micros;
use materia_contract::{BudgetChanged, Event, NodeId, RunCreated};

use crate::draft::Draft;
use crate::state::Why;
use crate::{Input, Phase, Rejection, Run, halt, items, schedule, settle};

/// What follows from `input` at the instant `now`. Changes nothing.
///
/// A driver uses [`step`], which does the same without the copy.
pub fn decide(run: &Run, now: Micros, input: Input) -> Result<Vec<Event>, Rejection> {
    step(&mut run.clone(), now, input)
}

/// Decides what follows from `input` and applies it, event by event.
///
/// The events must be made durable before anything happens on their account. A caller that cannot
/// make them durable must throw `run` away, for it has gone ahead of its journal. A rejected input
/// has changed nothing.
pub fn step(run: &mut Run, now: Micros, input: Input) -> Result<Vec<Event>, Rejection> {
    accept(run, &input)?;
    let mut draft = Draft::new(run, now);
    match input {
        Input::Create(created) => create(&mut draft, *created),
        Input::Reports(reports) => {
            settle::reports(&mut draft, reports);
            schedule::go_on(&mut draft);
        }
        Input::Resume { cwd, run_dir } => halt::resume(&mut draft, cwd, run_dir),
        Input::Recast { cwd, run_dir } => halt::recast(&mut draft, cwd, run_dir),
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
        Input::Say { node, text } => halt::say(&mut draft, node, text),
        Input::Continue { node } => halt::finish(&mut draft, node),
        Input::Stop { message } => halt::stop(&mut draft, message),
        Input::RunForElapsed => halt::run_for(&mut draft),
        Input::Abort { reason } => halt::abort(&mut draft, reason),
    }
    Ok(draft.finish())
}

/// Whether the run takes this input in its present phase.
fn accept(run: &Run, input: &Input) -> Result<(), Rejection> {
    match (&run.phase, input) {
        (Phase::New, Input::Create(_)) => Ok(()),
        (Phase::New, _) => Err(Rejection::NotCreated),
        (_, Input::Create(_)) => Err(Rejection::AlreadyCreated),
        (_, Input::Reports(reports)) => {
            match reports.iter().find(|report| run.turns.contains_key(&report.turn)) {
                Some(_) => Ok(()),
                None => Err(Rejection::StaleTurn { turn: reports.first().map_or(0, |r| r.turn) }),
            }
        }
        (Phase::Failed(failed), Input::Revive) if failed.edge_id.is_some() => Ok(()),
        (_, Input::Revive) => Err(Rejection::NothingExhausted),
        (Phase::Failed(_), Input::Recast { .. })
            if run.held.iter().any(|h| h.why == Why::Failed) =>
        {
            Ok(())
        }
        (_, Input::Recast { .. }) => Err(Rejection::NothingFailed),
        (Phase::Completed | Phase::Failed(_) | Phase::Aborted, _) => {
            Err(Rejection::Ended(run.phase.status()))
        }
        (_, Input::SetNodeBudgets { node, .. }) if !run.plan().nodes.contains_key(node) => {
            Err(Rejection::UnknownNode(node.clone()))
        }
        (_, Input::Say { node, .. } | Input::Continue { node }) => {
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
        (Phase::Waiting(_), Input::Stop { .. } | Input::RunForElapsed) => {
            Err(Rejection::NotRunning)
        }
        (
            Phase::Running | Phase::Waiting(_),
            Input::Resume { .. }
            | Input::Abort { .. }
            | Input::SetBudget(_)
            | Input::SetNodeBudgets { .. }
            | Input::Stop { .. }
            | Input::RunForElapsed,
        ) => Ok(()),
    }
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
        items::enter(draft, &region);
    }
    schedule::go_on(draft);
}
