//! The server of this user: finds it, and starts one in the background.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use materia_contract::RefusalCode;
use materia_server::client::{AskError, Client};

use crate::failure::Failure;
use crate::project;

/// How long a server may take to begin.
const BEGIN_WAIT_MAX: Duration = Duration::from_secs(15);
/// How long a server may take to bring its casts to rest.
pub(crate) const END_WAIT_MAX: Duration = Duration::from_mins(1);
/// Interval at which the state of a server is polled: it is another process, and its lock and its answers are looked at.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The state folder, which a server needs.
pub(crate) fn state() -> Result<PathBuf, Failure> {
    project::state_dir().ok_or_else(|| {
        let message =
            "the server needs a state folder; set MATERIA_STATE_DIR to a folder of yours, or HOME";
        Failure::storage(message)
    })
}

/// The server that runs. One that begins or ends is waited for: it answers soon, or is gone.
pub(crate) fn running() -> Result<Option<Client>, Failure> {
    running_at(&state()?)
}

fn running_at(state: &Path) -> Result<Option<Client>, Failure> {
    let begun = Instant::now();
    loop {
        if let Some(client) = Client::of(state) {
            return Ok(Some(client));
        }
        if !materia_server::is_held(state) {
            return Ok(None);
        }
        if begun.elapsed() > END_WAIT_MAX {
            return Err(Failure::Broken(format!(
                "your server holds the lock of `{}`, but it does not answer and did not end within {} s; end its process",
                state.display(),
                END_WAIT_MAX.as_secs()
            )));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// The server that runs, or one that was started in the background for the project in a folder.
pub(crate) fn ensure(dir: &Path) -> Result<Client, Failure> {
    let state = state()?;
    if let Some(client) = running_at(&state)? {
        return Ok(client);
    }
    let failed = |what: String| Failure::Broken(format!("no server could be started: {what}"));
    let own = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut server = Command::new(own);
    server.arg("serve").arg("--project").arg(dir);
    server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A process group of its own: Ctrl-C in this terminal is not meant for it.
    server.process_group(0);
    let mut child = server.spawn().map_err(|error| failed(error.to_string()))?;
    let begun = Instant::now();
    while begun.elapsed() < BEGIN_WAIT_MAX {
        if let Some(client) = Client::of(&state) {
            return Ok(client);
        }
        if let Ok(Some(status)) = child.try_wait()
            && !status.success()
            // Another one may have been quicker.
            && !materia_server::is_held(&state)
        {
            return Err(failed(format!("it ended at once ({status}); `materia serve` says why")));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    Err(failed(format!("it did not start within {} s", BEGIN_WAIT_MAX.as_secs())))
}

/// Converts an error of the server into a failure of this command.
pub(crate) fn refused(error: AskError) -> Failure {
    match error {
        AskError::Unreached(error) => {
            Failure::Broken(format!("the server cannot be reached: {error}"))
        }
        AskError::Refused(problem) if problem.code == RefusalCode::TrustRequired => {
            Failure::trust(problem.detail)
        }
        AskError::Refused(problem) => Failure::resolution(problem.detail),
    }
}
