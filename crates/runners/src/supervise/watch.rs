//! Watches the process tree and ends it.

use std::fs::File;
use std::io::{self, Read};
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use super::cgroup::{self, Group};
use super::protocol::{CONTENT_BYTES_MAX, INPUT, NO_MORE, POLITE, RENEWED};
use super::tree;

/// How long those who end together with the child may take to do so by themselves.
const TOGETHER: Duration = Duration::from_millis(2);
/// How long killed processes may take to go. Only one that hangs in the kernel needs any time.
const KILLED_BY: Duration = Duration::from_secs(5);
/// The longest pause between two searches for processes to kill.
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// An event that the supervisor handles.
enum Notice {
    /// The child has ended.
    ChildEnded(WaitStatus),
    /// The tree is empty.
    Empty,
    /// materia asks for a polite end.
    Polite,
    /// The tree may live so long from now on.
    Renewed(Duration),
    /// materia is gone.
    Gone,
}

/// How it ended.
pub(super) struct Ended {
    /// The child's status; absent if it could not be ended.
    pub(super) status: Option<WaitStatus>,
    /// Processes that would not go.
    pub(super) survivors: u32,
    /// Whether materia is gone, so that no verdict can be sent.
    pub(super) gone: bool,
}

/// State of the watch.
pub(super) struct Watch {
    notices: Receiver<Notice>,
    status: Option<WaitStatus>,
    empty: bool,
    polite: bool,
    gone: bool,
    /// When the lease of the run lapses, if it can.
    lapses: Option<Instant>,
    group: Option<Gathering>,
}

/// The cgroup of a turn that lasts, and who moves the processes into it.
struct Gathering {
    group: Group,
    mover: JoinHandle<()>,
}

impl Gathering {
    fn start(group: Group) -> Option<Self> {
        let moved = group.clone();
        // On a thread of its own, for the kernel takes its time. Where it refuses, the sweep has to do.
        let work = move || drop(moved.gather());
        Some(Self { group, mover: thread::Builder::new().spawn(work).ok()? })
    }

