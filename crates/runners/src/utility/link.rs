//! The runner's end of the pipes to one supervisor.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use materia_contract::search_path;
use materia_engine::{Stop, Term};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::{Instant, sleep_until, timeout};

use super::capture::Streams;
use super::frames::{Frame, Frames, next_frame};
use crate::raw_path::RawPath;
use crate::supervise::PIPE_BYTES;
use crate::supervise::mark::Mark;
use crate::supervise::protocol::{
    CONTENT_BYTES_MAX, INPUT, NO_MORE, POLITE, RENEWED, Spec, Token, Verdict,
};
use crate::supervise::{mark, tree};

/// How long, beyond the grace period, a supervisor may take to end a tree.
pub(crate) const OVERDUE: Duration = Duration::from_secs(15);
/// How long a supervisor that has said everything may take to exit.
const FAREWELL: Duration = Duration::from_secs(2);
/// How long a Ctrl-C that reached a supervisor may take to reach us as well.
const SAME_INTERRUPT: Duration = Duration::from_millis(250);

/// The living supervisors of this process. Locked while one is started, so that none is taken for an unrelated
/// process.
static SUPERVISORS: Mutex<Option<HashSet<u32>>> = Mutex::new(None);

fn with_supervisors<T>(work: impl FnOnce(&mut HashSet<u32>) -> T) -> T {
    let mut supervisors = SUPERVISORS.lock().unwrap_or_else(PoisonError::into_inner);
    work(supervisors.get_or_insert_default())
}

fn left_ms(term: &Term) -> Option<u32> {
    term.left().map(|left| u32::try_from(left.as_millis()).unwrap_or(u32::MAX))
}

/// How a program ended.
pub(super) enum Ending {
    /// By itself.
    Reported(Verdict),
    /// We ended it, for it took too long.
    TimedOut(Option<Verdict>),
    /// We ended it, for we were asked to.
    Stopped,
    /// Unknown: its supervisor failed, in this way.
    Lost(&'static str),
}

type Feed = Pin<Box<dyn Future<Output = io::Result<ChildStdin>> + Send>>;

/// The pipe to the supervisor. As long as it is open, the supervisor knows that this process lives.
enum Control {
    /// Spec and input are under way.
    Feeding(Feed),
    /// Everything is said.
    Open(ChildStdin),
    /// Broken, or closed by us: the supervisor kills its tree.
    Closed,
}

impl Control {
    /// Resolves when spec and input are through; not to be called again then.
    async fn fed(&mut self) {
        if let Self::Feeding(feed) = self {
            *self = match feed.await {
                Ok(pipe) => Self::Open(pipe),
                Err(_) => Self::Closed,
            };
        }
    }

    /// Sends more input to the child, or the end of input.
    ///
    /// Input that cannot be sent is dropped: a supervisor that no longer reads is about to end.
    async fn say(&mut self, bytes: Option<&[u8]>) {
        self.fed().await;
        let Self::Open(pipe) = self else { return };
        let mut framed = Vec::new();
        match bytes {
            Some(bytes) => {
                for part in bytes.chunks(CONTENT_BYTES_MAX) {
                    framed.push(INPUT);
                    let length = u32::try_from(part.len()).expect("parts are short");
                    framed.extend_from_slice(&length.to_le_bytes());
                    framed.extend_from_slice(part);
                }
            }
            None => framed.push(NO_MORE),
        }
        if pipe.write_all(&framed).await.is_err() {
            *self = Self::Closed;
        }
    }

    /// Tells the supervisor how long its tree may live from now on.
    async fn renew(&mut self, left_ms: u32) {
        self.fed().await;
        let Self::Open(pipe) = self else { return };
        let [a, b, c, d] = left_ms.to_le_bytes();
        if pipe.write_all(&[RENEWED, a, b, c, d]).await.is_err() {
            *self = Self::Closed;
        }
    }

