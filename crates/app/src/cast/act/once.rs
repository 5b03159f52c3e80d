//! Applies one command to a cast that no process runs, without running the cast.

use std::path::Path;
use std::sync::Arc;

use materia_contract::{Command, Folders, RunId};
use materia_engine::{ClaimError, EngineError, Lease, Observer, SystemClock, World, only_do};
use materia_journal::Views;
use materia_runners::{Runners, UtilityRunner};

use crate::project::place::CastJournal;

/// Applies a command to a cast whose lease the caller holds. It has no agents: nothing starts. The files beside the
/// journal follow; those that cannot be written now are repaired by the next replay.
pub(super) fn once(
    journal: &Arc<dyn CastJournal>,
    root: &Path,
    folders: &Folders,
    (lease, id): (&Lease, &RunId),
    (command, supervisor): (Command, &Path),
) -> Result<(), EngineError> {
    let views = Arc::new(Views::start(root, folders));
    let _ = views.catch_up(&**journal, id);
    let observer: Arc<dyn Observer> = views.clone();
    let runner = Runners {
        utility: Arc::new(UtilityRunner::new(supervisor.to_owned())),
        scripted: None,
        mock: None,
        agent: None,
    };
    let world = World {
        journal: journal.clone(),
        observer,
        runner: Arc::new(runner),
        clock: Arc::new(SystemClock),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|source| ClaimError::Io { run: id.clone(), source })?;
    let done = runtime.block_on(only_do(&world, lease, id, command));
    let _ = views.flush();
    done.map(|_| ())
}
