//! Reads a run again whose texts were replaced by their length.

use materia_contract::{ChainHash, RunId};
use materia_kernel::Run;
use materia_verifier::Verifier;

use crate::fold::{Gather, Piece, take};
use crate::replay::{Replay, ReplayError, ReplayFault, first_objection, gathered, objected};
use crate::{Journal, NoSuchEvent, PAGE_BYTES, blocking};

/// Checks order, routes from recorded verdicts, budgets and timers of a redacted run, up to its end; `at` asks for the
/// state as of an event. Texts and hashes say nothing there, and no decision can be taken again.
pub fn replay_redacted(
    journal: &dyn Journal,
    id: &RunId,
    at: Option<u64>,
) -> Result<Replay, ReplayError> {
    let mut run = Run::new(id.clone());
    let mut gather = Gather::default();
    let mut verifier = Some(Verifier::of_redacted(id.clone()));
    let (mut seq, mut undecided) = (0, 0);
    let mut judge = |piece: Option<Piece>| {
        let Some(piece) = piece else { return Ok(()) };
        if !piece.known || verifier.is_none() {
            undecided += piece.events.len() as u64;
        }
        let objection = first_objection(&mut verifier, &[piece]);
        objection.map_or(Ok(()), |objection| Err(objected(id, objection)))
    };
    loop {
        let page = blocking(journal).read(id, seq, PAGE_BYTES)?;
        for record in page.records {
            seq = record.seq;
            let fault = |fault| ReplayError::Fault { run: id.clone(), seq, fault };
            let event = record.event();
            let piece = gathered(&mut gather, record).map_err(fault)?;
            judge(piece)?;
            if let Ok(event) = event
                && at.is_none_or(|at| seq <= at)
            {
                take(&mut run, &event)
                    .map_err(|misfit| fault(ReplayFault::Damaged(misfit.to_string())))?;
            }
        }
        if page.end {
            break;
        }
    }
    judge(gather.rest())?;
    if let Some(asked) = at.filter(|at| *at == 0 || *at > seq) {
        return Err(NoSuchEvent { run: id.clone(), asked, last: seq }.into());
    }
    Ok(Replay {
        events: seq,
        undecided,
        state: run.variables().clone(),
        status: run.phase().status(),
        last_seq: run.seq(),
        last_hash: ChainHash([0; 32]),
        left: Vec::new(),
    })
}
