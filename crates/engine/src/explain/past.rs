//! A run as a fork would begin with it, at an event that may stand in the middle of a decision.

use std::collections::{BTreeMap, VecDeque};

use materia_contract::{ChainHash, Event, RunId};
use materia_kernel::{Recomputation, Run, evolve};

use super::attempt::is_alive;
use crate::load::walk;
use crate::{Journal, LoadError};

/// How far a decision's input may lie behind its first event.
const LOOKAHEAD_EVENTS: usize = 256;

/// How many places to go back to are kept in mind.
const ALIVE_MAX: usize = 24;

/// Decides again beside the events, and keeps in mind where the run can be taken up.
pub(super) struct Past {
    decided: Recomputation,
    /// Whether the journal does not follow from its inputs, so that it cannot be forked.
    diverges: bool,
    /// The newest events between two decisions at which the run had not ended.
    alive: VecDeque<u64>,
}

/// What a fork at an event begins with.
pub(super) struct Settled {
    /// The run when the decision at that event is done.
    pub(super) run: Run,
    /// Events between two decisions, up to there, at which the run had not ended, newest first.
    pub(super) alive: Vec<u64>,
}

impl Past {
    pub(super) fn new(id: RunId) -> Self {
        Self { decided: Recomputation::new(id), diverges: false, alive: VecDeque::new() }
    }

    /// Takes in the first of these events; the others are those behind it.
    pub(super) fn note(&mut self, upcoming: &[Event]) {
        let Some(event) = upcoming.first().filter(|_| !self.diverges) else { return };
        if self.decided.next(upcoming).is_err() {
            self.diverges = true;
            return;
        }
        if self.decided.rest_of_decision().next().is_none() && is_alive(self.decided.run()) {
            if self.alive.len() == ALIVE_MAX {
                self.alive.pop_front();
            }
            self.alive.push_back(event.seq);
        }
    }

    /// What a fork at the last of the events so far begins with; `None` where there can be none.
    pub(super) fn settled(&self) -> Option<Settled> {
        let alive = || self.alive.iter().rev().copied().collect();
        let settled = || Settled { run: self.decided.run().clone(), alive: alive() };
        (!self.diverges).then(settled)
    }
}

/// Decides a run again up to `at`.
pub(super) fn settled(
    journal: &dyn Journal,
    id: &RunId,
    at: u64,
) -> Result<Option<Settled>, LoadError> {
    let mut past = Past::new(id.clone());
    let mut window: Vec<Event> = Vec::new();
    let mut take = |window: &mut Vec<Event>, keep: usize| {
        let ready = window.len().saturating_sub(keep);
        for first in 0..ready {
            if window[first].seq <= at {
                past.note(&window[first..]);
            }
        }
        window.drain(..ready);
    };
    walk(journal, id, 0, ChainHash::origin(id), |_, event| {
        if event.seq <= at.saturating_add(LOOKAHEAD_EVENTS as u64) {
            window.push(event.clone());
        }
        if window.len() >= 2 * LOOKAHEAD_EVENTS {
            take(&mut window, LOOKAHEAD_EVENTS);
        }
    })?;
    take(&mut window, 0);
    Ok(past.settled())
}

/// The states at some events, in the order asked for.
pub(super) fn states_at(
    journal: &dyn Journal,
    id: &RunId,
    at: &[u64],
) -> Result<Vec<Run>, LoadError> {
    let mut run = Run::new(id.clone());
    let mut found = BTreeMap::new();
    let last = at.iter().max().copied().unwrap_or(0);
    walk(journal, id, 0, ChainHash::origin(id), |_, event| {
        if event.seq <= last {
            evolve(&mut run, event);
        }
        if at.contains(&event.seq) {
            found.insert(event.seq, run.clone());
        }
    })?;
    Ok(at.iter().filter_map(|seq| found.remove(seq)).collect())
}
