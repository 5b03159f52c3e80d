//! Telling a process that drives a cast what a person wants.

use std::time::{Duration, Instant};

use materia_contract::body::Told;
use materia_contract::{Answer, Command, CommandId, Do};
use materia_engine::{ClaimError, blocking};
use materia_kernel::Run;

use super::{rejection, step};
use crate::{Failure, Found};

/// How long somebody who told another process something waits for what became of it.
const RECEIPT_PATIENCE: Duration = Duration::from_secs(5);

/// How often is looked for it.
const RECEIPT_LOOK: Duration = Duration::from_millis(30);

/// Leaves word for the process that drives a cast, where the command can be taken there, and waits a little for
/// what becomes of it. What it came to is kept, whoever waits for it.
pub fn tell<E: From<Failure>>(
    found: &Found,
    held: ClaimError,
    name: Option<CommandId>,
    choose: impl FnOnce(&Run) -> Result<Do, E>,
) -> Result<Told, E> {
    let (run, _) = materia_engine::load(found.journal(), &found.id).map_err(Failure::from)?;
    let what = step::where_driven(choose(&run)?);
    if let Do::Recast | Do::Revive = what {
        return Err(Failure::from(held).into());
    }
    if let Some(why) = rejection(&run, &what) {
        return Err(Failure::resolution(format!("{held}: {why}")).into());
    }
    let posting =
        blocking(found.journal()).post(&found.id, &Command { id: name, ..Command::person(what) });
    let id = posting.map_err(Failure::from)?.id;
    let events = match receipt(found, &id)? {
        Some(Answer::Refused { reason }) => {
            return Err(Failure::resolution(format!("cast `{}`: {reason}", found.id)).into());
        }
        Some(Answer::Done { first, last }) => Some((first..=last).collect()),
        None => None,
    };
    Ok(Told { cast_id: found.id.clone(), told: true, events })
}

fn receipt(found: &Found, id: &CommandId) -> Result<Option<Answer>, Failure> {
    let begun = Instant::now();
    while begun.elapsed() < RECEIPT_PATIENCE {
        if let Some(receipt) = blocking(found.journal()).receipt(&found.id, id)? {
            return Ok(Some(receipt.answer));
        }
        std::thread::sleep(RECEIPT_LOOK);
    }
    Ok(None)
}
