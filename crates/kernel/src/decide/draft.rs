//! A decision in the making: events are applied as they are written.

use materia_contract::time::Micros;
use materia_contract::{Event, EventBody, NextTick, NodeId, ReportedIn};

use crate::decide::agenda::Due;
use crate::evolve::evolve;
use crate::state::Run;

/// The instant of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Logical time of the run; it decides which timers are due. It goes back at most briefly, because the driver
    /// continues from the time of the last event.
    pub at: Micros,
    /// Wall-clock time. It is recorded and decides nothing.
    pub wall: Micros,
    /// Nothing is started behind this event. So a fork shares a decision up to there, and goes on by itself.
    pub until: Option<u64>,
}

impl From<Micros> for Now {
    fn from(at: Micros) -> Self {
        Self { at, wall: at, until: None }
    }
}

/// Maximum number of turns that the runtime answers itself in one decision. They take no time, so a cycle of them
/// would never end.
const ANSWERS_MAX: u32 = 1_000;

/// A decision in the making: every event is applied as soon as it is written. So a decision can never rest on a state
/// that a replay of the events would not reach.
pub(crate) struct Draft<'run> {
    run: &'run mut Run,
    now: Now,
    events: Vec<Event>,
    reported: Vec<ReportedIn>,
    /// The next ticks of schedules. The caller computes them, because the kernel knows no time zones.
    ticks: Vec<NextTick>,
    /// Turns that the runtime answered itself.
    answered: u32,
    /// The entries that are still to be decided, the next one at the end.
    agenda: Vec<Due>,
    /// The entries that the rule at work has added so far, in its order.
    said: Vec<Due>,
}

impl<'run> Draft<'run> {
    pub(crate) fn new(run: &'run mut Run, now: Now, ticks: Vec<NextTick>) -> Self {
        Self {
            run,
            now,
            events: Vec::with_capacity(8),
            reported: Vec::new(),
            ticks,
            answered: 0,
            agenda: Vec::with_capacity(4),
            said: Vec::with_capacity(4),
        }
    }

    /// A rule says what is to be decided next: behind what it has said before, and ahead of everything else.
    pub(crate) fn then(&mut self, due: Due) {
        self.said.push(due);
    }

    /// The entry that is to be decided now.
    pub(crate) fn due(&mut self) -> Option<Due> {
        self.agenda.extend(self.said.drain(..).rev());
        self.agenda.pop()
    }

    /// The next tick of a node that has a schedule.
    pub(crate) fn tick_of(&self, node: &NodeId) -> Option<Micros> {
        self.ticks.iter().find(|tick| tick.node == *node).map(|tick| tick.at)
    }

    /// The run as it is after the events so far.
    pub(crate) fn run(&self) -> &Run {
        self.run
    }

    /// The instant of the decision.
    pub(crate) fn now(&self) -> Micros {
        self.now.at
    }

    /// Whether nothing more may be started by this decision.
    pub(crate) fn is_cut(&self) -> bool {
        self.now.until.is_some_and(|until| self.run.seq >= until)
    }

    /// The runtime answers a turn itself; says whether it has done so too often for one decision.
    pub(crate) fn answers(&mut self) -> bool {
        self.answered += 1;
        self.answered > ANSWERS_MAX
    }

    /// Notes which event has a report.
    pub(crate) fn reported(&mut self, reported: ReportedIn) {
        self.reported.push(reported);
    }

    /// The place that the next event will have.
    pub(crate) fn next_seq(&self) -> u64 {
        self.run.seq + 1
    }

    /// The logical time that the next event will have: strictly increasing whatever the clock does (D5).
    pub(crate) fn next_ts(&self) -> Micros {
        self.now.at.max(self.run.ts + 1)
    }

    /// Writes an event about the run as a whole.
    pub(crate) fn emit(&mut self, body: impl Into<EventBody>) {
        self.push(None, body.into());
    }

    /// Writes an event about a node.
    pub(crate) fn emit_at(&mut self, node: &NodeId, body: impl Into<EventBody>) {
        self.push(Some(node.clone()), body.into());
    }

    fn push(&mut self, node: Option<NodeId>, body: EventBody) {
        let event =
            Event { seq: self.run.seq + 1, ts: self.next_ts(), wall: self.now.wall, node, body };
        evolve(self.run, &event);
        self.events.push(event);
    }

    pub(crate) fn finish(self) -> (Vec<Event>, Vec<ReportedIn>, Vec<NextTick>) {
        (self.events, self.reported, self.ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use materia_contract::RunId;

    #[test]
    fn the_runtime_may_answer_so_many_turns_in_one_decision_and_no_more() {
        let mut run = Run::new(RunId::new("r"));
        let mut draft = Draft::new(&mut run, Now::from(1), Vec::new());
        for nth in 1..=ANSWERS_MAX {
            assert!(!draft.answers(), "answer {nth}");
        }
        assert!(draft.answers());
    }
}
