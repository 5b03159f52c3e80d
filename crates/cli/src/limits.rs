//! Resource limits of this process: raises them, or reports that they are too low.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::Failure;

/// How many files a command needs to have open at once: the journal, its log and readers, pipes to one turn, and what
/// the runtime itself takes.
const FILES_MIN: u64 = 64;

/// The signal of a write beyond the largest size of a file.
const SIGXFSZ: i32 = 25;

/// Sees to it that limits are met with words and not with an end in the middle.
pub(crate) fn heed() -> Result<(), Failure> {
    enough_files()?;
    if getrlimit(Resource::Fsize).current.is_some() {
        survive_large_files();
    }
    Ok(())
}

/// Asks for as many open files as are needed, or says that there are too few.
fn enough_files() -> Result<(), Failure> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= FILES_MIN);
    if enough(current) {
        return Ok(());
    }
    let wanted = Rlimit { current: Some(FILES_MIN), maximum };
    if enough(maximum) && setrlimit(Resource::Nofile, wanted).is_ok() {
        return Ok(());
    }
    let allowed = current.unwrap_or_default();
    Err(Failure::storage(format!(
        "this process may have only {allowed} files open at once, and materia needs {FILES_MIN}; \
         `ulimit -n 1024` allows more, in this shell and what it starts"
    )))
}

/// Makes a write beyond the file size limit fail with an error instead of ending the process. A signal handler is
/// enough; it stays installed as long as the process lives.
fn survive_large_files() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    if let Ok(runtime) = runtime {
        let _inside = runtime.enter();
        // If the handler cannot be installed, the signal ends the process as before.
        let _ = signal(SignalKind::from_raw(SIGXFSZ));
    }
}
