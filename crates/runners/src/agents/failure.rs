//! Failures of an agent's turn, and what to do about them.
//!
//! Programs report failures as prose, as status numbers inside prose, or by exiting. Only this module maps them to a
//! [class](FailureClass).

use std::time::Duration;

use materia_contract::ErrorCode;
pub use materia_contract::FailureClass;

use super::json::shortened;
use super::{Cut, Exit};

mod moment;

/// A turn without an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentFault {
    /// Class of the failure.
    pub class: FailureClass,
    /// Cause and remedy, in a sentence or two.
    pub message: String,
    /// The status the provider answered with, if it is known.
    pub status: Option<u16>,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// When the limit ends, in seconds since 1970.
    pub until: Option<i64>,
}

impl AgentFault {
    /// A fault of a known class.
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), status: None, retry_after: None, until: None }
    }

    /// Error code in the journal.
    pub fn code(&self) -> ErrorCode {
        match self.class {
            FailureClass::Contract => ErrorCode::ContractError,
            FailureClass::Transient
            | FailureClass::RateLimit
            | FailureClass::Auth
            | FailureClass::Permanent
            | FailureClass::SessionLost => ErrorCode::ProviderFailed,
        }
    }
}

/// Messages of a program about a failure, collected while its stream is read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hints {
    /// The last status number of a request that failed.
    pub status: Option<u16>,
    /// The last thing it complained about.
    pub said: Option<String>,
    /// When a limit ends, in seconds since 1970.
    pub until: Option<i64>,
}

impl Hints {
    /// Keeps a line of standard error, if the program complains in it.
    pub(crate) fn hear(&mut self, line: &str) {
        if complains(line) {
            self.said = Some(shortened(line));
        }
    }
}

/// Texts for the failures of one agent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Voice {
    /// Its name for people.
    pub label: &'static str,
    /// How to log in.
    pub log_in: &'static str,
}

impl Voice {
    /// The fault behind a complaint, with the help that belongs to its class.
    pub(crate) fn complaint(self, text: &str, hints: &Hints) -> AgentFault {
        let status = status_in(text).or(hints.status);
        let class = class_of_words(text)
            .or_else(|| status.map(class_of_status))
            .or_else(|| hints.said.as_deref().and_then(class_of_words))
            .unwrap_or(FailureClass::Transient);
        let said = shortened(text);
        let mut fault = self.with_help(class, &said);
        fault.status = status;
        if class == FailureClass::RateLimit {
            fault.retry_after = moment::wait_in(text);
            fault.until = moment::end_in(text).or(hints.until);
        }
        fault
    }

    /// The fault of a stream that ended without its last event.
    pub(crate) fn unfinished(self, exit: Exit, hints: &Hints) -> AgentFault {
        if let Some(cut) = exit.cut {
            return self.cut(cut, hints);
        }
        if let Some(said) = hints.said.as_deref()
            && let Some(class) = class_of_usage(said).or_else(|| class_of_words(said))
        {
            let mut fault = self.with_help(class, &shortened(said));
            fault.status = hints.status;
            fault.until = hints.until;
            return fault;
        }
        if let Some(status) = hints.status {
            let mut fault = self.with_help(class_of_status(status), &format!("status {status}"));
            fault.status = Some(status);
            fault.until = hints.until;
            return fault;
        }
        let label = self.label;
        let end = match (exit.signal, exit.code) {
            (Some(signal), _) => format!("was ended by signal {signal}"),
            (None, Some(code)) => format!("ended with exit code {code}"),
            (None, None) => "ended".to_owned(),
        };
        let said = hints.said.as_deref().map(shortened).filter(|said| !said.is_empty());
        let said = said.map_or_else(String::new, |said| format!(": {said}"));
        AgentFault::new(
            FailureClass::Transient,
            format!("{label} {end} before it said how the turn went{said}"),
        )
    }

    /// The fault of an answer that says nothing.
    pub(crate) fn silent(self) -> AgentFault {
        let label = self.label;
        AgentFault::new(
            FailureClass::Contract,
            format!("{label} reported success but gave no answer"),
        )
    }

    /// The fault of a process that we ended ourselves.
    fn cut(self, cut: Cut, hints: &Hints) -> AgentFault {
        let label = self.label;
        let why = match cut {
            Cut::Idle => {
                format!("{label} said nothing for too long (`idleMs` of the agent) and was ended")
            }
            Cut::Wall => format!(
                "{label} took longer than its turn may (`timeoutMs` on its socket or materia) and was ended"
            ),
            Cut::Asked => format!("{label} was stopped"),
            Cut::Flood => format!("{label} wrote more than a turn may and was ended"),
        };
        // A program that hangs because it retries a refused request has reported the status.
        let status_class = hints.status.map(class_of_status);
        let class = match (cut, status_class) {
            (Cut::Idle | Cut::Wall, Some(class)) => class,
            (Cut::Idle | Cut::Asked, _) => FailureClass::Transient,
            (Cut::Wall | Cut::Flood, _) => FailureClass::Permanent,
        };
        let mut fault = AgentFault::new(class, why);
        if let Some(status) = hints.status {
            let more = "its last request failed with status";
            fault.message = format!("{}; {more} {status}", fault.message);
            fault.status = Some(status);
            fault.until = hints.until;
        }
        fault
    }

