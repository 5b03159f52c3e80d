//! A cast as `show` prints it: a view over the events, made when somebody asks.

use std::collections::BTreeMap;

use materia_contract::{CastReport, ChainHash, ErrorCode, Event, EventBody, Outcome, RunId, Visit};
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
        match &event.body {
            EventBody::TurnStarted(data) => {
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
            EventBody::TurnCompleted(data) => self.end(data.turn, Outcome::Completed),
            EventBody::TurnFailed(data) if data.code == ErrorCode::ContractError => {
                self.end(data.turn, Outcome::Rejected);
            }
            EventBody::TurnFailed(data) => self.end(data.turn, Outcome::Failed),
            EventBody::TurnInterrupted(data) => self.end(data.turn, Outcome::Interrupted),
            EventBody::RunCreated(_)
            | EventBody::RunResumed(_)
            | EventBody::RunWaiting(_)
            | EventBody::RunCompleted(_)
            | EventBody::RunFailed(_)
            | EventBody::RunAborted(_)
            | EventBody::RouteSelected(_)
            | EventBody::HandoffSent(_)
            | EventBody::PayloadDelivered(_)
            | EventBody::PayloadConsumed(_)
            | EventBody::StatePatched(_)
            | EventBody::OutputFieldsIgnored(_)
            | EventBody::CursorAdvanced(_)
            | EventBody::LoopEntered(_)
            | EventBody::LoopExhausted(_)
            | EventBody::FollowUpCaptured(_)
            | EventBody::BudgetWarned(_)
            | EventBody::NodeBlocked(_)
            | EventBody::ModeChanged(_)
            | EventBody::PayloadSuperseded(_)
            | EventBody::PayloadDropped(_)
            | EventBody::PayloadDeduplicated(_)
            | EventBody::PayloadFiltered(_)
            | EventBody::TimerSet(_)
            | EventBody::TimerFired(_)
            | EventBody::TurnRequested(_)
            | EventBody::ApprovalRequested(_)
            | EventBody::ApprovalGiven(_)
            | EventBody::ApprovalDenied(_)
            | EventBody::TimelineReached(_)
            | EventBody::BudgetChanged(_)
            | EventBody::RunRevived(_)
            | EventBody::MessageReceived(_)
            | EventBody::SocketFinished(_) => {}
        }
    }

    fn end(&mut self, turn: u64, outcome: Outcome) {
        if let Some(place) = self.open.remove(&turn) {
            self.list[place].outcome = outcome;
        }
    }
}
