//! Result of a command in the inbox, as its sender sees it.

use materia_contract::{CommandId, RunId};

use crate::{Journal, ReadError, Receipt};

/// Result of a command in the inbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivered {
    /// It was taken, or refused.
    Answered(Receipt),
    /// The run has no driver any more, and the command was not taken: it was removed from the inbox, and the sender
    /// can carry it out itself.
    TakenBack,
}

/// Checks once for the answer to a command in the inbox; `None` while the driver may still take it.
///
/// If the run has no driver any more, the command is taken back under the lease, so that no other process can carry
/// it out at the same time.
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
