//! Folds events to state, and groups records into decisions.

use std::sync::Arc;

use materia_contract::{
    ChainHash, Decided, Event, EventBody, InputError, JOURNAL_VERSION, Record, RunId,
};
use materia_kernel::{Misfit, Run, TurnWork, evolve, fits};
use serde_json::Value;

/// Applies the next event, if it refers only to things that exist in the run.
pub(crate) fn take(run: &mut Run, event: &Event) -> Result<(), Misfit> {
    fits(run, event)?;
    evolve(run, event);
    Ok(())
}

/// Puts together what events keep in parts, while they are read in order from the first.
pub struct Unfolding {
    run: Run,
}

impl Unfolding {
    /// Begins before the first event.
    #[must_use]
    pub fn new(id: RunId) -> Self {
        Self { run: Run::new(id) }
    }

    /// Begins behind the last event of a run that was [folded](crate::load_at).
    #[must_use]
    pub fn behind(run: Run) -> Self {
        Self { run }
    }

    /// The run as far as it was read.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Folds the next event; returns the whole input where a turn of a utility starts. An event that does not follow
    /// the one before is ignored, with all after it.
    pub fn see(&mut self, event: &Event) -> Option<Arc<Value>> {
        if event.seq != self.run.seq() + 1 || take(&mut self.run, event).is_err() {
            return None;
        }
        let EventBody::TurnStarted(_) = event.body else { return None };
        match &self.run.turn(event.seq)?.work {
            TurnWork::Input(whole) => Some(Arc::clone(whole)),
            TurnWork::Prompt(_) => None,
        }
    }
}

/// A decision of a journal.
#[derive(Debug)]
pub(crate) struct Piece {
    /// The input and its circumstances.
    pub(crate) decided: Decided,
    pub(crate) events: Vec<Event>,
    /// The events as they are kept; none where a fork has just cut the decision.
    pub(crate) records: Vec<Record>,
    /// Whether this program knows the rules by which it was taken and the words in which it is written.
    pub(crate) known: bool,
    /// Whether the events are known without the records, and still have to be [compared](Piece::is_kept) with them.
    pub(crate) is_guess: bool,
}

impl Piece {
    /// Whether its plain records are, byte for byte, what is written for the decision. `scratch` is memory that is used
    /// again.
    pub(crate) fn is_kept(&self, scratch: &mut Vec<u8>) -> bool {
        let input = self.records.first().and_then(|first| first.input.as_deref());
        let mut both = self.records.iter().zip(&self.events);
        input.is_some_and(|input| self.decided.is_text(input, scratch))
            && both.all(|(record, event)| record.is_plainly(event, scratch))
    }

    /// The place of its first event.
    pub(crate) fn first(&self) -> u64 {
        self.events.first().map_or(0, |event| event.seq)
    }

    /// The place and hash of its last event.
    pub(crate) fn end(&self) -> (u64, ChainHash) {
        let seq = self.events.last().map_or(0, |event| event.seq);
        (seq, self.records.last().map_or(ChainHash([0; 32]), |record| record.hash))
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
    /// Takes the next record with its event; gives the decision that is complete by it.
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
            let known = self.knows(&decided);
            let (events, records, is_guess) = (vec![event], vec![record], false);
            return Ok(self.open.replace(Piece { decided, events, records, known, is_guess }));
        }
        let Some(Piece { events, records, .. }) = &mut self.open else {
            return Err(InputError::Unreadable("there is none".to_owned()));
        };
        events.push(event);
        records.push(record);
        Ok(None)
    }

    /// Whether this program knows the rules of a decision and the words of its run.
    pub(crate) fn knows(&self, decided: &Decided) -> bool {
        decided.is_of_these_rules() && self.version <= JOURNAL_VERSION
    }

    /// The decision that the last records belong to.
    pub(crate) fn rest(&mut self) -> Option<Piece> {
        self.open.take()
    }
}
