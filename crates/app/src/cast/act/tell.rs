//! Sends a command to the process that runs a cast.

use std::time::{Duration, Instant};

use materia_contract::body::Told;
use materia_contract::{Answer, CommandId, Do};
use materia_engine::{ClaimError, Delivered, blocking, look_after, refusal_of_ended, wait};
use materia_kernel::Run;

use super::{Sender, rejection, step};
use crate::{Failure, Found, Result};

/// Timeout for the receipt of a command that was sent to another process.
const RECEIPT_PATIENCE: Duration = Duration::from_secs(5);

/// Interval at which the receipt is polled: the driver is another process, which answers in the journal.
const RECEIPT_POLL_INTERVAL: Duration = Duration::from_millis(30);

/// Result of sending a command to another process.
pub(super) enum Telling {
    /// The command was posted.
    Told(Told),
    /// It stopped driving the cast before it took the command: the caller can apply the command itself.
    LetGo,
}

/// Posts a command to the process that drives a cast, if it can be applied there, and waits briefly for the receipt.
/// The receipt is stored even if the caller stops waiting.
pub(super) fn tell<E: From<Failure>>(
    found: &Found,
    held: ClaimError,
    sender: Sender,
    choose: impl FnOnce(&Run) -> Result<Do, E>,
) -> Result<Telling, E> {
    let (run, _) = materia_engine::load(found.journal(), &found.id).map_err(Failure::from)?;
    let what = step::where_driven(choose(&run)?);
    let ended = refusal_of_ended(run.phase().status()).is_some();
    if matches!(what, Do::Recast | Do::Revive) && !ended {
        return Err(Failure::from(held).into());
    }
    if let Some(why) = rejection(&run, &what) {
        return Err(Failure::resolution(format!("{held}: {why}")).into());
    }
    let command = sender.command(what);
    let posting = blocking(found.journal()).post(&found.id, &command).map_err(Failure::from)?;
    let delivered = match posting.receipt {
        Some(receipt) => Some(Delivered::Answered(receipt)),
        None => delivered(found, &posting.id)?,
    };
    let answer = match delivered {
        Some(Delivered::Answered(receipt)) => Some(receipt.answer),
        Some(Delivered::TakenBack) => return Ok(Telling::LetGo),
        None => None,
    };
    let events = match answer {
        Some(Answer::Refused { reason }) => {
            return Err(Failure::resolution(format!("cast `{}`: {reason}", found.id)).into());
        }
        Some(Answer::Done { first, last }) => Some((first..=last).collect()),
        None => None,
    };
    Ok(Telling::Told(Told { cast_id: found.id.clone(), told: true, events }))
}

fn delivered(found: &Found, id: &CommandId) -> Result<Option<Delivered>> {
    let begun = Instant::now();
    while begun.elapsed() < RECEIPT_PATIENCE {
        if let Some(delivered) = wait(look_after(found.journal(), &found.id, id))? {
            return Ok(Some(delivered));
        }
        std::thread::sleep(RECEIPT_POLL_INTERVAL);
    }
    Ok(None)
}
