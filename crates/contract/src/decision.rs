//! A decision as the journal stores it: its input, and the events that followed.
//!
//! Most of an input is in the events already: a report in the end of its turn, a plan in `run.created`. There the
//! stored input refers to the event instead of storing the data twice.

use std::sync::Arc;

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};

use crate::time::Micros;
use crate::{
    Actor, CommandId, Event, EventBody, Input, InputOf, JOURNAL_VERSION_OF_PROJECT, NextTick,
    Report, TurnOutcome,
};

/// Input and circumstances of a decision, as the journal stores them.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    /// The instant at which it was taken, in the run's time: which timers were due.
    pub at: Micros,
    /// The actor; absent where the run went on by itself.
    pub by: Option<Actor>,
    /// The command that it carries out, where it has an id.
    pub command: Option<CommandId>,
    /// The event at which a fork has cut the decision: nothing was started after it, but results up to it are
    /// settled.
    pub until: Option<u64>,
    /// The next times of the schedules that were due. The run knows no time zones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ticks: Vec<NextTick>,
    /// The rules by which it was taken, see [`RULES_VERSION`]. Only the same rules make the same of an
    /// input again.
    pub rules: u32,
    /// The input.
    pub input: RecordedInput,
}

/// The version of the rules. It is raised whenever the same run would make other events of the same
/// input: another word in a prompt is enough.
pub const RULES_VERSION: u32 = 5;

/// The rules of the first program whose runs are still read.
const RULES_LEAST: u32 = 3;

/// An input whose larger parts are in the events of its decision.
pub type RecordedInput = InputOf<InFirstEvent, ReportedIn>;

/// The creation is the data of the decision's first event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InFirstEvent {}

/// A report that is in an event of its decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportedIn {
    /// The `turn.started` of the turn.
    pub turn: u64,
    /// The `turn.completed` or `turn.failed` that has what was reported.
    pub event: u64,
    /// Whether the runner itself called it a failure. An output that breaks its contract is none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub faulted: bool,
}

/// Why a kept input could not be read back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// The text is not what is kept for an input.
    #[error("its input cannot be read: {0}")]
    Unreadable(String),
    /// It names an event that does not have what is asked for.
    #[error("its input says that event {event} has the report of turn {turn}, which it has not")]
    NoReport {
        /// The event.
        event: u64,
        /// The turn.
        turn: u64,
    },
    /// The first event is no creation.
    #[error("its input says that a run is created, which its first event does not say")]
    NoCreation,
}

impl Decided {
    /// A decision at that instant by the rules of this program, without an actor or a command.
    pub fn now(at: Micros, input: RecordedInput) -> Self {
        let (ticks, rules) = (Vec::new(), RULES_VERSION);
        Self { at, by: None, command: None, until: None, ticks, rules, input }
    }

    /// Whether this program would decide by the same rules.
    pub fn is_of_these_rules(&self) -> bool {
        self.rules == RULES_VERSION
    }

    /// Whether a program with these rules can have decided in a run of that journal version.
    pub fn goes_with(&self, journal_version: u32) -> bool {
        journal_version >= JOURNAL_VERSION_OF_PROJECT && self.rules >= RULES_LEAST
    }

    /// The text that is kept, and hashed.
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("an input is data and always renders")
    }

    /// Whether this is that text. `scratch` is memory that is used again.
    pub fn is_text(&self, text: &str, scratch: &mut Vec<u8>) -> bool {
        scratch.clear();
        serde_json::to_writer(&mut *scratch, self).expect("an input is data and always renders");
        scratch == text.as_bytes()
    }

    /// Reads the text back.
    pub fn read(text: &str) -> Result<Self, InputError> {
        serde_json::from_str(text).map_err(|error| InputError::Unreadable(error.to_string()))
    }

    /// The input as the run took it, with what the decision's events have of it.
    pub fn restored(&self, events: &[Event]) -> Result<Input, InputError> {
        let first = events.first().map_or(0, |first| first.seq);
        self.input.clone().try_map(
            |InFirstEvent {}| match events.first().map(|event| &event.body) {
                Some(EventBody::RunCreated(created)) => Ok(Arc::clone(created)),
                _ => Err(InputError::NoCreation),
            },
            |reported| {
                let found = reported.place_behind(first).and_then(|place| events.get(place));
                reported.restored(found.map(|event| &event.body))
            },
        )
    }

    /// The same where events are read only if the input names them: `text_of` has the type and the data of the event
    /// with a number. The decision may not have created the run.
    pub fn restored_from<'a>(
        &self,
        text_of: impl Fn(u64) -> Option<(&'a str, &'a str)>,
    ) -> Result<Input, InputError> {
        self.input.clone().try_map(
            |InFirstEvent {}| Err(InputError::NoCreation),
            |reported| reported.read(text_of(reported.event)),
        )
    }
}

impl ReportedIn {
    /// The place of its event in a decision whose first event is `first`.
    fn place_behind(self, first: u64) -> Option<usize> {
        self.event.checked_sub(first).and_then(|place| usize::try_from(place).ok())
    }

    /// The report in the type and data of the event that it names. Most turns complete: their report is read alone,
    /// because the whole event takes longer.
    fn read(self, found: Option<(&str, &str)>) -> Result<Report, InputError> {
        #[derive(Deserialize)]
        struct OfTurn {
            turn: u64,
        }
        if let (Some(("turn.completed", data)), false) = (found, self.faulted)
            && let Ok(OfTurn { turn }) = serde_json::from_str(data)
            && let Ok(report) = serde_json::from_str(data)
            && turn == self.turn
        {
            return Ok(Report { turn, outcome: TurnOutcome::Ended(report) });
        }
        let found = found.and_then(|(kind, data)| EventBody::parse(kind, data).ok());
        self.restored(found.as_ref())
    }

    /// The report that the event has which it names.
    fn restored(self, found: Option<&EventBody>) -> Result<Report, InputError> {
        let Self { turn, event, faulted } = self;
        let outcome = match (found, faulted) {
            (Some(EventBody::TurnCompleted(data)), false) if data.turn == turn => {
                TurnOutcome::Ended(data.report.clone())
            }
            (Some(EventBody::TurnFailed(data)), false) if data.turn == turn => {
                TurnOutcome::Ended(data.report.clone())
            }
            (Some(EventBody::TurnFailed(data)), true) if data.turn == turn => {
                let (code, message) = (data.code, data.message.clone());
                TurnOutcome::Faulted { code, message, report: data.report.clone() }
            }
            _ => return Err(InputError::NoReport { event, turn }),
        };
        Ok(Report { turn, outcome })
    }
}
