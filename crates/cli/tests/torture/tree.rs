//! Finds every process that a command has started, whatever it did to get away.

use std::fs;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How long a tree may live after its root.
pub(crate) const GONE_BY: Duration = Duration::from_secs(20);

/// Set in the environment of a command; whatever it starts inherits it.
const MARK: &str = "MATERIA_TORTURE_MARK";

/// A name for the tree of one test, or of one of its victims.
#[derive(Clone)]
pub(crate) struct Mark(String);

/// Somebody who lives.
#[derive(Debug, Clone)]
pub(crate) struct Alive {
    pub(crate) pid: i32,
    pub(crate) what: String,
}

impl Mark {
    pub(crate) fn new(name: impl std::fmt::Display) -> Self {
        Self(format!("{}-{name}", std::process::id()))
    }

    /// Marks what a command will start.
    pub(crate) fn on<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env(MARK, &self.0)
    }

    /// Everybody with the mark. Zombies have no environment any more.
    pub(crate) fn alive(&self) -> Vec<Alive> {
        let wanted = format!("{MARK}={}", self.0);
        let pids = fs::read_dir("/proc").unwrap();
        let pids = pids.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        pids.filter(|pid| {
            let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environ.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
        })
        .map(|pid: i32| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            Alive { pid, what: String::from_utf8_lossy(&words).replace('\0', " ") }
        })
        .collect()
    }

    /// The supervisor under which a program runs.
    pub(crate) fn supervisor(&self) -> Alive {
        let found = self.alive().into_iter().find(|one| one.what.contains("__supervise"));
        found.expect("a program is under way")
    }

    /// Panics if anybody outlives the limit; whoever does is ended first.
    pub(crate) fn gone(&self, when: &str) {
        let begun = Instant::now();
        loop {
            let left = self.alive();
            if left.is_empty() {
                return;
            }
            if begun.elapsed() > GONE_BY {
                for one in &left {
                    send(one.pid, Signal::KILL);
                }
                panic!("{when}: alive after {GONE_BY:?}: {left:?}");
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Sends a signal to a command that was started here.
pub(crate) fn signal(child: &Child, signal: Signal) {
    send(i32::try_from(child.id()).unwrap(), signal);
}

/// Sends a signal; that the process has just ended is no fault.
pub(crate) fn send(pid: i32, signal: Signal) {
    let _ = kill_process(Pid::from_raw(pid).unwrap(), signal);
}
