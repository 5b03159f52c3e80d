//! Cleans up after a run whose process died: processes, and private folders of turns.

use std::path::Path;

use materia_contract::RunId;

use crate::cast_folder;
use crate::supervise::mark;

/// Ends the processes and removes the private folders. The caller holds the lease of the run, so that no other process
/// runs a turn of it. Returns the processes that would not end.
pub(crate) fn sweep(run: &RunId, run_dir: &Path) -> Result<(), String> {
    let left = mark::sweep_run(run, run_dir);
    if !left.is_empty() {
        let pids: Vec<String> = left.iter().map(i32::to_string).collect();
        return Err(format!(
            "processes of an earlier turn are alive and could not be ended (process {}); end them, then try again",
            pids.join(", ")
        ));
    }
    if !run_dir.exists() {
        return Ok(());
    }
    // A leftover folder is harmless: the next turn gets one of its own.
    if let Err(error) =
        cast_folder::folder(run_dir).and_then(|cast| cast.remove_all(cast_folder::TEMPORARY))
    {
        tracing::warn!(%error, "private folders of earlier turns could not be removed");
    }
    Ok(())
}
