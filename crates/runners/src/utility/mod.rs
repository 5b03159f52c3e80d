//! Runs local programs as turns.
//!
//! Each program runs under its own [supervisor](crate::supervise); this module enforces the limits: time, size of the
//! kept output, and write access. It reports what happened, without judging it.

mod capture;
mod frames;
pub(crate) mod link;
mod live_output;
pub(crate) mod report;
mod scripted;
mod write_access;

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use materia_contract::{BlobHash, ErrorCode, FULL_STDOUT, GlobalMode, LeftFile, TurnOutput};
use materia_engine::{BoxFuture, Manner, Runner, Stop, TurnFault, TurnJob, TurnReport, Work};
use serde_json::Value;

use crate::dispatch::faulted;
use crate::raw_path::RawPath;
use crate::redact::Secrets;
use crate::supervise::mark::Mark;
use crate::supervise::protocol::{Spec, Verdict};
use crate::tree_check::TreeCheck;
use crate::{approved_files, cast_folder, guard, planning, side_output};
use capture::Streams;
use link::{Ending, Link};
use write_access::WriteAccess;

pub(crate) use scripted::answered;

pub use capture::{STREAM_BYTES_MAX, gap};

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
                Work::Utility { command, input, manner, .. } => {
                    let stop = job.control.stop.clone();
                    runner.perform(&job, command, input, manner, stop).await
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
        manner: &Manner,
        stop: Stop,
    ) -> TurnReport {
        let name = report::shown_command(command, &job.cwd);
        let folder = match folder(&job.cwd, manner.folder.as_deref()) {
            Ok(folder) => folder,
            Err(message) => {
                return faulted(ErrorCode::UtilityFailed, format!("{name} was not run: {message}"));
            }
        };
        let room = match WriteAccess::prepare(job).await {
            Ok(room) => room,
            Err(message) => {
                return faulted(ErrorCode::UtilityFailed, format!("{name} was not run: {message}"));
            }
        };
        let mut input = serde_json::to_vec(input).expect("a JSON value always renders");
        // One object on one line, for those who read lines.
        input.push(b'\n');
        let spec = self.spec(job, command, input.len(), &room, &folder, &manner.env);
        let turn = self.turn(job, &name, spec, input, manner, stop);
        let turn = side_output::performed(job, turn);
        let (report, late) = match job.global_mode {
            // The room has looked already.
            GlobalMode::Planning => (turn.await, None),
            GlobalMode::Implementation => guard::until_tightened(job, turn).await,
        };
        let report = noted(report, room.note());
        // The very last thing: by now everything is written that is written on account of this turn.
        match complaint(job, room.leave().or(late)).await {
            Some(complaint) => not_accepted(&name, report, &complaint),
            None => report,
        }
    }

    /// Runs the program to its end.
    async fn turn(
        &self,
        job: &TurnJob,
        name: &str,
        spec: Spec,
        input: Vec<u8>,
        manner: &Manner,
        stop: Stop,
    ) -> TurnReport {
        let spec = match approved_files::of(job).await {
            Ok(pinned) => Spec { pinned, ..spec },
            Err(why) => return withheld(job, name, &why),
        };
        tracing::debug!(input_bytes = spec.input_bytes, "starts a program");
        let begun = Instant::now();
        let secrets = Secrets::of_work(&job.work);
        let mut streams = Box::new(Streams::new(job, manner.keeps, &secrets));
        let ends = (self.grace, stop.term());
        let ending = match Link::open(&self.supervisor, spec, Mark::of(job), input, ends) {
            Ok(link) => Box::pin(link.follow(job.timeout, stop, &mut streams)).await,
            Err(error) => {
                let message = format!("{name} was not run: its supervisor did not start: {error}");
                return faulted(ErrorCode::Internal, message);
            }
        };
        if let Ending::Reported(Verdict { withheld: true, spawn_error: Some(why), .. }) = &ending {
            return withheld(job, name, why);
        }
        let duration = begun.elapsed();
        tracing::debug!(?duration, "the program is gone");
        let past = Past { streams, ending, duration };
        past.conclude(job, name, manner).await
    }

    fn spec(
        &self,
        job: &TurnJob,
        command: &[String],
        input_bytes: usize,
        room: &WriteAccess,
        folder: &Path,
        own: &[(String, String)],
    ) -> Spec {
        let own = own.iter().map(|(name, value)| (name.clone(), RawPath::from(value.as_str())));
        // Ours come last: what they say is true whatever an author writes.
        let mut env: Vec<(String, RawPath)> = own.collect();
        env.extend([
            ("MATERIA_CAST_ID".to_owned(), RawPath::from(job.run.as_str())),
            ("MATERIA_SOCKET_ID".to_owned(), RawPath::from(job.node.as_str())),
        ]);
        env.extend(room.temporary().map(|path| ("TMPDIR".to_owned(), RawPath::from(path))));
        Spec {
            argv: command.to_vec(),
            cwd: RawPath::from(folder),
            env,
            input_bytes,
            grace_ms: u64::try_from(self.grace.as_millis()).unwrap_or(u64::MAX),
            writable: room.writable(job),
            ..Spec::default()
        }
    }
}

/// A report with one note more.
fn noted(mut report: TurnReport, note: Option<String>) -> TurnReport {
    match &mut report.outcome {
        Ok(output) => output.notes.extend(note),
        Err(fault) => fault.report.notes.extend(note),
    }
    report
}

fn withheld(job: &TurnJob, name: &str, why: &str) -> TurnReport {
    let message = format!("socket `{}` did not run {name}: {why}", job.node);
    approved_files::withheld(ErrorCode::UtilityFailed, message)
}

