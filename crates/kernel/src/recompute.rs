//! Recomputes decisions from their recorded inputs.

use materia_contract::time::Micros;
use materia_contract::{
    Decided, Event, Input, InputError, JOURNAL_VERSION, JOURNAL_VERSION_OF_PROJECT, RecordedInput,
    RunCreated, RunId,
};

use crate::decide::{Decision, Now, Rejection, take_with};
use crate::state::Run;

/// The first place at which a journal is not what this program would have written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Divergence {
    /// It would have written another event.
    #[error("event {seq} is `{}`, but the same inputs give {}", .found.body.type_name(), told(.found, .expected))]
    Differs {
        /// Its place.
        seq: u64,
        /// The event in the journal.
        found: Box<Event>,
        /// The recomputed event.
        expected: Box<Event>,
    },
    /// It would have written nothing there.
    #[error("event {seq} (`{kind}`) follows from nothing before it")]
    Unexplained {
        /// Its place.
        seq: u64,
        /// Its type.
        kind: &'static str,
    },
    /// It would have written one more event.
    #[error("the decision ends before event {seq}, but the same inputs give `{kind}` there")]
    Missing {
        /// The place behind the decision's last event.
        seq: u64,
        /// The type of the event that follows from the inputs.
        kind: &'static str,
    },
    /// It would have refused the input.
    #[error(
        "the decision at event {seq} rests on an input that the run refuses there: {rejection}"
    )]
    Refused {
        /// The decision's first event.
        seq: u64,
        /// Why.
        rejection: Rejection,
    },
    /// The input cannot be read back, or is not kept as this program keeps it.
    #[error("the decision at event {seq} cannot be taken again: {error}")]
    Input {
        /// The decision's first event.
        seq: u64,
        /// The error.
        error: InputError,
    },
    /// It was taken before the decision that comes before it.
    #[error(
        "the decision at event {seq} was taken at {at}, before the one that it follows on, which was at {before}"
    )]
    WentBack {
        /// The decision's first event.
        seq: u64,
        /// When it was taken.
        at: Micros,
        /// When the one before it was.
        before: Micros,
    },
    /// It says that a fork cut it, in a run that was not forked there.
    #[error("the decision at event {seq} says that it was cut, and the run was not forked there")]
    Cut {
        /// The decision's first event.
        seq: u64,
    },
    /// No program has both written such a run and decided by such rules.
    #[error(
        "the decision at event {seq} says `rules` {rules}, which does not go with `journalVersion` {version} of its run"
    )]
    OtherVersion {
        /// The decision's first event.
        seq: u64,
        /// The rules that it names.
        rules: u32,
        /// How the run was written, as its first event says.
        version: u32,
    },
    /// The event says the same in other bytes than would have been written.
    #[error(
        "event {seq} (`{kind}`) is not written as materia writes it: its bytes differ from those that follow from the inputs"
    )]
    OtherBytes {
        /// Its place.
        seq: u64,
        /// Its type.
        kind: &'static str,
    },
    /// The input says more than the decision rests on.
    #[error("the input of the decision at event {seq} is not the one that its events follow from")]
    OtherInput {
        /// The decision's first event.
        seq: u64,
    },
}

/// The difference in words, where both events have the same type.
fn told(found: &Event, expected: &Event) -> String {
    let kind = expected.body.type_name();
    if found.body.type_name() != kind {
        return format!("`{kind}`");
    }
    let part = if found.body != expected.body {
        "data"
    } else if found.node != expected.node {
        "node"
    } else {
        "time"
    };
    format!("one with other {part}")
}

impl Divergence {
    /// The place of the first event that does not follow.
    #[must_use]
    pub fn seq(&self) -> u64 {
        match self {
            Self::Differs { seq, .. }
            | Self::Unexplained { seq, .. }
            | Self::Missing { seq, .. }
            | Self::Refused { seq, .. }
            | Self::Input { seq, .. }
            | Self::WentBack { seq, .. }
            | Self::Cut { seq }
            | Self::OtherVersion { seq, .. }
            | Self::OtherBytes { seq, .. }
            | Self::OtherInput { seq } => *seq,
        }
    }
}

/// A run that decides again, beside a journal that is being read.
#[derive(Debug)]
pub struct Recomputation {
    run: Run,
    /// When the last decision was taken.
    at: Option<Micros>,
}

/// A decision that was taken again: what would have been written.
#[derive(Debug)]
pub struct Retaken {
    /// The input and its circumstances.
    pub decided: Decided,
    /// The recomputed events.
    pub events: Vec<Event>,
}

impl Retaken {
    /// Compares it with a decision of the journal.
    pub fn agrees(&self, decided: &Decided, events: &[Event]) -> Result<(), Divergence> {
        let mut found = events.iter();
        for expected in &self.events {
            let Some(found) = found.next() else {
                let kind = expected.body.type_name();
                return Err(Divergence::Missing { seq: expected.seq, kind });
            };
            if expected != found {
                let (seq, found) = (found.seq, Box::new(found.clone()));
                let expected = Box::new(expected.clone());
                return Err(Divergence::Differs { seq, found, expected });
            }
        }
        if let Some(more) = found.next() {
            let kind = more.body.type_name();
            return Err(Divergence::Unexplained { seq: more.seq, kind });
        }
        if self.decided.input != decided.input || self.decided.ticks != decided.ticks {
            let seq = events.first().map_or(0, |first| first.seq);
            return Err(Divergence::OtherInput { seq });
        }
        Ok(())
    }
}

