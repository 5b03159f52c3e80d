//! Builds the report of a turn from the result of its process.

use std::fmt::Write as _;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use materia_contract::{ErrorCode, Transcript, TurnOutput};
use materia_engine::{TurnFault, TurnJob, TurnReport};

use super::{AgentFault, Ended, Exit, FailureClass};
use crate::redact::Secrets;
use crate::utility::report::excerpt;

/// All data at the end of a turn.
pub(super) struct Conclusion<'a> {
    pub(super) job: &'a TurnJob,
    pub(super) ended: Ended,
    pub(super) exit: Exit,
    /// The end of standard error.
    pub(super) stderr: String,
    pub(super) secrets: &'a Secrets,
    /// Remarks that are no failures.
    pub(super) notes: Vec<String>,
    /// How long it took, if it was measured.
    pub(super) took: Option<Duration>,
}

impl Conclusion<'_> {
    /// The report, with the transcript or the reason why there is none.
    pub(super) fn report(self, transcript: io::Result<Transcript>) -> TurnReport {
        let Self { job, ended, exit, stderr, secrets, mut notes, took } = self;
        let mut output = TurnOutput {
            exit_code: exit.code,
            signal: exit.signal,
            duration_ms: took
                .filter(|_| !job.virtual_time)
                .map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
            usage: ended.usage.turn(),
            ..TurnOutput::default()
        };
        match transcript {
            Ok(transcript) => output.transcript = Some(Box::new(transcript)),
            Err(error) => notes.push(format!("the transcript could not be kept: {error}")),
        }
        let outcome = match ended.outcome {
            Ok(answer) => {
                output.output = secrets.remove(&answer.text).into_owned();
                notes.extend(answer.notes);
                Ok(())
            }
            Err(fault) => {
                output.stderr = secrets.remove(&stderr).into_owned();
                let wait = waits(&fault);
                output.class = Some(fault.class);
                output.retry_after_ms =
                    wait.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
                let mut message = secrets.remove(&fault.message).into_owned();
                if let Some(wait) = wait {
                    let _ = write!(message, "; it ends in about {}", shown(wait));
                }
                Err((fault.code(), message))
            }
        };
        output.notes = notes.iter().map(|note| secrets.remove(note).into_owned()).collect();
        let outcome = match outcome {
            Ok(()) => Ok(output),
            Err((code, message)) => {
                Err(TurnFault { code, message, report: Box::new(output), withheld: false })
            }
        };
        TurnReport { outcome, after: Duration::ZERO }
    }
}

/// How long the provider asks us to wait.
fn waits(fault: &AgentFault) -> Option<Duration> {
    let until = || {
        let until = Duration::from_secs(u64::try_from(fault.until?).ok()?);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        Some(until.saturating_sub(now))
    };
    fault.retry_after.or_else(until).filter(|_| fault.class == FailureClass::RateLimit)
}

fn shown(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds.div_ceil(60)),
        7_200.. => format!("{} h", seconds.div_ceil(3_600)),
    }
}

/// The report of a turn without output: its process did not start, or its end is unknown.
pub(super) fn without_process(
    code: ErrorCode,
    class: FailureClass,
    message: String,
    stderr: &str,
    transcript: Option<Transcript>,
) -> TurnReport {
    let said = excerpt(stderr);
    let message = if said.is_empty() { message } else { format!("{message}; stderr: {said}") };
    let report = TurnOutput {
        class: Some(class),
        transcript: transcript.map(Box::new),
        ..TurnOutput::default()
    };
    let fault = TurnFault { code, message, report: Box::new(report), withheld: false };
    TurnReport { outcome: Err(fault), after: Duration::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_says_when_it_ends() {
        let mut fault = AgentFault::new(FailureClass::RateLimit, "too much");
        assert_eq!(waits(&fault), None);
        fault.until = Some(1);
        assert_eq!(waits(&fault), Some(Duration::ZERO));
        fault.retry_after = Some(Duration::from_secs(90));
        assert_eq!(waits(&fault), Some(Duration::from_secs(90)));
        fault.class = FailureClass::Transient;
        assert_eq!(waits(&fault), None);
        assert_eq!(shown(Duration::from_secs(90)), "90 s");
        assert_eq!(shown(Duration::from_secs(121)), "3 min");
        assert_eq!(shown(Duration::from_hours(5)), "5 h");
    }
}