/// Error message of the check after a turn, if there is a check.
async fn complaint(job: &TurnJob, before: Option<TreeCheck>) -> Option<String> {
    let (before, doc_root) = (before?, job.doc_root.clone());
    let look = move || before.complaint(&doc_root);
    tokio::task::spawn_blocking(look).await.unwrap_or_else(|error| Some(error.to_string()))
}

/// The report of a program that changed what it may not.
fn not_accepted(name: &str, report: TurnReport, complaint: &str) -> TurnReport {
    let fault = match report.outcome {
        Ok(output) => TurnFault {
            code: ErrorCode::UtilityFailed,
            message: format!("{name} is not accepted: {complaint}"),
            report: Box::new(output),
            withheld: false,
        },
        Err(fault) => TurnFault { message: format!("{}; {complaint}", fault.message), ..fault },
    };
    TurnReport { outcome: Err(fault), after: report.after }
}

/// The real path of the folder that a program runs in: inside the project, whatever links there are.
fn folder(project: &Path, name: Option<&str>) -> Result<PathBuf, String> {
    let Some(name) = name else { return Ok(project.to_owned()) };
    let inside = planning::is_plain(Path::new(name));
    let real = || -> io::Result<(PathBuf, PathBuf)> {
        Ok((project.canonicalize()?, project.join(name).canonicalize()?))
    };
    match real() {
        Ok((project, real)) if inside && real.starts_with(&project) => {
            if real.is_dir() {
                Ok(real)
            } else {
                Err(format!("its folder `{name}` is none"))
            }
        }
        Ok(_) => Err(format!("its folder `{name}` does not lie inside the project")),
        Err(error) => Err(format!("its folder `{name}` cannot be used: {error}")),
    }
}

/// Result of a program.
struct Past<'a> {
    streams: Box<Streams<'a>>,
    ending: Ending,
    duration: Duration,
}

impl Past<'_> {
    /// Turns it into a report.
    async fn conclude(self, job: &TurnJob, name: &str, manner: &Manner) -> TurnReport {
        let Self { streams, ending, duration } = self;
        let (stdout, stderr) = streams.finish();
        let mut output = TurnOutput {
            stdout_dropped: stdout.dropped,
            stderr_dropped: stderr.dropped,
            lossy: stdout.text.raw.is_some() || stderr.text.raw.is_some(),
            // A measured time would make two simulations differ.
            duration_ms: (!job.virtual_time)
                .then(|| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)),
            ..TurnOutput::default()
        };
        let raws = [("stdout", &stdout.text.raw), ("stderr", &stderr.text.raw)];
        let kept = raws.into_iter().try_for_each(|(kind, raw)| {
            let Some(raw) = raw else { return Ok(()) };
            output.files.push(keep_raw(job, kind, raw)?);
            io::Result::Ok(())
        });
        for (stream, full) in [("output", stdout.full), ("error", stderr.full)] {
            match full {
                None => {}
                Some(Ok(file)) => output.files.push(file),
                Some(Err(error)) => {
                    let what = format!("all of its standard {stream} could not be kept: {error}");
                    output.notes.push(what);
                }
            }
        }
        if manner.keeps.json && stdout.dropped > 0 {
            output.whole = whole(job, manner, &mut output).await;
        }
        output.output = stdout.text.shown;
        output.stderr = stderr.text.shown;
        if let Ending::Reported(Verdict { exit_code, signal, .. })
        | Ending::TimedOut(Some(Verdict { exit_code, signal, .. })) = &ending
        {
            (output.exit_code, output.signal) = (*exit_code, *signal);
        }

        let fault = match kept {
            Ok(()) if manner.verdict.is_some() && report::exited(&ending) => None,
            Ok(()) => report::fault(name, &ending, job.timeout, &output),
            Err(error) => {
                let message = format!("the raw output of {name} could not be kept: {error}");
                Some((ErrorCode::Internal, message))
            }
        };
        // Simulated time stands still while a program runs, unless it took all it was given.
        let after = match (&ending, job.virtual_time) {
            (Ending::TimedOut(_), true) => job.timeout.unwrap_or_default(),
            (Ending::TimedOut(_), false)
            | (Ending::Reported(_) | Ending::Stopped | Ending::Lost(_), _) => Duration::ZERO,
        };
        let outcome = match fault {
            None => Ok(output),
            Some((code, message)) => {
                Err(TurnFault { code, message, report: Box::new(output), withheld: false })
            }
        };
        TurnReport { outcome, after }
    }
}

/// All of a long standard output, where it is a JSON object.
async fn whole(job: &TurnJob, manner: &Manner, output: &mut TurnOutput) -> Option<String> {
    let full = output.files.iter().find(|file| file.kind == FULL_STDOUT)?;
    if full.dropped == 0 {
        return capture::whole_object(job, full).await;
    }
    let most = manner.keeps.megabytes;
    output.notes.push(format!(
        "its standard output is longer than {most} MB (`limits.maxOutputMb`), so no JSON was read from it"
    ));
    None
}

/// Writes bytes that are no text to the turn's artifact, for the event can hold text only.
fn keep_raw(job: &TurnJob, kind: &str, raw: &[u8]) -> io::Result<LeftFile> {
    let name = cast_folder::artifact(job, kind);
    cast_folder::cast(job)?.write(&name, raw)?;
    let (kind, hash) = (kind.to_owned(), BlobHash::of(raw).to_string());
    Ok(LeftFile { kind, name, hash, bytes: raw.len() as u64, dropped: 0 })
}
