//! One process of a turn, from its start to its exit.
//!
//! The process runs under the [supervisor](crate::supervise) as utilities do; in addition its output is read as it
//! arrives, it may get replies, and it has a timeout for silence.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use materia_engine::Stop;
use tokio::time::{Instant, sleep_until};

use super::watchdog::{Limits, Watchdog, later};
use super::{Cut, Exit, Polite};
use crate::PlanningSupport;
use crate::approved_files::Pin;
use crate::raw_path::RawPath;
use crate::supervise::mark::Mark;
use crate::supervise::protocol::{Spec, Verdict, Writable};
use crate::utility::link::{Heard, Link, OVERDUE};

/// Process to start.
pub(super) struct Order {
    pub(super) argv: Vec<String>,
    pub(super) cwd: PathBuf,
    /// The whole environment.
    pub(super) env: Vec<(String, OsString)>,
    pub(super) stdin: Vec<u8>,
    /// Whether it is answered while it runs, so that its input stays open.
    pub(super) dialogue: bool,
    /// The only places it may write to, where not all are.
    pub(super) writable: Option<Writable>,
    pub(super) polite: Polite,
    /// File that the supervisor locks while any process of the tree lives.
    pub(super) lock: Option<PathBuf>,
    /// Mark of all processes that are started.
    pub(super) mark: Mark,
    /// Files that must be as they were approved when it starts.
    pub(super) pinned: Vec<Pin>,
}

/// Handles the output of a process.
pub(super) trait StreamReader: Send {
    /// Takes a piece of standard output.
    fn stdout(&mut self, bytes: &[u8]) -> Reply;
    /// Takes a piece of standard error.
    fn stderr(&mut self, bytes: &[u8]);
    /// Last bytes for the process's input before it is stopped.
    fn farewell(&mut self) -> Vec<u8>;
}

/// Reaction to a piece of output.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// Bytes for the process's input.
    pub(super) say: Vec<u8>,
    /// Whether it has said how the turn went.
    pub(super) settled: bool,
    /// Whether its output exceeded the limit.
    pub(super) flood: bool,
}

/// How it went.
#[derive(Debug)]
pub(super) enum Course {
    /// It ran and ended.
    Ran {
        /// How it ended.
        exit: Exit,
        /// How far the kernel held it to its folders, where it had to.
        sandbox: Option<PlanningSupport>,
    },
    /// It did not start, for this reason.
    NotStarted {
        /// Why.
        why: String,
        /// Whether that is because its session is still in use.
        locked: bool,
    },
    /// It did not start, because a file is not as it was approved.
    Withheld(String),
    /// Unknown: its supervisor failed, in this way.
    Lost(&'static str),
}

/// Starts a process and follows it to its end, which comes at the wall at the latest.
pub(super) async fn follow(
    supervisor: &Path,
    order: Order,
    limits: Limits,
    wall: Instant,
    stop: &mut Stop,
    ear: &mut dyn StreamReader,
) -> Course {
    let mark = order.mark.clone();
    let (spec, input) = spec(order, limits);
    let link = match Link::open(supervisor, spec, mark, input, (limits.grace, stop.term())) {
        Ok(link) => link,
        Err(error) => {
            let why = format!("its supervisor did not start: {error}");
            return Course::NotStarted { why, locked: false };
        }
    };
    let watchdog = Watchdog::new(limits, wall, Instant::now());
    let mut pursuit = Pursuit { link, limits, watchdog, cut: None, overdue: None, settled: false };
    let last = loop {
        let (due, reason) = pursuit.watchdog.next();
        let overdue = pursuit.overdue;
        let reply = tokio::select! {
            // In this order: a flood of output must not starve the other branches.
            biased;
            () = stop.asked(), if pursuit.cut != Some(Cut::Asked) => {
                pursuit.end(Some(Cut::Asked), ear).await;
                continue;
            }
            () = sleep_until(due), if overdue.is_none() => {
                pursuit.end(reason, ear).await;
                continue;
            }
            () = sleep_until(overdue.unwrap_or(due)), if overdue.is_some() => {
                break Err("did not end its program in time");
            }
            heard = pursuit.link.hear() => match heard {
                Heard::Stdout(bytes) => ear.stdout(bytes),
                Heard::Stderr(bytes) => {
                    ear.stderr(bytes);
                    Reply::default()
                }
                Heard::Last(last) => break last,
            },
        };
        pursuit.heed(&reply, ear).await;
    };
    pursuit.link.part(last.is_ok()).await;
    course(last, pursuit.cut)
}

/// A process that is being followed.
struct Pursuit {
    link: Link,
    limits: Limits,
    watchdog: Watchdog,
    /// Why it was asked to end, if it was.
    cut: Option<Cut>,
    /// Once it was asked to end: when its supervisor has taken too long about it.
    overdue: Option<Instant>,
    /// Whether it has said how the turn went.
    settled: bool,
}

impl Pursuit {
    /// Does what follows from a piece of output.
    async fn heed(&mut self, reply: &Reply, ear: &mut dyn StreamReader) {
        self.watchdog.heard(Instant::now());
        if !reply.say.is_empty() {
            self.link.say(Some(&reply.say)).await;
        }
        if reply.settled && !std::mem::replace(&mut self.settled, true) {
            // An interactive agent exits at the end of its input.
            self.link.say(None).await;
            self.watchdog.settled(Instant::now());
        }
        if reply.flood && self.overdue.is_none() {
            self.end(Some(Cut::Flood), ear).await;
        }
    }

    /// Asks it to end. No reason means that it only did not leave by itself.
    async fn end(&mut self, cut: Option<Cut>, ear: &mut dyn StreamReader) {
        self.cut = cut;
        let words = ear.farewell();
        if !words.is_empty() {
            self.link.say(Some(&words)).await;
        }
        self.link.end().await;
        self.overdue = Some(later(Instant::now(), self.limits.grace.saturating_add(OVERDUE)));
    }
}

fn course(last: Result<Verdict, &'static str>, cut: Option<Cut>) -> Course {
    match last {
        Ok(Verdict { spawn_error: Some(why), withheld: true, .. }) => Course::Withheld(why),
        Ok(Verdict { spawn_error: Some(why), locked, .. }) => Course::NotStarted { why, locked },
        Ok(Verdict { exit_code: code, signal, sandbox, .. }) => {
            Course::Ran { exit: Exit { code, signal, cut }, sandbox }
        }
        // The reason for its end is known even if the exit status is not.
        Err(_) if cut.is_some() => {
            Course::Ran { exit: Exit { cut, ..Exit::default() }, sandbox: None }
        }
        Err(how) => Course::Lost(how),
    }
}

fn spec(order: Order, limits: Limits) -> (Spec, Vec<u8>) {
    let Order { argv, cwd, env, stdin, dialogue, writable, polite, lock, mark: _, pinned } = order;
    let env = env.iter().map(|(name, value)| (name.clone(), RawPath::from(value))).collect();
    let spec = Spec {
        argv,
        cwd: RawPath::from(&cwd),
        env,
        env_only: true,
        input_bytes: stdin.len(),
        grace_ms: u64::try_from(limits.grace.as_millis()).unwrap_or(u64::MAX),
        writable,
        interrupt: polite == Polite::Interrupt,
        eager: true,
        dialogue,
        lock: lock.as_ref().map(RawPath::from),
        pinned,
        ..Spec::default()
    };
    (spec, stdin)
}
