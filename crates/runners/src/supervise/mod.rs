//! The supervisor: a small process between materia and a program it runs.
//!
//! ```text
//!  materia ── stdin: spec, input, then `T` or the end ──► supervisor ── stdin ──► child
//!          ◄── stdout: frames O, E, … and one last X ──             ◄─ stdout, stderr ─┤
//!                                                        (subreaper)                  ├─ grandchild
//!                                                             ▲                       └─ …
//!                                                             └── inherits orphans
//! ```
//!
//! It is a separate process because only a *subreaper* inherits orphans, and that is a property of a whole process.
//! Every process that the child starts, even in its own group or session, stays a descendant of the supervisor until
//! the supervisor reaps it. So the tree is empty exactly when `wait` has no child left.
//!
//! * The child exits: its remaining processes are killed, the pipes are emptied, and one last frame reports the
//!   result. The supervisor does not wait for a pipe that a process outside of the tree holds open.
//! * materia asks (`T`): all processes get SIGTERM (or SIGINT), a grace period, then SIGKILL.
//! * materia dies: its end of the pipe closes, and all processes get SIGKILL at once.
//! * The lease of the run lapses, because materia was stopped or has lost its servers: the same.
//!
//! The supervisor has its own session, so that a Ctrl-C on the terminal only reaches materia; the child has its own
//! group in it. In Planning mode the child is started from inside a sandbox, which every descendant inherits; the
//! supervisor itself stays outside.
//!
//! The child runs as the same user and may try to impersonate the supervisor. Therefore programs without privileges
//! cannot trace the supervisor or open it through `/proc`, its last frame begins with a [token](protocol::Token) that
//! only materia knows, and processes that remain after it is killed have a [mark](mark::Mark).
//!
//! Deliberately absent: timeouts, output limits, and any knowledge of casts, which belong to the
//! [`UtilityRunner`](crate::UtilityRunner); and an async runtime, because the process must start fast.

mod cgroup;
mod filter;
mod lock;
mod machine;
pub(crate) mod mark;
mod membership;
pub(crate) mod protocol;
mod pump;
mod random;
pub(crate) mod sandbox;
mod spawn;
pub(crate) mod tree;
mod watch;

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::Arc;

pub use machine::{machine, planning_support};
pub use materia_contract::body::PlanningSupport;
pub use membership::{InTurn, Processes, name_driver, own_turn};
pub(crate) use pump::PIPE_BYTES;

use protocol::{Sink, Spec, Verdict};
use spawn::NotStarted;
use watch::{Ended, Watch};

/// The hidden first argument that makes a program the supervisor.
pub const ARGUMENT: &str = "__supervise";

/// Protects this process; call it once, before it starts anything. Programs of the same user can then not trace it or
/// read its memory and environment. It also inherits the processes of a killed supervisor, and so can end them. If the
/// system refuses, turns run anyway.
pub fn shield() {
    use rustix::process::{DumpableBehavior, getpid, set_child_subreaper, set_dumpable_behavior};
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let _ = set_child_subreaper(Some(getpid()));
}

/// Is the supervisor; a program calls it first thing when it was started with [`ARGUMENT`].
///
/// The exit code has no meaning: the result is in the last frame.
pub fn main() -> ExitCode {
    match supervise() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn supervise() -> io::Result<()> {
    // Before anything is started that could look at us.
    shield();
    // Fails only if we lead a group already; then the terminal's signals do not reach us either.
    let _ = rustix::process::setsid();
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;

    let mut control = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (spec, input) = Spec::read(&mut control)?;
    let pipe = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let sink = Arc::new(Sink::new(pipe, spec.token));

    // Held until this process ends, which is after all processes of the tree have ended.
    let _lock = match spec.lock.as_ref().map(|path| lock::take(&path.path())).transpose() {
        Ok(lock) => lock,
        Err(error) => {
            let (locked, spawn_error) = (error.is_held(), Some(error.to_string()));
            return sink.verdict(&Verdict { spawn_error, locked, ..Verdict::default() });
        }
    };
    let started = match &spec.writable {
        None => Ok((None, spawn::spawn(&spec))),
        Some(writable) => {
            let started = sandbox::inside(writable, || spawn::spawn(&spec));
            started.map(|(support, child)| (Some(support), child))
        }
    };
    let (sandbox, child) = match started {
        Ok(started) => started,
        Err(error) => {
            // Better no turn than one that may write where it must not.
            let spawn_error = Some(format!("the Planning sandbox could not be set up: {error}"));
            return sink.verdict(&Verdict { spawn_error, ..Verdict::default() });
        }
    };
    let mut child = match child {
        Ok(child) => child,
        Err(NotStarted { why, withheld }) => {
            let spawn_error = Some(why);
            return sink.verdict(&Verdict { spawn_error, withheld, sandbox, ..Verdict::default() });
        }
    };

    let started = pump::start(&mut child, input, &spec, &sink)
        .and_then(|(pumps, input)| Ok((pumps, Watch::start(&child, control, input, spec.term())?)));
    let (pumps, watch) = started.inspect_err(|_| {
        // No thread could be started to watch the tree, so it must not live.
        tree::signal_descendants(rustix::process::Signal::KILL);
    })?;
    let Ended { status, survivors, gone } = watch.attend(&spec.mark(), spec.polite(), spec.grace());
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
