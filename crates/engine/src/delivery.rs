//! Result of a command in the inbox, as its sender sees it.

use materia_contract::{CommandId, RunId};

use crate::{Journal, ReadError, Receipt};

/// Result of a command in the inbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivered {
    /// It was taken, or refused.
    Answered(Receipt),
    /// Nobody drives the run any more, and nobody has taken it: it waits no longer, and the sender can do it himself.
    TakenBack,
}

/// Looks once what became of a command that was left; `None` while whoever drives the run may still take it.
///
/// A run can come to rest between the moment at which its sender saw it driven and the moment at which the command was left.
/// Nobody would ever look for it then, so it is taken back, under the lease: nobody else can be about to do it.
pub async fn look_after(
    journal: &dyn Journal,
    run: &RunId,
    command: &CommandId,
) -> Result<Option<Delivered>, ReadError> {
    if let Some(receipt) = journal.receipt(run, command).await? {
        return Ok(Some(Delivered::Answered(receipt)));
    }
    // A lock that cannot be looked at now can be at the next look.
    if journal.is_driven(run).await.unwrap_or(true) {
        return Ok(None);
    }
    let Ok(lease) = journal.claim(run).await else { return Ok(None) };
    let waited = journal.withdraw(run, lease.epoch(), command).await?;
    Ok(waited.then_some(Delivered::TakenBack))
}
