//! Why a node ran, or why it does not: from the events, and from the scheduler's own conditions.
//!
//! `trail` collects the events in one pass, `last_turn` describes the newest turn, `conditions` and `inputs` the
//! conditions of the scheduler; `search` finds a way to let the node run, by trying it on a copy of the run
//! (`attempt`).
//!
//! Rules are in the kernel only.

mod attempt;
mod conditions;
mod facts;
mod inputs;
mod last_turn;
#[cfg(test)]
mod laws;
mod past;
mod search;
mod suggestion;
mod trail;

pub use materia_contract::body::{Because, Condition, Suggested, SuggestedStep, Suggestion, Why};
use materia_contract::{ChainHash, Do, NodeId, RunId};
use materia_kernel::{Run, barred};

use crate::fold::take;
use crate::load::walk;
use crate::{Journal, LoadError, NoSuchEvent};
use attempt::is_alive;
use facts::Subject;
use past::Settled;
use trail::Trail;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum WhyError {
    /// The run could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The plan has no such node.
    #[error("cast `{run}` has no socket `{node}`; it has {}", .known.join(", "))]
    UnknownNode {
        /// The run.
        run: RunId,
        /// The requested node.
        node: String,
        /// The nodes of the run.
        known: Vec<String>,
    },
    /// The place that was asked for is not in the run.
    #[error(transparent)]
    NoSuchEvent(#[from] NoSuchEvent),
}

/// Explains a node, at the end of a run or as of event `at`.
pub fn why(
    journal: &dyn Journal,
    id: &RunId,
    node: &str,
    at: Option<u64>,
) -> Result<Why, WhyError> {
    let mut run = Run::new(id.clone());
    let mut trail = Trail::default();
    let mut last = 0;
    walk(journal, id, 0, ChainHash::origin(id), |_, event| {
        last = event.seq;
        if at.is_none_or(|at| event.seq <= at) {
            take(&mut run, event)?;
            trail.note(event);
        }
        Ok(())
    })?;
    if let Some(asked) = at.filter(|at| last > 0 && (*at == 0 || *at > last)) {
        return Err(NoSuchEvent { run: id.clone(), asked, last }.into());
    }
    let plan = &run.created().ok_or_else(|| LoadError::Unknown(id.clone()))?.plan;
    let Some((index, name, _)) = plan.nodes.get_full(node) else {
        let known = plan.nodes.keys().map(ToString::to_string).collect();
        return Err(WhyError::UnknownNode { run: id.clone(), node: node.to_owned(), known });
    };
    let mut why = explain(Subject { run: &run, plan, trail: &trail, index, name });
    let steps = suggested(
        &run,
        last,
        (index, name),
        || past::settled(journal, id, run.seq()),
        |at| past::states_at(journal, id, at),
    )?;
    why.suggestion = steps.map(|steps| suggestion::say(id, steps));
    Ok(why)
}

/// All but the suggestion.
fn explain(subject: Subject<'_>) -> Why {
    let Subject { run, plan, trail, index, name } = subject;
    let told = last_turn::tell(run, plan, index, name, trail);
    Why {
        node: name.clone(),
        ran: told.ran,
        visits: told.visits,
        sentence: told.sentence,
        because: told.because,
        runnable: barred(run, index).is_none(),
        conditions: conditions::all(subject),
        suggestion: None,
    }
}

/// The steps that let a node run, from the state at the last event of `run`; the journal ends at `last`.
///
/// `settled` returns the state of a fork there, `states_at` states at earlier events: each costs a pass over the
/// events, and most answers need neither.
fn suggested(
    run: &Run,
    last: u64,
    (index, name): (usize, &NodeId),
    settled: impl FnOnce() -> Result<Option<Settled>, LoadError>,
    states_at: impl Fn(&[u64]) -> Result<Vec<(u64, Run)>, LoadError>,
) -> Result<Option<Vec<Suggested>>, LoadError> {
    let at = run.seq();
    if at == last
        && is_alive(run)
        && let Some(found) = search::now(run, index, name)
    {
        return Ok(Some(found));
    }
    let Some(Settled { run: settled, alive }) = settled()? else { return Ok(None) };
    let fork = (at < last).then_some(Suggested::Fork { at, interactive: false });
    let after_the_end = |and: &[Suggested]| {
        let steps = search::after_the_end(&settled, name, and)?;
        Some(fork.iter().cloned().chain(steps).collect())
    };
    let found = if is_alive(&settled) {
        search::fork(&settled, at, index, name)
    } else {
        after_the_end(&[])
    };
    if found.is_some() {
        return Ok(found);
    }
    // It is over, or cannot but end: further back it was not. Mostly one step back is enough.
    let (newest, others) = alive.split_at(alive.len().min(1));
    for some in [newest, others].into_iter().filter(|some| !some.is_empty()) {
        let earlier = states_at(some)?;
        let found = earlier.iter().find_map(|(at, run)| search::fork(run, *at, index, name));
        if found.is_some() {
            return Ok(found);
        }
    }
    let trigger = Do::trigger(name.clone(), None);
    Ok(after_the_end(&[Suggested::Do(trigger)]))
}
