//! A command to a run, and its answer.
//!
//! The command line, the inbox and the server use the same shape.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::{Actor, Do, content_hash};

/// The longest id of a command, in bytes.
pub const COMMAND_ID_BYTES_MAX: usize = 200;

/// A command to a run.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Command {
    /// Its name, given by the sender: the same command with the same id acts once, however often it is
    /// sent. Where it is left out, one is made.
    pub id: Option<CommandId>,
    /// The sender.
    #[serde(default = "Actor::person")]
    pub actor: Actor,
    /// The last event that the sender knows of. If the run has gone on since, nothing is done.
    pub expected_seq: Option<u64>,
    /// The act.
    #[serde(flatten)]
    pub what: Do,
}

impl Command {
    /// A command of a person, at any state of the run.
    pub fn person(what: Do) -> Self {
        Self { id: None, actor: Actor::PERSON, expected_seq: None, what }
    }

    /// The hash over everything but the id: whether two commands ask for the same.
    pub fn body_hash(&self) -> String {
        let unnamed = Self { id: None, ..self.clone() };
        let value = serde_json::to_value(unnamed).expect("a command is data and always renders");
        content_hash(&value)
    }

    /// Reads a command; an error says what is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        let written: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| error.to_string())?;
        let command: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let known = serde_json::to_value(&command).map_err(|error| error.to_string())?;
        let stray = written
            .iter()
            .find(|(name, value)| known.get(name.as_str()).is_none() && !value.is_null());
        if let Some(fault) = command.what.fault() {
            return Err(fault);
        }
        match stray {
            None => Ok(command),
            Some((name, _)) => Err(format!("`{}` takes no field `{name}`", command.what.name())),
        }
    }
}

/// The name of a command among those to one run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct CommandId(std::sync::Arc<str>);

/// Why the id of a command was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "this is no id of a command: one is 1 to {COMMAND_ID_BYTES_MAX} visible ASCII characters and does not start with `#`"
)]
pub struct BadCommandId;

impl CommandId {
    /// An id that comes from outside.
    pub fn parse(text: &str) -> Result<Self, BadCommandId> {
        let fits = (1..=COMMAND_ID_BYTES_MAX).contains(&text.len());
        if fits && !text.starts_with('#') && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Ok(Self(text.into()));
        }
        Err(BadCommandId)
    }

    /// The id of a command that came without one: the number under which it was left.
    pub fn numbered(number: u64) -> Self {
        Self(format!("#{number}").into())
    }

    /// An id that was checked when it was kept.
    pub fn kept(text: impl AsRef<str>) -> Self {
        Self(text.as_ref().into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for CommandId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for CommandId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let made = text.strip_prefix('#').is_some_and(|rest| rest.parse::<u64>().is_ok());
        if made {
            return Ok(Self(text.into()));
        }
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// Answer to a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "AnswerForm", try_from = "AnswerForm")]
#[schemars(with = "AnswerForm")]
pub enum Answer {
    /// It was carried out, and these events followed. Where nothing changed there are none, and
    /// `last` is before `first`.
    Done {
        /// The first of them.
        first: u64,
        /// The last of them.
        last: u64,
    },
    /// It was refused, and why.
    Refused {
        /// The reason in a sentence.
        reason: String,
    },
}

/// Answer to a command, as it is serialized.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AnswerForm {
    /// The first and the last of the events that followed; empty where nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    events: Option<Vec<u64>>,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

impl From<Answer> for AnswerForm {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Done { first, last } => {
                let events = if first <= last { vec![first, last] } else { Vec::new() };
                Self { events: Some(events), refused: None }
            }
            Answer::Refused { reason } => Self { events: None, refused: Some(reason) },
        }
    }
}

impl TryFrom<AnswerForm> for Answer {
    type Error = &'static str;

    fn try_from(form: AnswerForm) -> Result<Self, Self::Error> {
        match (form.events.as_deref(), form.refused) {
            (Some([first, last]), None) => Ok(Self::Done { first: *first, last: *last }),
            (Some([]), None) => Ok(Self::Done { first: 1, last: 0 }),
            (None, Some(reason)) => Ok(Self::Refused { reason }),
            (Some(_), _) | (None, None) => Err("it has `events` [from, to] or `refused`"),
        }
    }
}

/// Answer to a command, with the command's id.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// The id of the command.
    pub command: CommandId,
    /// The hash of what it asked for ([`Command::body_hash`]). Receipts of the version before have none.
    pub body: Option<String>,
    /// The answer.
    #[serde(flatten)]
    pub answer: Answer,
}
