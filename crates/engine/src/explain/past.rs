//! State of a run as a fork would begin with it, at an event that may be in the middle of a decision.

use std::collections::{BTreeMap, VecDeque};

use materia_contract::{ChainHash, Event, Record, RunId};
use materia_kernel::{Misfit, Run, cut};

use super::attempt::is_alive;
use crate::fold::{self, Gather, Piece};
use crate::load::walk;
use crate::{Journal, LoadError};

/// How many places to go back to are kept in mind.
const ALIVE_MAX: usize = 24;

/// Folds a run, and makes of it what forks at some events begin with.
pub(super) struct Past<'a> {
    run: Run,
    gather: Gather,
    /// The events that are asked for.
    wanted: &'a [u64],
    /// The state of a fork at each of them.
    found: BTreeMap<u64, Run>,
    /// The newest events at which a fork may find the run before its end.
    alive: VecDeque<u64>,
}

/// The state of a fork at an event.
#[derive(Debug, Clone)]
pub(super) struct Settled {
    /// The run when what stands at that event is settled.
    pub(super) run: Run,
    /// Events up to there at which the run may not have ended, newest first.
    pub(super) alive: Vec<u64>,
}

impl<'a> Past<'a> {
    pub(super) fn new(id: RunId, wanted: &'a [u64]) -> Self {
        Self {
            run: Run::new(id),
            gather: Gather::default(),
            wanted,
            found: BTreeMap::new(),
            alive: VecDeque::new(),
        }
    }

    /// Takes in the next event.
    pub(super) fn note(&mut self, record: &Record, event: &Event) -> Result<(), Misfit> {
        match self.gather.take(record.clone(), event.clone()) {
            Ok(Some(piece)) => self.take(&piece),
            // A decision that cannot be recomputed cannot be forked, so a fork of it is never suggested.
            Ok(None) | Err(_) => Ok(()),
        }
    }

    /// The states of the forks, once all events were read.
    pub(super) fn finish(mut self) -> Result<(BTreeMap<u64, Run>, Vec<u64>), Misfit> {
        if let Some(piece) = self.gather.rest() {
            self.take(&piece)?;
        }
        Ok((self.found, self.alive.into_iter().rev().collect()))
    }

    fn take(&mut self, piece: &Piece) -> Result<(), Misfit> {
        let (first, (end, _)) = (piece.first(), piece.end());
        let last = self.wanted.iter().max().copied().unwrap_or(0);
        if first > last {
            return Ok(());
        }
        for at in self.wanted.iter().filter(|at| (first..end).contains(at)) {
            let mut run = self.run.clone();
            if cut(&mut run, &piece.decided, &piece.events, *at).is_ok() {
                self.found.insert(*at, run);
            }
        }
        for event in &piece.events {
            fold::take(&mut self.run, event)?;
        }
        if self.wanted.contains(&end) {
            self.found.insert(end, self.run.clone());
        }
        // Where a decision ends the run, the event before it may be the one to go back to.
        let alive = if is_alive(&self.run) { end } else { end - 1 };
        if alive >= first && alive <= last {
            if self.alive.len() == ALIVE_MAX {
                self.alive.pop_front();
            }
            self.alive.push_back(alive);
        }
        Ok(())
    }
}

/// The states of forks at some events, and the other events at which the run can be forked.
fn forks(
    journal: &dyn Journal,
    id: &RunId,
    wanted: &[u64],
) -> Result<(BTreeMap<u64, Run>, Vec<u64>), LoadError> {
    let mut past = Past::new(id.clone(), wanted);
    walk(journal, id, 0, ChainHash::origin(id), |record, event| past.note(record, event))?;
    past.finish().map_err(|misfit| LoadError::Damaged {
        run: id.clone(),
        seq: wanted.iter().max().copied().unwrap_or(0),
        what: misfit.to_string(),
    })
}

/// The state of a fork at `at`; `None` where a fork is not possible.
pub(super) fn settled(
    journal: &dyn Journal,
    id: &RunId,
    at: u64,
) -> Result<Option<Settled>, LoadError> {
    let (mut found, alive) = forks(journal, id, &[at])?;
    Ok(found.remove(&at).map(|run| Settled { run, alive }))
}

/// The states of forks at some events, in the order asked for, without those at which the run has ended.
pub(super) fn states_at(
    journal: &dyn Journal,
    id: &RunId,
    at: &[u64],
) -> Result<Vec<(u64, Run)>, LoadError> {
    let (mut found, _) = forks(journal, id, at)?;
    let states = at.iter().filter_map(|seq| Some((*seq, found.remove(seq)?)));
    Ok(states.filter(|(_, run)| is_alive(run)).collect())
}