    /// Asks the supervisor to end its tree politely, or lets it notice that we have lost interest.
    async fn end(&mut self) {
        if let Self::Open(pipe) = self
            && pipe.write_all(&[POLITE]).await.is_ok()
        {
            return;
        }
        *self = Self::Closed;
    }
}

/// A running supervisor.
///
/// Dropping it closes the pipe, upon which the supervisor kills its tree. For that reason the
/// supervisor itself is never killed on drop: its tree would outlive it.
pub(crate) struct Link {
    supervisor: Child,
    /// Its pid, as long as it is ours to know.
    pid: Option<u32>,
    mark: Mark,
    control: Control,
    frames: Frames,
    grace: Duration,
    /// The end of the lease under which the program runs.
    term: Term,
}

impl Link {
    /// Starts a supervisor and begins to tell it what to run. All that it starts carries the `mark` and ends with the
    /// `term`.
    pub(crate) fn open(
        program: &Path,
        mut spec: Spec,
        mark: Mark,
        input: Vec<u8>,
        (grace, term): (Duration, Term),
    ) -> io::Result<Self> {
        let token = Token::new()?;
        spec.token = token;
        spec.term_ms = left_ms(&term);
        if !spec.env_only && !spec.env.iter().any(|(name, _)| name == "PATH") {
            let path = search_path(std::env::var_os("PATH").as_deref());
            spec.env.push(("PATH".to_owned(), RawPath::from(&path)));
        }
        // Last, so that no author's variable stands in its place.
        spec.env.push((mark::VARIABLE.to_owned(), mark.text().into()));
        let mut command = Command::new(program);
        if spec.env_only {
            // What the child is not to see its supervisor need not have either.
            command.env_clear();
        }
        command
            .args(mark.arguments())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut supervisor = with_supervisors(|known| {
            let started = command.spawn()?;
            known.extend(started.id());
            io::Result::Ok(started)
        })?;
        let pid = supervisor.id();
        let (Some(mut pipe), Some(stdout)) = (supervisor.stdin.take(), supervisor.stdout.take())
        else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        if spec.eager {
            // Where the system refuses, the supervisor's queue has to do.
            let _ = rustix::pipe::fcntl_setpipe_size(&stdout, PIPE_BYTES);
        }
        let spec = spec.encode();
        let feed = Box::pin(async move {
            pipe.write_all(&spec).await?;
            pipe.write_all(&input).await?;
            pipe.flush().await?;
            Ok(pipe)
        });
        let frames = Frames::new(stdout, token);
        Ok(Self { supervisor, pid, mark, control: Control::Feeding(feed), frames, grace, term })
    }

