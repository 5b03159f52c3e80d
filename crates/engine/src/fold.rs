//! From records to events to state, and from records to decisions.

use std::sync::Arc;

use materia_contract::{
    ChainHash, Decided, Event, EventBody, InputError, JOURNAL_VERSION, JOURNAL_VERSION_OF_INPUTS,
    Record, RunId,
};
use materia_kernel::{Misfit, Run, TurnWork, evolve, fits, legacy};
use serde_json::Value;

/// A run that is folded from its events.
///
/// Events that were kept without the input of their decision are of a journal before version 3: they
/// are completed with what the fold worked out then.
pub(crate) struct Fold {
    pub(crate) run: Run,
    /// Whether a decision was met; everything behind it belongs to one.
    decided: bool,
}

impl Fold {
    pub(crate) fn new(run: Run) -> Self {
        Self { run, decided: false }
    }

    /// Applies the next event, unless what it speaks of is not there.
    pub(crate) fn take(&mut self, record: &Record, event: &Event) -> Result<(), Misfit> {
        self.decided |= record.input.is_some();
        if self.decided { self.take_new(event) } else { self.take_old(event) }
    }

    /// Applies an event of a decision.
    pub(crate) fn take_new(&mut self, event: &Event) -> Result<(), Misfit> {
        fits(&self.run, event)?;
        evolve(&mut self.run, event);
        Ok(())
    }

    /// Applies an event that was kept without an input.
    pub(crate) fn take_old(&mut self, event: &Event) -> Result<(), Misfit> {
        fits(&self.run, event)?;
        let event = legacy::completed(&self.run, event.clone());
        evolve(&mut self.run, &event);
        Ok(())
    }
}

/// Puts together what events keep in parts, while they are read in order from the first.
pub struct Unfolding {
    fold: Fold,
    seq: u64,
}

impl Unfolding {
    /// Begins before the first event.
    #[must_use]
    pub fn new(id: RunId) -> Self {
        Self { fold: Fold::new(Run::new(id)), seq: 0 }
    }

    /// Begins behind the last event of a run that was [folded](crate::load_at).
    #[must_use]
    pub fn behind(run: Run) -> Self {
        let seq = run.seq();
        // It may be in the middle of a decision.
        let decided = run
            .created()
            .is_some_and(|created| created.journal_version >= JOURNAL_VERSION_OF_INPUTS);
        Self { fold: Fold { run, decided }, seq }
    }

    /// The run as far as it was read.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.fold.run
    }

    /// Takes in the next event; gives the whole input where a turn of a utility starts.
    ///
    /// An event that does not follow on the one before is left out, with all behind it: what could be
    /// put together then would be made up.
    pub fn see(&mut self, record: &Record, event: &Event) -> Option<Arc<Value>> {
        if event.seq != self.seq + 1 || self.fold.take(record, event).is_err() {
            return None;
        }
        self.seq = event.seq;
        let EventBody::TurnStarted(_) = event.body else { return None };
        match &self.fold.run.turn(event.seq)?.work {
            TurnWork::Input(whole) => Some(Arc::clone(whole)),
            TurnWork::Prompt(_) => None,
        }
    }
}

/// A piece of a journal.
#[derive(Debug)]
pub(crate) enum Piece {
    /// A decision.
    Decision {
        /// What it rests on.
        decided: Decided,
        events: Vec<Event>,
        /// The events as they are kept; none where a fork has just cut the decision.
        records: Vec<Record>,
        /// Whether this program knows the rules by which it was taken and the words in which it is written.
        known: bool,
    },
    /// An event of a journal before version 3.
    Event(Box<Event>, ChainHash),
}

impl Piece {
    /// The place of its first event.
    pub(crate) fn first(&self) -> u64 {
        match self {
            Self::Decision { events, .. } => events.first().map_or(0, |event| event.seq),
            Self::Event(event, _) => event.seq,
        }
    }

    /// Its events.
    pub(crate) fn events(&self) -> &[Event] {
        match self {
            Self::Decision { events, .. } => events,
            Self::Event(event, _) => std::slice::from_ref(event),
        }
    }

    /// Whether it was kept without an input.
    pub(crate) fn is_old(&self) -> bool {
        matches!(self, Self::Event(..))
    }

    /// Whether it was decided by the rules of another version, or is written in its words.
    pub(crate) fn is_of_other_rules(&self) -> bool {
        matches!(self, Self::Decision { known: false, .. })
    }

    /// The place and hash of its last event.
    pub(crate) fn end(&self) -> (u64, ChainHash) {
        match self {
            Self::Decision { events, records, .. } => {
                let seq = events.last().map_or(0, |event| event.seq);
                (seq, records.last().map_or(ChainHash([0; 32]), |record| record.hash))
            }
            Self::Event(event, hash) => (event.seq, *hash),
        }
    }
}

/// Puts records together to decisions.
#[derive(Debug, Default)]
pub(crate) struct Gather {
    open: Option<Piece>,
    /// How the run was written, as its first event says.
    version: u32,
}

impl Gather {
    /// Takes the next record with its event; gives the piece that is complete by it.
    pub(crate) fn take(
        &mut self,
        record: Record,
        event: Event,
    ) -> Result<Option<Piece>, InputError> {
        if let EventBody::RunCreated(created) = &event.body {
            self.version = created.journal_version;
        }
        if let Some(input) = &record.input {
            let decided = Decided::read(input)?;
            let known = decided.is_of_these_rules() && self.version <= JOURNAL_VERSION;
            let (events, records) = (vec![event], vec![record]);
            return Ok(self.open.replace(Piece::Decision { decided, events, records, known }));
        }
        let Some(Piece::Decision { events, records, .. }) = &mut self.open else {
            return Ok(Some(Piece::Event(Box::new(event), record.hash)));
        };
        events.push(event);
        records.push(record);
        Ok(None)
    }

    /// The decision that the last records belong to.
    pub(crate) fn rest(&mut self) -> Option<Piece> {
        self.open.take()
    }
}
