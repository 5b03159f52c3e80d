//! Recomputes the decisions of a journal while it is read, piece by piece.

use materia_contract::{Decided, Event, EventBody, Record, RunId};
use materia_kernel::{Divergence, Recomputation, Retaken, Run, cut};

use crate::fold::{Piece, take};

/// A run that decides again beside its journal.
pub(crate) struct Again {
    state: State,
}

enum State {
    /// Decisions by other rules: they can only be folded.
    Folding(Box<Run>),
    Deciding(Box<Recomputation>),
}

/// A decision that was taken again before its events were read.
pub(crate) enum Quick {
    /// The records are, byte for byte, what would have been written: these events.
    Same(Vec<Event>),
    /// They are not. The events have to be read to say why, and then [`Again::compare`] does.
    Other(Result<Retaken, Divergence>),
}

/// Kind of a piece of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Took {
    /// A decision by other rules, which cannot be taken again.
    Folded,
    /// A decision, up to its last event.
    Decision,
}

impl Again {
    pub(crate) fn new(id: RunId) -> Self {
        Self { state: State::Folding(Box::new(Run::new(id))) }
    }

    /// The run behind the last piece that was complete.
    pub(crate) fn run(&self) -> &Run {
        match &self.state {
            State::Folding(run) => run,
            State::Deciding(decided) => decided.run(),
        }
    }

    /// Takes a piece of the journal.
    pub(crate) fn piece(&mut self, piece: &Piece) -> Result<Took, Divergence> {
        let Piece { decided, events, records, known } = piece;
        if *known {
            let retaken = self.deciding().next(decided, events)?;
            same_bytes(&retaken, records)?;
            return Ok(Took::Decision);
        }
        let mut run = self.take_run();
        for event in events {
            let (seq, kind) = (event.seq, event.body.type_name());
            take(&mut run, event).map_err(|_| Divergence::Unexplained { seq, kind })?;
        }
        let version = run.created().map_or(0, |created| created.journal_version);
        self.state = State::Folding(Box::new(run));
        if decided.goes_with(version) {
            return Ok(Took::Folded);
        }
        Err(Divergence::OtherVersion { seq: piece.first(), rules: decided.rules, version })
    }

    /// Takes a decision by these rules, none of whose records is `run.created`. Only what its input names is read:
    /// where the bytes are those that would have been written, the events are known.
    pub(crate) fn quick(
        &mut self,
        decided: &Decided,
        records: &[Record],
        scratch: &mut Vec<u8>,
    ) -> Quick {
        let (seq, wall) = records.first().map_or((0, 0), |first| (first.seq, first.wall));
        let body_of = |event: u64| {
            let record = records.get(usize::try_from(event.checked_sub(seq)?).ok()?)?;
            EventBody::parse(&record.kind, record.whole_data().ok()?).ok()
        };
        let restored = decided.restored_from(body_of);
        let input = match restored.map_err(|error| Divergence::Input { seq, error }) {
            Ok(input) => input,
            Err(divergence) => return Quick::Other(Err(divergence)),
        };
        let retaken = match self.deciding().retake(decided, input, (seq, wall)) {
            Ok(retaken) => retaken,
            Err(divergence) => return Quick::Other(Err(divergence)),
        };
        let mut both = records.iter().zip(&retaken.events);
        let same = records.len() == retaken.events.len()
            && records.first().and_then(|first| first.input.as_ref())
                == Some(&retaken.decided.text())
            && both.all(|(record, event)| record.is_surely(event, scratch));
        if same { Quick::Same(retaken.events) } else { Quick::Other(Ok(retaken)) }
    }

    /// Compares a decision that was taken [quickly](Self::quick) with its events, which have been read by now.
    pub(crate) fn compare(
        retaken: Result<Retaken, Divergence>,
        piece: &Piece,
    ) -> Result<Took, Divergence> {
        let retaken = retaken?;
        retaken.agrees(&piece.decided, &piece.events)?;
        same_bytes(&retaken, &piece.records)?;
        Ok(Took::Decision)
    }

    /// Takes a piece as a fork at event `at` has it, and gives it back.
    pub(crate) fn piece_up_to(&mut self, piece: Piece, at: u64) -> Result<Piece, Divergence> {
        if piece.end().0 <= at {
            self.piece(&piece)?;
            return Ok(piece);
        }
        let mut run = self.run().clone();
        let (decided, events) = cut(&mut run, &piece.decided, &piece.events, at)?;
        self.state = State::Deciding(Box::new(Recomputation::from(run)));
        Ok(Piece { decided, events, records: Vec::new(), known: true })
    }

    /// Takes the run out of the state; the caller puts it back.
    fn take_run(&mut self) -> Run {
        let nothing = State::Folding(Box::new(Run::new(RunId::new(""))));
        match std::mem::replace(&mut self.state, nothing) {
            State::Folding(run) => *run,
            State::Deciding(again) => again.into_run(),
        }
    }

    /// The run that decides again; what was folded before was decided by other rules.
    fn deciding(&mut self) -> &mut Recomputation {
        if let State::Folding(_) = &self.state {
            let run = self.take_run();
            self.state = State::Deciding(Box::new(Recomputation::from(run)));
        }
        match &mut self.state {
            State::Deciding(again) => again,
            State::Folding(_) => unreachable!("it was just made one that decides"),
        }
    }
}

/// Whether a decision is kept in the bytes that this program would have written. Two texts can mean the same.
fn same_bytes(retaken: &Retaken, records: &[Record]) -> Result<(), Divergence> {
    let Some(first) = records.first() else { return Ok(()) };
    if first.input.as_ref() != Some(&retaken.decided.text()) {
        return Err(Divergence::OtherInput { seq: first.seq });
    }
    let other = records.iter().zip(&retaken.events).find(|(it, event)| !it.is_written_for(event));
    match other {
        None => Ok(()),
        Some((record, event)) => {
            Err(Divergence::OtherBytes { seq: record.seq, kind: event.body.type_name() })
        }
    }
}