    /// Removes the cgroup once it has no processes; one that cannot be removed is left for the next sweep.
    fn finish(self) {
        let _ = self.mover.join();
        let end = Instant::now() + KILLED_BY;
        while !self.group.remove() && Instant::now() < end {
            self.group.kill();
            // Killed processes need a moment to go.
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Watch {
    /// Starts to watch the child and the pipe from materia, whose input for the child goes to `input`. After the `term`
    /// the tree ends, unless it was renewed.
    pub(super) fn start(
        child: &Child,
        control: File,
        input: Option<Sender<Vec<u8>>>,
        term: Option<Duration>,
    ) -> io::Result<Self> {
        let (sender, notices) = channel();
        let reaper = sender.clone();
        let child = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        thread::Builder::new().spawn(move || reap(child, &reaper))?;
        thread::Builder::new().spawn(move || listen(control, input, &sender))?;
        let lapses = term.map(|term| Instant::now() + term);
        let (polite, gone) = (false, false);
        Ok(Self { notices, status: None, empty: false, polite, gone, lapses, group: None })
    }

    /// Waits until the child ends or materia asks for the end, then ends all processes of the tree. A long turn gets a
    /// cgroup named by its `mark`.
    pub(super) fn attend(mut self, mark: &str, polite: Signal, grace: Duration) -> Ended {
        let soon = Instant::now() + cgroup::LONG;
        while self.goes_on() && Instant::now() < soon {
            self.hear(Some(soon.saturating_duration_since(Instant::now())));
        }
        if self.goes_on() {
            self.group = Group::of(mark).and_then(Gathering::start);
        }
        while self.goes_on() {
            // Without its lease the run may go on elsewhere: the tree ends as if materia were gone.
            let left = self.lapses.map(|end| end.saturating_duration_since(Instant::now()));
            self.gone |= left.is_some_and(|left| left.is_zero());
            if self.goes_on() {
                self.hear(left);
            }
        }
        if self.gone {
            // At once.
        } else if self.status.is_some() {
            self.hear_until_empty(TOGETHER);
        } else if self.polite {
            tree::signal_descendants(polite);
            // A stopped process could not receive the signal to end.
            tree::signal_descendants(Signal::CONT);
            self.hear_until_empty(grace);
        }
        self.kill();
        let left = if self.empty { 0 } else { tree::living_descendants().len() };
        let survivors = u32::try_from(left).unwrap_or(u32::MAX);
        if let Some(group) = self.group.take().filter(|_| left == 0) {
            group.finish();
        }
        Ended { status: self.status, survivors, gone: self.gone }
    }

    /// Whether no event has ended the turn.
    fn goes_on(&self) -> bool {
        self.status.is_none() && !self.empty && !self.polite && !self.gone
    }

    /// Kills the remaining processes repeatedly until the tree is empty.
    ///
    /// One pass is not enough: meanwhile processes start others or, by forking and exiting, have a new pid when the
    /// signal comes.
    fn kill(&mut self) {
        let end = Instant::now() + KILLED_BY;
        let mut pause = Duration::from_millis(1);
        while !self.empty && Instant::now() < end {
            if let Some(Gathering { group, .. }) = &self.group {
                group.kill();
            }
            tree::signal_descendants(Signal::KILL);
            self.hear(Some(pause));
            pause = PAUSE_MAX.min(pause * 2);
        }
    }

    fn hear_until_empty(&mut self, limit: Duration) {
        let end = Instant::now() + limit;
        while !self.empty && !self.gone {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            self.hear(Some(left));
        }
    }

    fn hear(&mut self, limit: Option<Duration>) {
        let notice = match limit {
            Some(limit) => self.notices.recv_timeout(limit),
            None => self.notices.recv().map_err(RecvTimeoutError::from),
        };
        match notice {
            Ok(Notice::ChildEnded(status)) => self.status = Some(status),
            Ok(Notice::Empty) => self.empty = true,
            Ok(Notice::Polite) => self.polite = true,
            Ok(Notice::Renewed(left)) => self.lapses = Some(Instant::now() + left),
            Ok(Notice::Gone) => self.gone = true,
            Err(RecvTimeoutError::Timeout) => {}
            // Both threads are done: no process is left, and materia is gone.
            Err(RecvTimeoutError::Disconnected) => {
                self.empty = true;
                self.gone = true;
            }
        }
    }
}

/// Reaps the child and all orphans until no child process is left.
fn reap(child: Option<Pid>, notices: &Sender<Notice>) {
    loop {
        let notice = match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if Some(pid) == child => Notice::ChildEnded(status),
            Ok(_) | Err(Errno::INTR) => continue,
            Err(_) => Notice::Empty,
        };
        let last = matches!(notice, Notice::Empty);
        if notices.send(notice).is_err() || last {
            return;
        }
    }
}

/// Listens to materia until it is gone.
fn listen(mut control: File, mut input: Option<Sender<Vec<u8>>>, notices: &Sender<Notice>) {
    let mut byte = [0];
    loop {
        let notice = match control.read(&mut byte) {
            Ok(1) if byte[0] == POLITE => Notice::Polite,
            Ok(1) if byte[0] == INPUT => match more(&mut control) {
                Ok(bytes) => {
                    // An error means that the child has closed its input.
                    let _ = input.as_ref().map(|input| input.send(bytes));
                    continue;
                }
                Err(_) => Notice::Gone,
            },
            Ok(1) if byte[0] == RENEWED => match four(&mut control) {
                Ok(left) => Notice::Renewed(Duration::from_millis(left.into())),
                Err(_) => Notice::Gone,
            },
            Ok(1) if byte[0] == NO_MORE => {
                input = None;
                continue;
            }
            Ok(1..) => continue,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => Notice::Gone,
        };
        let last = matches!(notice, Notice::Gone);
        if notices.send(notice).is_err() || last {
            return;
        }
    }
}

/// Reads further input for the child.
fn more(control: &mut File) -> io::Result<Vec<u8>> {
    let length = four(control)? as usize;
    if length > CONTENT_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length];
    control.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Reads a number of four bytes.
fn four(control: &mut File) -> io::Result<u32> {
    let mut bytes = [0; 4];
    control.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}
