//! The supervisor: a small process between materia and a program it runs.
//!
//! ```text
//!  materia ── stdin: spec, input, then `T` or the end ──► supervisor ── stdin ──► child
//!          ◄── stdout: frames O, E, … and one last X ──             ◄─ stdout, stderr ─┤
//!                                                        (subreaper)                  ├─ grandchild
//!                                                             ▲                       └─ …
//!                                                             └── whoever is orphaned comes here
//! ```
//!
//! Why a process of its own: only a *subreaper* inherits orphans, and being one is a property of
//! a whole process. Whatever the child starts, however it forks, changes its group or opens a
//! session of its own, stays a descendant of the supervisor until it is reaped here. So the tree
//! is empty exactly when `wait` has nobody left to wait for, and nothing can hide.
//!
//! * The child ends: what it left behind is killed, the pipes are emptied, and one last frame
//!   says how it went. An open pipe that somebody outside the tree holds is not waited for.
//! * materia asks (`T`): everybody gets SIGTERM (or SIGINT), a grace period, then SIGKILL.
//! * materia goes away, in whatever manner: its end of the pipe closes with it, and everybody
//!   gets SIGKILL at once.
//!
//! The supervisor has a session of its own, so that a Ctrl-C on the terminal reaches materia
//! alone; the child has a group of its own within it. In Planning mode the supervisor locks
//! itself into a sandbox before it starts anything, and every descendant inherits that.
//!
//! Deliberately absent: time limits, output limits, and any knowledge of casts. The
//! [`UtilityRunner`](crate::UtilityRunner) decides those. There is no async runtime either: the
//! process must start fast.

mod attend;
mod lock;
pub(crate) mod protocol;
mod pump;
mod sandbox;
mod spawn;
pub(crate) mod tree;

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::Arc;

pub use materia_contract::body::PlanningSupport;
pub(crate) use pump::PIPE_BYTES;
pub use sandbox::{landlock_version, planning_support};

use attend::{Ended, Watch};
use protocol::{Sink, Spec, Verdict};

/// The hidden first argument that makes a program the supervisor.
pub const ARGUMENT: &str = "__supervise";

/// Is the supervisor; a program calls it first thing when it was started with [`ARGUMENT`].
///
/// The exit code tells nobody anything: what there is to say is in the last frame.
#[must_use]
pub fn main() -> ExitCode {
    match supervise() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn supervise() -> io::Result<()> {
    // Fails only if we lead a group already; then the terminal's signals do not reach us either.
    let _ = rustix::process::setsid();
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;

    let mut control = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let sink = Arc::new(Sink::new(File::from(io::stdout().as_fd().try_clone_to_owned()?)));
    let (spec, input) = Spec::read(&mut control)?;

    // Held until this process ends, which is after everybody of the tree has ended.
    let _lock = match spec.lock.as_ref().map(|path| lock::take(&path.path())).transpose() {
        Ok(lock) => lock,
        Err(error) => {
            let (locked, spawn_error) = (error.is_held(), Some(error.to_string()));
            return sink.verdict(&Verdict { spawn_error, locked, ..Verdict::default() });
        }
    };
    let sandbox = match spec.writable.as_ref().map(sandbox::lock_in).transpose() {
        Ok(sandbox) => sandbox,
        Err(error) => {
            // Better no turn than one that may write where it must not.
            let spawn_error = Some(format!("the Planning sandbox could not be set up: {error}"));
            return sink.verdict(&Verdict { spawn_error, ..Verdict::default() });
        }
    };
    let mut child = match spawn::spawn(&spec) {
        Ok(child) => child,
        Err(message) => {
            let spawn_error = Some(message);
            return sink.verdict(&Verdict { spawn_error, sandbox, ..Verdict::default() });
        }
    };

    let started = pump::start(&mut child, input, &spec, &sink)
        .and_then(|(pumps, input)| Ok((pumps, Watch::start(&child, control, input)?)));
    let (pumps, watch) = started.inspect_err(|_| {
        // No thread to be had. Nobody would watch the tree, so it must not live.
        tree::signal_descendants(rustix::process::Signal::KILL);
    })?;
    let Ended { status, survivors, gone } = watch.attend(spec.polite(), spec.grace());
    pumps.finish();
    if gone {
        return Ok(());
    }
    sink.verdict(&Verdict {
        exit_code: status.and_then(rustix::process::WaitStatus::exit_status),
        signal: status.and_then(rustix::process::WaitStatus::terminating_signal),
        survivors,
        sandbox,
        ..Verdict::default()
    })
}
