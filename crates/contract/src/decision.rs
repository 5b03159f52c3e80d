//! A decision as the journal keeps it: what was decided on, and the events that followed.
//!
//! Most of an input stands in the events already: a report in the end of its turn, a plan in
//! `run.created`. There the kept input names the place and says nothing twice. So nothing about
//! an input is ever guessed, and nothing is paid for twice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::time::Micros;
use crate::{CommandId, Event, EventBody, Input, InputOf, NextTick, Report, TurnOutcome};

/// What a decision rests on, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    /// The instant at which it was taken, in the run's time: which timers were due.
    pub at: Micros,
    /// Who asked for it; absent where nobody did and the run went on by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
    /// The command that it carries out, where it has an id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandId>,
    /// Where a fork has cut it: nothing was started behind this event any more. What the event had
    /// settled is settled all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    /// When the schedules whose tick was due come round next. The run knows no time zones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ticks: Vec<NextTick>,
    /// The rules by which it was taken, see [`RULES_VERSION`]. Only the same rules make the same of an
    /// input again.
    #[serde(default = "first_rules", skip_serializing_if = "is_first_rules")]
    pub rules: u32,
    /// What was decided on.
    pub input: RecordedInput,
}

/// The version of the rules. It is raised whenever the same run would make other events of the same
/// input: another word in a prompt is enough.
pub const RULES_VERSION: u32 = 4;

/// Decisions that do not say by which rules they were taken are of the first ones.
fn first_rules() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_first_rules(rules: &u32) -> bool {
    *rules == first_rules()
}

/// Who acts on a run: `person`, `timeline`, the name of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Actor(std::borrow::Cow<'static, str>);

impl Actor {
    /// A person at a terminal.
    pub const PERSON: Self = Self(std::borrow::Cow::Borrowed("person"));
    /// The timeline of a script.
    pub const TIMELINE: Self = Self(std::borrow::Cow::Borrowed("timeline"));

    /// A person at a terminal, who acts where nobody else is named.
    #[must_use]
    pub fn person() -> Self {
        Self::PERSON
    }

    /// An actor of that name.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self(std::borrow::Cow::Owned(name.into()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

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
    /// What was decided at that instant by the rules of this program, and by nobody's order.
    #[must_use]
    pub fn now(at: Micros, input: RecordedInput) -> Self {
        let (ticks, rules) = (Vec::new(), RULES_VERSION);
        Self { at, by: None, command: None, until: None, ticks, rules, input }
    }

    /// Whether this program would decide by the same rules.
    #[must_use]
    pub fn is_of_these_rules(&self) -> bool {
        self.rules == RULES_VERSION
    }

    /// The text that is kept, and hashed.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("an input is data and always renders")
    }

    /// Reads the text back.
    pub fn read(text: &str) -> Result<Self, InputError> {
        serde_json::from_str(text).map_err(|error| InputError::Unreadable(error.to_string()))
    }

    /// The input as the run took it, with what the decision's events have of it.
    pub fn restored(&self, events: &[Event]) -> Result<Input, InputError> {
        self.input.clone().try_map(
            |InFirstEvent {}| match events.first().map(|event| &event.body) {
                Some(EventBody::RunCreated(created)) => Ok(created.clone()),
                _ => Err(InputError::NoCreation),
            },
            |reported| reported.restored(events),
        )
    }
}

impl ReportedIn {
    fn restored(self, events: &[Event]) -> Result<Report, InputError> {
        let Self { turn, event, faulted } = self;
        let first = events.first().map_or(0, |first| first.seq);
        let place = event.checked_sub(first).and_then(|place| usize::try_from(place).ok());
        let found = place.and_then(|place| events.get(place)).map(|event| &event.body);
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