    /// Follows the program to its end, which comes after `limit` at the latest.
    pub(super) async fn follow(
        mut self,
        limit: Option<Duration>,
        mut stop: Stop,
        streams: &mut Streams<'_>,
    ) -> Ending {
        let far = Instant::now() + Duration::from_hours(24 * 365);
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit)).unwrap_or(far);
        let mut ended: Option<Asked> = None;
        let mut overdue = far;
        let last = loop {
            let due = streams.due();
            tokio::select! {
                // In this order: a flood of output must not starve the other branches.
                biased;
                () = stop.asked(), if !matches!(ended, Some(Asked::Stop)) => {
                    self.end().await;
                    ended = Some(Asked::Stop);
                    overdue = Instant::now() + self.grace + OVERDUE;
                }
                () = sleep_until(deadline), if ended.is_none() => {
                    self.end().await;
                    ended = Some(Asked::Timeout);
                    overdue = Instant::now() + self.grace + OVERDUE;
                }
                () = sleep_until(overdue), if ended.is_some() => {
                    break Err("did not end its program in time");
                }
                () = self.term.renewed() => {
                    if let Some(left) = left_ms(&self.term) {
                        self.control.renew(left).await;
                    }
                }
                () = self.control.fed(), if matches!(self.control, Control::Feeding(_)) => {}
                () = sleep_until(due.unwrap_or(far)), if due.is_some() => streams.tell(Instant::now()),
                frame = next_frame(&mut self.frames, &mut self.supervisor) => match frame {
                    Ok(Frame::Stdout(bytes)) => streams.out(bytes),
                    Ok(Frame::Stderr(bytes)) => streams.err(bytes),
                    Ok(Frame::Last(verdict)) => break Ok(verdict),
                    Ok(Frame::End) => break Err("ended before its program did"),
                    Err(_) => break Err("said something that makes no sense"),
                },
            }
        };
        self.settle(last, ended, &mut stop).await
    }

    /// The next thing the tree says. Safe to cancel.
    pub(crate) async fn hear(&mut self) -> Heard<'_> {
        while matches!(self.control, Control::Feeding(_)) {
            tokio::select! {
                biased;
                () = self.control.fed() => {}
                () = self.frames.ready() => break,
            }
        }
        loop {
            tokio::select! {
                biased;
                () = self.term.renewed() => {
                    if let Some(left) = left_ms(&self.term) {
                        self.control.renew(left).await;
                    }
                }
                () = self.frames.ready() => break,
            }
        }
        match next_frame(&mut self.frames, &mut self.supervisor).await {
            Ok(Frame::Stdout(bytes)) => Heard::Stdout(bytes),
            Ok(Frame::Stderr(bytes)) => Heard::Stderr(bytes),
            Ok(Frame::Last(verdict)) => Heard::Last(Ok(verdict)),
            Ok(Frame::End) => Heard::Last(Err("ended before its program did")),
            Err(_) => Heard::Last(Err("said something that makes no sense")),
        }
    }

    /// Hands the child more input; nothing means that there is no more.
    pub(crate) async fn say(&mut self, bytes: Option<&[u8]>) {
        self.control.say(bytes).await;
    }

    /// Asks the supervisor to end its tree.
    pub(crate) async fn end(&mut self) {
        self.wake();
        self.control.end().await;
    }

    /// Continues a stopped supervisor, which could not receive the request to end its tree.
    fn wake(&self) {
        let pid = self.supervisor.id().and_then(|id| i32::try_from(id).ok());
        if let Some(pid) = pid.and_then(Pid::from_raw) {
            // Its pid is valid until it is reaped; `id` is `None` after that.
            let _ = kill_process(pid, Signal::CONT);
        }
    }

    /// Sees the supervisor off, and its tree too if the supervisor did not `report` its end.
    pub(crate) async fn part(mut self, reported: bool) {
        self.see_off(reported).await;
    }

    async fn see_off(&mut self, reported: bool) {
        if !reported {
            let _ = self.supervisor.start_kill();
            let (session, mark, reaped) =
                (self.pid, self.mark.clone(), self.supervisor.id().is_none());
            let sweep = move || {
                if let Some(session) = session {
                    tree::kill_session(session, reaped);
                }
                mark.sweep();
                with_supervisors(|known| tree::kill_adopted(known));
            };
            let _ = tokio::task::spawn_blocking(sweep).await;
        }
        self.control = Control::Closed;
        let _ = timeout(FAREWELL, self.supervisor.wait()).await;
    }

    async fn settle(
        mut self,
        last: Result<Verdict, &'static str>,
        asked: Option<Asked>,
        stop: &mut Stop,
    ) -> Ending {
        self.see_off(last.is_ok()).await;
        match (last, asked) {
            // A program that succeeded before it was stopped has done its work, and must not run again (D57).
            (Ok(verdict), Some(Asked::Stop)) if verdict.exit_code == Some(0) => {
                Ending::Reported(verdict)
            }
            (_, Some(Asked::Stop)) => Ending::Stopped,
            (last, Some(Asked::Timeout)) => Ending::TimedOut(last.ok()),
            (Ok(verdict), None) => Ending::Reported(verdict),
            (Err(how), None) => {
                // A Ctrl-C in the moment before the supervisor had its own session hits both.
                match timeout(SAME_INTERRUPT, stop.asked()).await {
                    Ok(()) => Ending::Stopped,
                    Err(_) => Ending::Lost(how),
                }
            }
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.wake();
        if let Some(pid) = self.pid {
            with_supervisors(|known| known.remove(&pid));
        }
    }
}

/// One thing that a tree says, to who follows it piece by piece.
pub(crate) enum Heard<'a> {
    /// A piece of its standard output.
    Stdout(&'a [u8]),
    /// A piece of its standard error.
    Stderr(&'a [u8]),
    /// Its end; if it is unknown, how its supervisor failed.
    Last(Result<Verdict, &'static str>),
}

/// Why we ended a program.
enum Asked {
    Stop,
    Timeout,
}
