//! A cast as `show` prints it: a view over the events, made when somebody asks.

use std::collections::BTreeMap;

use materia_contract::{CastReport, ChainHash, ErrorCode, Event, OfTurn, Outcome, RunId, Visit};
use materia_kernel::{Phase, Run, evolve};

use crate::load::walk;
use crate::{Journal, LoadError};

/// Tells the story of a run so far.
pub fn report(journal: &dyn Journal, id: &RunId) -> Result<CastReport, LoadError> {
    let mut run = Run::new(id.clone());
    let mut visits = Visits::default();
    let mut head = ChainHash::origin(id);
    walk(journal, id, 0, head, |record, event| {
        evolve(&mut run, event);
        visits.note(event);
        head = record.hash;
    })?;
    let created = run.created().ok_or_else(|| LoadError::Unknown(id.clone()))?;
    let (error, waiting) = match run.phase() {
        Phase::Failed(error) => (Some(error.clone()), None),
        Phase::Waiting(waiting) => (None, Some(waiting.clone())),
        Phase::New | Phase::Running | Phase::Completed | Phase::Aborted => (None, None),
    };
    Ok(CastReport {
        cast_id: id.clone(),
        status: run.phase().status(),
        loadout: created.plan.loadout.clone(),
        visits: visits.list,
        state: run.variables().clone(),
        error,
        waiting,
        usage: run.usage(),
        run_dir: run.run_dir().to_owned(),
        last_seq: run.seq(),
        last_hash: head.to_string(),
        from_cast_id: created.from_cast_id.clone(),
    })
}

#[derive(Default)]
struct Visits {
    list: Vec<Visit>,
    open: BTreeMap<u64, usize>,
}

impl Visits {
    fn note(&mut self, event: &Event) {
        let Some(step) = event.body.of_turn() else { return };
        match step {
            OfTurn::Started(data) => {
                let Some(socket) = event.node.clone() else { return };
                self.open.insert(event.seq, self.list.len());
                self.list.push(Visit {
                    socket,
                    visit: data.visit,
                    attempt: data.attempt,
                    item: data.item.clone(),
                    outcome: Outcome::Running,
                });
            }
            OfTurn::Completed(data) => self.end(data.turn, Outcome::Completed),
            OfTurn::Failed(data) if data.code == ErrorCode::ContractError => {
                self.end(data.turn, Outcome::Rejected);
            }
            OfTurn::Failed(data) => self.end(data.turn, Outcome::Failed),
            OfTurn::Interrupted(data) => self.end(data.turn, Outcome::Interrupted),
        }
    }

    fn end(&mut self, turn: u64, outcome: Outcome) {
        if let Some(place) = self.open.remove(&turn) {
            self.list[place].outcome = outcome;
        }
    }
}