    /// A fault that quotes the program and adds what to do.
    pub(crate) fn with_help(self, class: FailureClass, said: &str) -> AgentFault {
        let Self { label, log_in } = self;
        let message = match class {
            FailureClass::Auth => format!("{label} is not logged in ({said}); {log_in}"),
            FailureClass::RateLimit => {
                format!("{label} has reached a limit of its provider ({said}); it goes on after it")
            }
            FailureClass::Transient => format!("{label} failed: {said}"),
            FailureClass::Contract => {
                format!("{label} gave an answer that breaks its form: {said}")
            }
            FailureClass::Permanent => {
                format!("{label} refused: {said}; trying again will not help until that is changed")
            }
            FailureClass::SessionLost => {
                format!(
                    "the session of {label} cannot be continued ({said}); a fresh one is needed"
                )
            }
        };
        AgentFault::new(class, message)
    }
}

/// The class of a status number of HTTP.
pub(crate) fn class_of_status(status: u16) -> FailureClass {
    match status {
        401 | 403 => FailureClass::Auth,
        429 => FailureClass::RateLimit,
        408 | 409 | 425 | 500.. => FailureClass::Transient,
        0..=499 => FailureClass::Permanent,
    }
}

/// The first number in a complaint that is a failure status of HTTP.
pub(crate) fn status_in(text: &str) -> Option<u16> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.len() == 3)
        .filter_map(|word| word.parse().ok())
        .find(|status| (400..600).contains(status))
}

/// Words that tell a class, looked for in this order. What is about a session or a login comes
/// before what is about requests in general.
const WORDS: [(FailureClass, &[&str]); 6] = [
    (
        FailureClass::SessionLost,
        &[
            "no conversation found",
            "no rollout found",
            "invalid session identifier",
            "no session found",
            "is already in use",
            "already exists. use --resume",
        ],
    ),
    (FailureClass::Transient, &["already has an active writer"]),
    (
        FailureClass::RateLimit,
        &[
            "too many requests",
            "rate limit",
            "rate_limit",
            "usage limit",
            "resource_exhausted",
            "quota exceeded",
            "exceeded your current quota",
        ],
    ),
    (
        FailureClass::Auth,
        &[
            "unauthorized",
            "unauthenticated",
            "authentication_failed",
            "authentication_error",
            "invalid api key",
            "invalid x-api-key",
            "api key not valid",
            "please run /login",
            "not logged in",
            "please set an auth method",
            "no api key",
            "permission_denied",
            "token has expired",
        ],
    ),
    (
        FailureClass::Permanent,
        &[
            "prompt is too long",
            "context window",
            "context length",
            "maximum context",
            "credit balance is too low",
            "insufficient_quota",
            "model_not_found",
            "invalid_request_error",
            "invalid_argument",
        ],
    ),
    (
        FailureClass::Transient,
        &[
            "overloaded",
            "high demand",
            "timed out",
            "timeout",
            "stream disconnected",
            "stream closed",
            "connection",
            "econnreset",
            "econnrefused",
            "enotfound",
            "socket hang up",
            "fetch failed",
            "unavailable",
        ],
    ),
];

/// The class that the words of a complaint tell, if they tell one.
pub(crate) fn class_of_words(text: &str) -> Option<FailureClass> {
    let text = text.to_lowercase();
    let told = WORDS.iter().find(|(_, words)| words.iter().any(|word| text.contains(word)));
    told.map(|(class, _)| *class)
}

/// Complaints about the command line itself. Only looked for when the program said nothing else:
/// in the middle of a turn such words are about something that the model did.
fn class_of_usage(text: &str) -> Option<FailureClass> {
    const WORDS: [&str; 12] = [
        "unknown option",
        "unknown argument",
        "unexpected argument",
        "invalid value",
        "error loading config",
        "must be a valid uuid",
        "cannot be used with root",
        "not inside a trusted directory",
        "not running in a trusted directory",
        "requires --verbose",
        "command not found",
        "unsupported engine",
    ];
    let text = text.to_lowercase();
    WORDS.iter().any(|word| text.contains(word)).then_some(FailureClass::Permanent)
}

/// Whether a line of standard error is worth remembering as the reason of a failure.
fn complains(line: &str) -> bool {
    let lower = line.trim_start().to_lowercase();
    if lower.is_empty() || lower.starts_with("warning") || lower.starts_with("at ") {
        return false;
    }
    lower.contains("error") || class_of_usage(&lower).is_some() || class_of_words(&lower).is_some()
}

#[cfg(test)]
mod tests;
