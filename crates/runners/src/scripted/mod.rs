//! Scripted provider: answers the turns of agents and utilities from a file, without a model or a program.
//!
//! The position in each list is a fold over the events of the run and comes with the turn. So the same turn always
//! gets the same answer, also after a crash.

mod diff;
mod faults;
mod file;
mod json_error;
mod writes;

use std::sync::Arc;
use std::time::Duration;

use materia_contract::script::{Answer, Script};
use materia_contract::{Artifact, ErrorCode, GlobalMode, ScriptEntry, TurnOutput, text_hash};
use materia_engine::{BoxFuture, Runner, TurnFault, TurnJob, TurnOrder, TurnReport, Work};

use crate::dispatch::faulted;
use crate::{side_output, utility};

pub use faults::faults;
pub use file::{SCRIPT_BYTES_MAX, ScriptError, bind, load, unmatched_keys};

/// Answers turns from a script.
#[derive(Debug, Clone)]
pub struct ScriptedRunner {
    script: Arc<Script>,
}

impl ScriptedRunner {
    /// A runner that gives the answers of `script`.
    pub fn new(script: Script) -> Self {
        Self { script: Arc::new(script) }
    }
}

impl Runner for ScriptedRunner {
    fn run(&self, job: TurnJob) -> BoxFuture<'static, TurnReport> {
        let script = Arc::clone(&self.script);
        Box::pin(async move {
            match &job.work {
                Work::Agent { script: Some(entry), .. } => match agents(&script, entry) {
                    Ok(answer) => give(&job, answer).await,
                    Err(message) => faulted(ErrorCode::ScriptExhausted, message),
                },
                Work::Utility { script: Some(entry), command, manner, .. } => {
                    let found = find(
                        script.utilities.get(&entry.key),
                        script.repeat_last,
                        "utilities",
                        entry,
                    );
                    match found {
                        Ok(answer) => {
                            let answered =
                                |late| utility::answered(&job, (command, manner), answer, late);
                            timed(&job, answer.delay_ms, ErrorCode::UtilityFailed, answered).await
                        }
                        Err(message) => faulted(ErrorCode::ScriptExhausted, message),
                    }
                }
                Work::Agent { script: None, .. } => {
                    let message = format!(
                        "the script has no answers for socket `{}`: neither its id nor the \
                         name of its materia is a key under `turns`",
                        job.node
                    );
                    faulted(ErrorCode::ScriptExhausted, message)
                }
                Work::Utility { script: None, .. } => {
                    let message = format!("socket `{}` is a utility, no agent", job.node);
                    faulted(ErrorCode::Internal, message)
                }
            }
        })
    }

    fn land(&self, order: &TurnOrder, report: TurnReport) -> TurnReport {
        let Work::Agent { script: Some(entry), .. } = &order.work else { return report };
        match agents(&self.script, entry) {
            Ok(answer) if report.outcome.is_ok() => {
                TurnReport { outcome: left(order, answer), ..report }
            }
            Ok(_) | Err(_) => report,
        }
    }
}

/// The answer of an agent at a position, or why there is none.
fn agents<'a>(script: &'a Script, entry: &ScriptEntry) -> Result<&'a Answer, String> {
    find(script.turns.get(&entry.key), script.repeat_last, "turns", entry)
}

/// The entry of a list at a position, or the sentence that says why there is none.
fn find<'a, T>(
    list: Option<&'a Vec<T>>,
    repeat_last: bool,
    field: &str,
    entry: &ScriptEntry,
) -> Result<&'a T, String> {
    let ScriptEntry { key, index } = entry;
    let Some(list) = list else {
        return Err(format!("the script no longer has a list `{key}` under `{field}`"));
    };
    let position = usize::try_from(*index).unwrap_or(usize::MAX);
    let again = list.last().filter(|_| repeat_last);
    list.get(position).or(again).ok_or_else(|| match list.len() {
        0 => format!("the script's list `{key}` is empty"),
        1 => format!("the script's list `{key}` ran out after its only answer"),
        count => format!("the script's list `{key}` ran out after {count} answers"),
    })
}

/// Gives an answer: waits as long as it takes, changes the files it changes, and reports.
async fn give(job: &TurnJob, answer: &Answer) -> TurnReport {
    // A model speaks while it works; so does its stand-in.
    if let Some(text) = &answer.text {
        job.control.live.say(text);
    }
    let ended = |late: Option<Duration>| match late {
        Some(limit) => {
            let limit = limit.as_millis();
            Err(fault(format!("the answer took longer than its limit of {limit} ms"), None))
        }
        // What it changes it changes when its time has come: see `land`.
        None if job.virtual_time => Ok(output(job, answer)),
        None if job.control.tightened.is() => {
            let order = TurnOrder { global_mode: GlobalMode::Planning, ..job.order.clone() };
            left(&order, answer)
        }
        None => left(job, answer),
    };
    timed(job, answer.delay_ms, ErrorCode::ProviderFailed, ended).await
}

/// Waits as long as an answer takes, at most as long as its turn may. `ended` gets the limit where that was reached.
/// A turn that is stopped meanwhile has failed with `stopped`.
async fn timed(
    job: &TurnJob,
    delay_ms: Option<u64>,
    stopped: ErrorCode,
    ended: impl FnOnce(Option<Duration>) -> Result<TurnOutput, TurnFault>,
) -> TurnReport {
    let mut stop = job.control.stop.clone();
    let delay = Duration::from_millis(delay_ms.unwrap_or(0));
    let late = job.timeout.filter(|limit| delay > *limit);
    let taken = late.unwrap_or(delay);
    if !job.virtual_time && !taken.is_zero() {
        tokio::select! {
            biased;
            () = stop.asked() => {
                return faulted(stopped, format!("socket `{}` was stopped", job.node));
            }
            () = tokio::time::sleep(taken) => {}
        }
    }
    let after = if job.virtual_time { taken } else { Duration::ZERO };
    TurnReport { outcome: ended(late), after }
}

/// The end of an answer: it changes the files it changes, and says what it says.
fn left(job: &TurnOrder, answer: &Answer) -> Result<TurnOutput, TurnFault> {
    let diff = writes::perform(job, answer).map_err(|error| fault(error.to_string(), None))?;
    let mut output = output(job, answer);
    if let Some(diff) = diff {
        side_output::leave(job, &mut output, "diff", &diff);
    }
    match &answer.error {
        None => Ok(output),
        Some(message) => Err(fault(message.clone(), Some(output))),
    }
}

fn fault(message: String, said: Option<TurnOutput>) -> TurnFault {
    let report = Box::new(said.unwrap_or_default());
    TurnFault { code: ErrorCode::ProviderFailed, message, report, withheld: false }
}

/// Output of the agent. If an answer has both, `text` wins over `json`.
fn output(job: &TurnOrder, answer: &Answer) -> TurnOutput {
    let output = match (&answer.text, &answer.json) {
        (Some(text), _) => text.clone(),
        (None, Some(json)) => json.to_string(),
        (None, None) => String::new(),
    };
    let artifacts = answer.artifacts.iter().map(|(kind, content)| Artifact {
        kind: kind.clone(),
        name: format!("sockets/{}/{}-{}.{kind}", job.node, job.visit, job.attempt),
        hash: text_hash(content),
        content: content.clone(),
    });
    TurnOutput {
        output,
        usage: answer.usage,
        artifacts: artifacts.collect(),
        class: answer.class.filter(|_| answer.error.is_some()),
        retry_after_ms: answer.retry_after_ms.filter(|_| answer.error.is_some()),
        ..TurnOutput::default()
    }
}
