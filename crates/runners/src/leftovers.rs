//! What a run has left whose process went away: processes, and private folders of turns.

use std::io;

use materia_engine::TurnOrder;

use crate::place;
use crate::supervise::mark;

/// Ends the processes and takes the private folders away. Whoever calls it holds the lease of the run, so that nobody
/// else has a turn of it under way.
pub(crate) fn sweep(order: &TurnOrder) -> io::Result<()> {
    let alive = mark::sweep_run(order);
    if alive > 0 {
        return Err(io::Error::other(format!(
            "{alive} processes of an earlier turn would not end"
        )));
    }
    place::cast(order)?.remove_all(place::TEMPORARY)
}
