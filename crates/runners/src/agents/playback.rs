//! Runs turns against a [recording](super::record): no agent, no model, no network.
//!
//! The streams go through the same readers as live ones, so the outcome of each turn is computed again. The agent's
//! changes to files are not replayed; a utility that reads files may therefore route the graph differently, and the
//! first turn with another prompt than its recording reports it.

use materia_contract::{ErrorCode, FailureClass, TurnOutput};
use materia_engine::{BoxFuture, Runner, TurnFault, TurnJob, TurnReport, Work};

use super::live::Voice;
use super::process::StreamReader;
use super::record::{Line, Recording, prompt_hash};
use super::registry::AgentRegistry;
use super::report::{Conclusion, without_process};
use super::stream_reader::Listener;
use super::transcript::TranscriptWriter;
use super::{AgentSettings, Ask, Cut, Exit, SessionPlan};
use crate::dispatch::faulted;
use crate::redact::Secrets;

/// The most of a line that is shown where two prompts part.
const SHOWN_CHARS_MAX: usize = 160;

/// Answers agent turns from a recording.
#[derive(Debug, Clone)]
pub struct ReplayRunner {
    recording: Recording,
    fleet: AgentRegistry,
}

impl ReplayRunner {
    /// Answers from `recording`; prices come from `fleet`.
    pub fn new(recording: Recording, fleet: AgentRegistry) -> Self {
        Self { recording, fleet }
    }

    fn perform(&self, job: &TurnJob) -> TurnReport {
        let Work::Agent { prompt, .. } = &job.work else {
            let message = format!("socket `{}` is a utility, no agent", job.node);
            return faulted(ErrorCode::Internal, message);
        };
        let place = format!("socket `{}`, visit {}, attempt {}", job.node, job.visit, job.attempt);
        let lines = match self.recording.turn(job) {
            Ok(Some(lines)) => lines,
            Ok(None) => return diverged(&place, "this turn was not recorded"),
            Err(error) => return diverged(&place, &error.to_string()),
        };
        let mut lines = lines.into_iter();
        let Some(Line::Turn { agent, prompt_hash: hash, prompt: recorded, .. }) = lines.next()
        else {
            return diverged(&place, "its recording does not say what was asked");
        };
        if hash != prompt_hash(prompt) {
            let where_to = first_difference(&recorded, &Secrets::default().remove(prompt));
            return diverged(
                &place,
                &format!("the prompt differs from the recorded one {where_to}"),
            );
        }
        self.play(job, &agent, prompt, lines)
    }

    fn play(
        &self,
        job: &TurnJob,
        agent: &str,
        prompt: &str,
        lines: impl Iterator<Item = Line>,
    ) -> TurnReport {
        let agent = match self.fleet.recorded(agent) {
            Ok(agent) => agent,
            Err(error) => return faulted(ErrorCode::ProviderFailed, error.to_string()),
        };
        let mut keeper = TranscriptWriter::open(job, Secrets::default());
        let mut voice = Voice::new(job.control.live.clone(), Secrets::default());
        let mut lines = lines.peekable();
        let mut played = None;
        while let Some(line) = lines.next() {
            let Line::Process { session, .. } = line else { continue };
            let ask = ask(job, prompt, session.into(), agent.settings.clone());
            let reader = agent.adapter().reader(&ask);
            let cwd = job.cwd.clone();
            let mut ear = Listener::new(reader, &mut keeper, &mut voice, None, cwd);
            // A process whose end is missing was interrupted together with the recording.
            let mut exit = Exit { cut: Some(Cut::Asked), ..Exit::default() };
            for line in lines.by_ref() {
                match line {
                    Line::Out { text, .. } => drop(ear.stdout(text.as_bytes())),
                    Line::OutBytes { bytes, .. } => drop(ear.stdout(&bytes)),
                    Line::Err { text, .. } => ear.stderr(text.as_bytes()),
                    Line::Exit { code, signal, cut, .. } => {
                        exit = Exit { code, signal, cut: cut.map(Cut::from) };
                        break;
                    }
                    Line::Turn { .. } | Line::Process { .. } => break,
                }
            }
            let (ended, stderr) = ear.finish(exit);
            played = Some((ended, stderr, exit));
        }
        let resumes = matches!(
            &job.work, Work::Agent { session: Some(session), .. } if session.resume
        );
        let Some((ended, stderr, exit)) = played else {
            if resumes {
                let message = "its session was gone already when it was recorded".to_owned();
                let (code, class) = (ErrorCode::ProviderFailed, FailureClass::SessionLost);
                return without_process(code, class, message, "", None);
            }
            return diverged(job.node.as_str(), "its recording has no process in it");
        };
        let secrets = Secrets::default();
        let notes = Vec::new();
        Conclusion { job, ended, exit, stderr, secrets: &secrets, notes, took: None }
            .report(keeper.finish())
    }
}

impl Runner for ReplayRunner {
    fn run(&self, job: TurnJob) -> BoxFuture<'static, TurnReport> {
        // No waiting: what the agent took its time for is known already.
        let report = self.perform(&job);
        Box::pin(std::future::ready(report))
    }
}

/// Input of a recorded turn, with the fields that its reader needs.
fn ask(job: &TurnJob, prompt: &str, session: SessionPlan, settings: AgentSettings) -> Ask {
    Ask {
        prompt: prompt.to_owned(),
        scratch: job.run_dir.join("tmp"),
        session,
        settings,
        ..super::runner::ask_of(job)
    }
}

fn diverged(place: &str, why: &str) -> TurnReport {
    let message = format!(
        "the replay parts from its recording at {place}: {why}; record it anew, or put back what \
         has changed since"
    );
    let report =
        Box::new(TurnOutput { class: Some(FailureClass::Permanent), ..TurnOutput::default() });
    let fault = TurnFault { code: ErrorCode::ProviderFailed, message, report, withheld: false };
    TurnReport { outcome: Err(fault), after: std::time::Duration::ZERO }
}

/// Where two texts part, for people.
fn first_difference(recorded: &str, now: &str) -> String {
    let (mut then, mut today) = (recorded.lines(), now.lines());
    let mut number = 0;
    loop {
        number += 1;
        let (one, other) = (then.next(), today.next());
        if one.is_none() && other.is_none() {
            // Only what was removed on recording can differ where nothing does.
            return "(in a part that was removed on recording, or in its line ends)".to_owned();
        }
        if one != other {
            let quoted = |line: Option<&str>| match line {
                None => "nothing".to_owned(),
                Some(line) => {
                    let short: String = line.chars().take(SHOWN_CHARS_MAX).collect();
                    format!("{short:?}")
                }
            };
            return format!("in line {number}: recorded {}, now {}", quoted(one), quoted(other));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_named() {
        let found = first_difference("a\nb\nc", "a\nx\nc");
        assert_eq!(found, "in line 2: recorded \"b\", now \"x\"");
        assert_eq!(first_difference("a", "a\nb"), "in line 2: recorded nothing, now \"b\"");
        assert!(first_difference("a\n", "a").contains("line ends"));
    }
}