impl Recomputation {
    /// Begins before the first event.
    #[must_use]
    pub fn new(id: RunId) -> Self {
        Self { run: Run::new(id), at: None }
    }

    /// Begins behind decisions that were taken by other rules.
    #[must_use]
    pub fn from(run: Run) -> Self {
        Self { run, at: None }
    }

    /// The run behind the last decision.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Gives the run back.
    #[must_use]
    pub fn into_run(self) -> Run {
        self.run
    }

    /// Recomputes a decision, compares it with the events of the journal, and returns it for a comparison of the
    /// bytes. After a divergence no further call is meaningful.
    pub fn next(&mut self, decided: &Decided, events: &[Event]) -> Result<Retaken, Divergence> {
        let Some(first) = events.first() else {
            return Ok(Retaken { decided: decided.clone(), events: Vec::new() });
        };
        let seq = first.seq;
        let input = decided.restored(events).map_err(|error| Divergence::Input { seq, error })?;
        let retaken = self.retake(decided, input, (seq, first.wall))?;
        retaken.agrees(decided, events)?;
        Ok(retaken)
    }

    /// Recomputes a decision whose first event is at `seq`, and compares nothing. After a divergence no further call is
    /// meaningful.
    pub fn retake(
        &mut self,
        decided: &Decided,
        input: Input,
        (seq, wall): (u64, Micros),
    ) -> Result<Retaken, Divergence> {
        self.can_be(seq, decided, &input)?;
        let now = Now { at: decided.at, wall, until: decided.until };
        let Decision { input, ticks, events } =
            take_with(&mut self.run, now, &decided.ticks, input)
                .map_err(|rejection| Divergence::Refused { seq, rejection })?;
        let (by, command) = (decided.by.clone(), decided.command.clone());
        Ok(Retaken { decided: Decided { by, command, input, ticks, ..*decided }, events })
    }

    /// Whether a decision can have been taken where it stands, whatever follows from it.
    fn can_be(&mut self, seq: u64, decided: &Decided, input: &Input) -> Result<(), Divergence> {
        let at = decided.at;
        if let Some(before) = self.at.replace(at).filter(|before| at < *before) {
            return Err(Divergence::WentBack { seq, at, before });
        }
        let created =
            if let Input::Create(created) = input { Some(&**created) } else { self.run.created() };
        let Some(created) = created else { return Ok(()) };
        let (rules, version) = (decided.rules, created.journal_version);
        // A run names a newer journal version only if it needs one.
        let needed = created.workspace.is_some() == (version > JOURNAL_VERSION_OF_PROJECT);
        if version > JOURNAL_VERSION || !needed || !decided.goes_with(version) {
            return Err(Divergence::OtherVersion { seq, rules, version });
        }
        if is_cut_rightly(seq, decided, created) { Ok(()) } else { Err(Divergence::Cut { seq }) }
    }
}

/// A fork has decisions that were cut, among those that it shares. A run that is handed over starts nothing after its
/// creation, or after the last reports of its turns.
fn is_cut_rightly(seq: u64, decided: &Decided, created: &RunCreated) -> bool {
    match (decided.until, &decided.input) {
        (None, _) | (Some(1), RecordedInput::Create(_)) => true,
        (Some(until), RecordedInput::Moment(moment))
            if until + 1 == seq && moment.acts.is_empty() && !moment.reports.is_empty() =>
        {
            true
        }
        (Some(_), _) => created.fork.as_ref().is_some_and(|fork| seq <= fork.seq),
    }
}

/// The decision as a fork at event `at` has it, for a run that stands before it: what it had settled up to
/// there and what that leads to, and nothing that it started afterwards.
pub fn cut(
    run: &mut Run,
    decided: &Decided,
    events: &[Event],
    at: u64,
) -> Result<(Decided, Vec<Event>), Divergence> {
    let seq = events.first().map_or(0, |event| event.seq);
    let wall = events.first().map_or(0, |event| event.wall);
    let input = decided.restored(events).map_err(|error| Divergence::Input { seq, error })?;
    let until = Some(decided.until.map_or(at, |until| until.min(at)));
    let now = Now { at: decided.at, wall, until };
    let decision = take_with(run, now, &decided.ticks, input)
        .map_err(|rejection| Divergence::Refused { seq, rejection })?;
    let shared = events.iter().take_while(|event| event.seq <= at);
    for (found, expected) in shared.zip(&decision.events) {
        if found != expected {
            let (seq, expected) = (found.seq, Box::new(expected.clone()));
            return Err(Divergence::Differs { seq, found: Box::new(found.clone()), expected });
        }
    }
    let decided = Decided { until, input: decision.input, ..decided.clone() };
    Ok((decided, decision.events))
}
