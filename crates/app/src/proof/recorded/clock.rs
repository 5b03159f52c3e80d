//! The simulated time at which the decisions of a cast are played again.

use materia_contract::time::Micros;
use materia_contract::{Decided, RecordedInput};

/// Gives each decision an instant in milliseconds, in the order in which they were taken.
///
/// A cast in simulated time keeps its instants; acts of users between its commands get instants of their own, because
/// turns at the same instant would start only after them. In a cast in real time every end of a turn gets an instant
/// of its own, because turns at the same instant would end together.
pub(super) struct Clock {
    began: Micros,
    simulated: bool,
    now: u64,
    /// How much later everything is than it was.
    shift: i64,
}

impl Clock {
    pub(super) fn new(began: Micros, simulated: bool) -> Self {
        Self { began, simulated, now: 0, shift: 0 }
    }

    /// The instant of the last decision.
    pub(super) fn now(&self) -> u64 {
        self.now
    }

    /// The instant of this decision. With `at_rest` it is the last instant: a run that is carried on by a command of
    /// its own goes on when it came to rest.
    pub(super) fn take(&mut self, decided: &Decided, at_rest: bool) -> u64 {
        let since = decided.at.saturating_sub(self.began) / 1_000;
        if at_rest {
            self.shift = i64::try_from(self.now).unwrap_or(i64::MAX).saturating_sub(since);
            return self.now;
        }
        let at = u64::try_from(since.saturating_add(self.shift)).unwrap_or(0);
        let (people, reports) = match &decided.input {
            RecordedInput::Moment(moment) => {
                let by_person = moment.acts.iter().any(|acting| acting.timeline.is_none());
                (by_person, !moment.reports.is_empty())
            }
            RecordedInput::Stopped { .. } | RecordedInput::Withheld { .. } => (true, true),
            RecordedInput::Create(_)
            | RecordedInput::SetAgents(_)
            | RecordedInput::Measured(_)
            | RecordedInput::Published(_)
            | RecordedInput::Unpublished { .. }
            | RecordedInput::RunForElapsed
            | RecordedInput::Idle => (false, false),
        };
        let apart = people || (reports && !self.simulated);
        let least = if apart { self.now + 1 } else { self.now };
        if self.simulated {
            self.shift += i64::try_from(least.saturating_sub(at)).unwrap_or(0);
        }
        self.now = at.max(least);
        self.now
    }
}
