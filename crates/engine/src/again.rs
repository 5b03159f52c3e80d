//! Takes the decisions of a journal again while it is read, piece by piece.

use materia_contract::{JOURNAL_VERSION_OF_INPUTS, Record, RunId};
use materia_kernel::{Divergence, Recomputation, Retaken, Run, cut};

use crate::fold::{Fold, Piece};

/// A run that decides again beside its journal.
pub(crate) struct Again {
    state: State,
}

enum State {
    /// Events that were kept without inputs, or decided by other rules: they can only be folded.
    Folding(Box<Fold>),
    Deciding(Box<Recomputation>),
}

/// What one more piece of a journal was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Took {
    /// Events that were kept without their input, or decided by other rules: there is nothing to
    /// decide again.
    Folded,
    /// A decision, up to its last event.
    Decision,
}

impl Again {
    pub(crate) fn new(id: RunId) -> Self {
        let fold = Fold::new(Run::new(id));
        Self { state: State::Folding(Box::new(fold)) }
    }

    /// The run behind the last piece that was complete.
    pub(crate) fn run(&self) -> &Run {
        match &self.state {
            State::Folding(fold) => &fold.run,
            State::Deciding(decided) => decided.run(),
        }
    }

    /// Takes a piece of the journal.
    pub(crate) fn piece(&mut self, piece: &Piece) -> Result<Took, Divergence> {
        match piece {
            Piece::Event(event, _) => {
                if let State::Folding(fold) = &mut self.state {
                    let (seq, kind) = (event.seq, event.body.type_name());
                    fold.take_old(event).map_err(|_| Divergence::Unexplained { seq, kind })?;
                    let version = fold.run.created().map_or(0, |created| created.journal_version);
                    if version >= JOURNAL_VERSION_OF_INPUTS {
                        return Err(Divergence::NoInput { seq, kind, version });
                    }
                }
                Ok(Took::Folded)
            }
            Piece::Decision { decided, events, known: false, .. } => {
                let mut fold = Fold::new(self.take_run());
                let begins = fold.run.created().is_none();
                for event in events {
                    let (seq, kind) = (event.seq, event.body.type_name());
                    fold.take_new(event).map_err(|_| Divergence::Unexplained { seq, kind })?;
                }
                let version = fold.run.created().map_or(0, |created| created.journal_version);
                self.state = State::Folding(Box::new(fold));
                if decided.goes_with(version, begins) {
                    return Ok(Took::Folded);
                }
                Err(Divergence::OtherVersion { seq: piece.first(), rules: decided.rules, version })
            }
            Piece::Decision { decided, events, records, .. } => {
                let retaken = self.deciding().next(decided, events)?;
                same_bytes(&retaken, records)?;
                Ok(Took::Decision)
            }
        }
    }

    /// Takes a piece as a fork at event `at` has it, and gives it back.
    pub(crate) fn piece_up_to(&mut self, piece: Piece, at: u64) -> Result<Piece, Divergence> {
        match &piece {
            Piece::Decision { decided, events, .. }
                if events.last().is_some_and(|last| last.seq > at) =>
            {
                let mut run = self.run().clone();
                let (decided, events) = cut(&mut run, decided, events, at)?;
                self.state = State::Deciding(Box::new(Recomputation::from(run)));
                Ok(Piece::Decision { decided, events, records: Vec::new(), known: true })
            }
            Piece::Decision { .. } | Piece::Event(..) => {
                self.piece(&piece)?;
                Ok(piece)
            }
        }
    }

    /// The run as it stands, for whoever puts it back.
    fn take_run(&mut self) -> Run {
        let nothing = State::Folding(Box::new(Fold::new(Run::new(RunId::new("")))));
        match std::mem::replace(&mut self.state, nothing) {
            State::Folding(fold) => fold.run,
            State::Deciding(again) => again.into_run(),
        }
    }

    /// The run that decides again; what was folded before has no inputs to decide on.
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
