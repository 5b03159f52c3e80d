//! Beginning a cast that shares the history of another.
//!
//! Nothing is written before everything was asked: a fork that is refused leaves nothing behind.

use materia_contract::{Do, EventBody, NodeId, Pace, RunFailed, RunId, StartKey};
use materia_engine::{
    AppendError, Begun, Clock as _, Forked, Lease, LoadedRun, SystemClock, blocking, wait,
};
use materia_kernel::Phase;

use super::{Held, Looked, Sender, Unfit, unfit};
use crate::project;
use crate::text::narrator::Narrator;
use crate::{Failure, Found, Result};

/// A new fork, and whether it continues.
pub enum Forking {
    /// It can continue once its trust questions are answered.
    GoesOn(Box<Held>),
    /// It rests at the event at which its original rested.
    Rests,
}

/// Maximum events that are suggested if the user has to choose one.
const PLACES_MAX: usize = 8;

/// The event at which a cast is forked if the user names none (D71): the event before the turn that failed. A cast
/// that did not fail has none, and the refusal names the places before its last turns.
pub fn fork_place(found: &Found) -> Result<u64> {
    let (run, _) = materia_engine::load(found.journal(), &found.id)?;
    let mut places: Vec<(u64, NodeId, u32)> = Vec::new();
    let mut before = 0;
    Narrator::walk(found.journal(), &found.id, |_, event| match (&event.body, &event.node) {
        (EventBody::TurnStarted(data), Some(node)) => {
            places.push((before, node.clone(), data.visit));
            before = event.seq;
        }
        // These are part of the start of the turn behind them.
        (EventBody::PayloadConsumed(_) | EventBody::PayloadDelivered(_), _) => {}
        (_, _) => before = event.seq,
    })?;
    if let Phase::Failed(RunFailed { socket: Some(socket), .. }) = run.phase()
        && let Some((place, ..)) = places.iter().rev().find(|(_, node, _)| node == socket)
    {
        return Ok(*place);
    }
    let from = places.len().saturating_sub(PLACES_MAX);
    let named = places[from..]
        .iter()
        .map(|(place, node, visit)| format!("{place} (before visit {visit} of `{node}`)"));
    let named: Vec<String> = named.collect();
    let good = if named.is_empty() { "none yet".to_owned() } else { named.join(", ") };
    let message = format!(
        "cast `{}` did not fail in a turn, so name the event to fork at; suitable events: {good}",
        found.id
    );
    Err(Failure::usage(message))
}

/// Makes a cast `id` that shares the events of another up to `at`; `interactive` asks for that pace, `key` is that under
/// which it was asked for. One that rests
/// there is written, one that would go on is not yet.
pub fn fork(
    found: Found,
    at: u64,
    id: &RunId,
    interactive: bool,
    key: Option<StartKey>,
) -> Result<Forking, Unfit<Failure>> {
    project::refuse_taken_name(&found.root, id).map_err(Unfit::other)?;
    if blocking(found.journal()).head(id).map_err(Unfit::other)?.is_some() {
        let message = format!("there is a cast `{id}` already");
        return Err(Unfit::Other(Failure::resolution(message)));
    }
    let begun = Begun { at: Some(SystemClock.now()), key };
    let forked = materia_engine::forked(found.journal(), &found.id, at, id, &begun)
        .map_err(|error| Unfit::Other(Failure::resolution(error.to_string())))?;
    let run = forked.loaded().run();
    if *run.phase() != Phase::Running {
        drop(write(forked, &found, id).map_err(Unfit::Other)?);
        return Ok(Forking::Rests);
    }
    let pace = if interactive { Pace::Interactive } else { run.pace() };
    let what = Do::Resume { pace: Some(pace) };
    if let Some(why) = unfit(run, &what) {
        return Err(Unfit::Stands { run: Box::new(run.clone()), why });
    }
    let found = Found { id: id.clone(), ..found };
    Ok(Forking::GoesOn(Box::new(Held {
        found,
        run: Looked::Forked(Box::new(forked)),
        what,
        sender: Sender::PERSON,
    })))
}

/// Writes the beginning of a fork.
pub(super) fn write(forked: Forked, found: &Found, id: &RunId) -> Result<(Lease, LoadedRun)> {
    let lease = blocking(found.journal()).claim(id)?;
    let failed =
        |error: AppendError| Failure::storage(format!("cast `{id}` cannot begin: {error}"));
    let loaded = wait(forked.write(found.journal(), lease.epoch())).map_err(failed)?;
    Ok((lease, loaded))
}
