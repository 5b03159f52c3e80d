//! A run as a fork would begin with it, at an event that may stand in the middle of a decision.

use std::collections::{BTreeMap, VecDeque};

use materia_contract::{ChainHash, Event, Record, RunId};
use materia_kernel::{Misfit, Run};

use super::attempt::is_alive;
use crate::fold::Fold;
use crate::load::walk;
use crate::{Journal, LoadError};

/// How many places to go back to are kept in mind.
const ALIVE_MAX: usize = 24;

/// Folds a run as far as a fork at an event takes it, and keeps in mind where it can be taken up.
pub(super) struct Past {
    fold: Fold,
    at: u64,
    /// Whether the decision at that event is told to its end.
    over: bool,
    /// The newest events between two decisions at which the run had not ended.
    alive: VecDeque<u64>,
}

/// What a fork at an event begins with.
#[derive(Debug, Clone)]
pub(super) struct Settled {
    /// The run when the decision at that event is done.
    pub(super) run: Run,
    /// Events between two decisions, up to there, at which the run had not ended, newest first.
    pub(super) alive: Vec<u64>,
}

impl Past {
    pub(super) fn new(id: RunId, at: u64) -> Self {
        Self { fold: Fold::new(Run::new(id)), at, over: false, alive: VecDeque::new() }
    }

    /// Takes in the next event.
    pub(super) fn note(&mut self, record: &Record, event: &Event) -> Result<(), Misfit> {
        let seq = self.fold.run.seq();
        if record.input.is_some() && seq > 0 {
            self.decision_ended();
            self.over |= seq >= self.at;
        }
        if self.over { Ok(()) } else { self.fold.take(record, event) }
    }

    fn decision_ended(&mut self) {
        let run = &self.fold.run;
        if self.over || run.seq() > self.at || !is_alive(run) {
            return;
        }
        if self.alive.len() == ALIVE_MAX {
            self.alive.pop_front();
        }
        self.alive.push_back(run.seq());
    }

    /// What a fork at that event begins with.
    pub(super) fn settled(mut self) -> Settled {
        self.decision_ended();
        Settled { run: self.fold.run, alive: self.alive.into_iter().rev().collect() }
    }
}

/// Folds a run up to the end of the decision at `at`.
pub(super) fn settled(journal: &dyn Journal, id: &RunId, at: u64) -> Result<Settled, LoadError> {
    let mut past = Past::new(id.clone(), at);
    walk(journal, id, 0, ChainHash::origin(id), |record, event| past.note(record, event))?;
    Ok(past.settled())
}

/// The states at some events, in the order asked for.
pub(super) fn states_at(
    journal: &dyn Journal,
    id: &RunId,
    at: &[u64],
) -> Result<Vec<Run>, LoadError> {
    let mut fold = Fold::new(Run::new(id.clone()));
    let mut found = BTreeMap::new();
    let last = at.iter().max().copied().unwrap_or(0);
    walk(journal, id, 0, ChainHash::origin(id), |record, event| {
        if event.seq <= last {
            fold.take(record, event)?;
        }
        if at.contains(&event.seq) {
            found.insert(event.seq, fold.run.clone());
        }
        Ok(())
    })?;
    Ok(at.iter().filter_map(|seq| found.remove(seq)).collect())
}
