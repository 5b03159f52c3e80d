use materia_contract::time::Micros;
use materia_contract::{Event, RunCreated};

use crate::draft::Draft;
use crate::{Input, Phase, Rejection, Run, halt, schedule, settle};

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
        Input::Stop { message } => halt::stop(&mut draft, message),
        Input::RunForElapsed => halt::run_for(&mut draft),
        Input::Abort { reason } => halt::abort(&mut draft, reason),
    }
    Ok(draft.finish())
}

/// Whether the run takes this input in its present phase.
fn accept(run: &Run, input: &Input) -> Result<(), Rejection> {
    match (&run.phase, input) {
        (Phase::New, Input::Create(_))
        | (Phase::Running | Phase::Waiting(_), Input::Resume { .. } | Input::Abort { .. })
        | (Phase::Running, Input::Stop { .. } | Input::RunForElapsed) => Ok(()),
        (Phase::New, _) => Err(Rejection::NotCreated),
        (_, Input::Create(_)) => Err(Rejection::AlreadyCreated),
        (_, Input::Reports(reports)) => {
            match reports.iter().find(|report| run.turns.contains_key(&report.turn)) {
                Some(_) => Ok(()),
                None => Err(Rejection::StaleTurn { turn: reports.first().map_or(0, |r| r.turn) }),
            }
        }
        (Phase::Completed | Phase::Failed(_) | Phase::Aborted, _) => {
            Err(Rejection::Ended(run.phase.status()))
        }
        (Phase::Waiting(_), Input::Stop { .. } | Input::RunForElapsed) => {
            Err(Rejection::NotRunning)
        }
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
    schedule::go_on(draft);
}
