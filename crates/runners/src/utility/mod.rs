//! Runs local programs as turns.
//!
//! Each program runs under its own [supervisor](crate::supervise); here are the limits: how long
//! it may take, how much of its output is kept, where it may write. What is reported is what
//! happened, not what it means: output is never parsed here.

pub(crate) mod link;
pub(crate) mod report;
mod room;

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use materia_contract::{ErrorCode, GlobalMode, TurnOutput};
use materia_engine::{BoxFuture, Runner, Stop, TurnFault, TurnJob, TurnReport, Work};
use serde_json::Value;

use crate::dispatch::faulted;
use crate::guard;
use crate::supervise::protocol::{RawPath, Spec, Verdict};
use crate::tree_check::TreeCheck;
use link::{Ending, Link, Past};
use room::Room;

pub use link::STREAM_BYTES_MAX;

/// How long a program may take to end after it was asked to.
const GRACE_DEFAULT: Duration = Duration::from_secs(2);

/// Runs local programs.
#[derive(Debug, Clone)]
pub struct UtilityRunner {
    supervisor: PathBuf,
    grace: Duration,
}

impl UtilityRunner {
    /// A runner that starts `supervisor` (with [`ARGUMENT`](crate::supervise::ARGUMENT)) for
    /// every program.
    #[must_use]
    pub fn new(supervisor: PathBuf) -> Self {
        Self { supervisor, grace: GRACE_DEFAULT }
    }

    /// Changes how long a program may take to end after it was asked to.
    #[must_use]
    pub fn with_grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }
}

impl Runner for UtilityRunner {
    fn run(&self, job: TurnJob) -> BoxFuture<'static, TurnReport> {
        let runner = self.clone();
        Box::pin(async move {
            match &job.work {
                Work::Utility { command, input } => {
                    let stop = job.control.stop.clone();
                    runner.perform(&job, command, input, stop).await
                }
                Work::Agent { .. } => {
                    let message = format!("socket `{}` is no utility", job.node);
                    faulted(ErrorCode::Internal, message)
                }
            }
        })
    }
}

impl UtilityRunner {
    async fn perform(
        &self,
        job: &TurnJob,
        command: &[String],
        input: &Value,
        stop: Stop,
    ) -> TurnReport {
        let name = report::shown_command(command);
        let room = match Room::prepare(job).await {
            Ok(room) => room,
            Err(message) => {
                return faulted(ErrorCode::UtilityFailed, format!("{name} was not run: {message}"));
            }
        };
        let mut input = serde_json::to_vec(input).expect("a JSON value always renders");
        // One object on one line, for those who read lines.
        input.push(b'\n');
        let spec = self.spec(job, command, input.len(), &room);

        tracing::debug!(input_bytes = spec.input_bytes, "starts a program");
        let begun = Instant::now();
        let (past, late) = match Link::open(&self.supervisor, &spec, input, self.grace) {
            Ok(link) => self.follow(job, link, stop).await,
            Err(error) => {
                let message = format!("{name} was not run: its supervisor did not start: {error}");
                return faulted(ErrorCode::Internal, message);
            }
        };
        let duration = begun.elapsed();
        tracing::debug!(?duration, "the program is gone");
        let complaint = room.leave(job).await;
        let complaint = complaint.or_else(|| late?.complaint(&job.doc_root));
        conclude(job, &name, past, duration, complaint)
    }

    async fn follow(&self, job: &TurnJob, link: Link, stop: Stop) -> (Past, Option<TreeCheck>) {
        let past = link.follow(job.timeout, stop);
        match job.global_mode {
            // The room has looked already.
            GlobalMode::Planning => (past.await, None),
            GlobalMode::Implementation => guard::until_tightened(job, past).await,
        }
    }

    fn spec(&self, job: &TurnJob, command: &[String], input_bytes: usize, room: &Room) -> Spec {
        let mut env = vec![
            ("MATERIA_CAST_ID".to_owned(), RawPath::from(job.run.as_str())),
            ("MATERIA_SOCKET_ID".to_owned(), RawPath::from(job.node.as_str())),
        ];
        env.extend(room.temporary().map(|path| ("TMPDIR".to_owned(), RawPath::from(path))));
        Spec {
            argv: command.to_vec(),
            cwd: RawPath::from(&job.cwd),
            env,
            input_bytes,
            grace_ms: u64::try_from(self.grace.as_millis()).unwrap_or(u64::MAX),
            writable: room.writable(job),
            ..Spec::default()
        }
    }
}

/// Turns what happened into a report.
fn conclude(
    job: &TurnJob,
    name: &str,
    past: Past,
    duration: Duration,
    complaint: Option<String>,
) -> TurnReport {
    let Past { stdout, stderr, ending } = past;
    let (stdout, stderr) = (stdout.into_text(), stderr.into_text());
    let mut output = TurnOutput {
        stdout_dropped: stdout.dropped,
        stderr_dropped: stderr.dropped,
        lossy: stdout.raw.is_some() || stderr.raw.is_some(),
        // A measured time would make two simulations differ.
        duration_ms: (!job.virtual_time)
            .then(|| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)),
        ..TurnOutput::default()
    };
    let kept = [("stdout", &stdout.raw), ("stderr", &stderr.raw)].into_iter().try_for_each(
        |(extension, raw)| {
            raw.as_ref().map_or(Ok(()), |raw| keep_raw(&job.artifact(extension), raw))
        },
    );
    output.output = stdout.shown;
    output.stderr = stderr.shown;
    if let Ending::Reported(Verdict { exit_code, signal, .. })
    | Ending::TimedOut(Some(Verdict { exit_code, signal, .. })) = &ending
    {
        (output.exit_code, output.signal) = (*exit_code, *signal);
    }

    let fault = match kept {
        Ok(()) => report::fault(name, &ending, job.timeout, &output.stderr),
        Err(error) => {
            let message = format!("the raw output of {name} could not be kept: {error}");
            Some((ErrorCode::Internal, message))
        }
    };
    let fault = match (fault, complaint) {
        (Some((code, message)), Some(complaint)) => Some((code, format!("{message}; {complaint}"))),
        (None, Some(complaint)) => {
            Some((ErrorCode::UtilityFailed, format!("{name} is not accepted: {complaint}")))
        }
        (fault, None) => fault,
    };
    // Simulated time stands still while a program runs, unless it took all it was given.
    let after = match (&ending, job.virtual_time) {
        (Ending::TimedOut(_), true) => job.timeout.unwrap_or_default(),
        (Ending::TimedOut(_), false)
        | (Ending::Reported(_) | Ending::Stopped | Ending::Lost(_), _) => Duration::ZERO,
    };
    let outcome = match fault {
        None => Ok(output),
        Some((code, message)) => Err(TurnFault { code, message, report: Box::new(output) }),
    };
    TurnReport { outcome, after }
}

/// Writes bytes that are no text to the turn's artifact, for the event can hold text only.
fn keep_raw(path: &Path, raw: &[u8]) -> io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::write(path, raw)
}
