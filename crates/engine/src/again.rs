//! Takes the decisions of a journal again while it is read, piece by piece.

use materia_contract::RunId;
use materia_kernel::{Divergence, Recomputation, Run, cut};

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
                }
                Ok(Took::Folded)
            }
            Piece::Decision { decided, events, .. } if !decided.is_of_these_rules() => {
                let mut fold = Fold::new(self.take_run());
                for event in events {
                    let (seq, kind) = (event.seq, event.body.type_name());
                    fold.take_new(event).map_err(|_| Divergence::Unexplained { seq, kind })?;
                }
                self.state = State::Folding(Box::new(fold));
                Ok(Took::Folded)
            }
            Piece::Decision { decided, events, .. } => {
                self.deciding().next(decided, events)?;
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
                Ok(Piece::Decision { decided, events, hashes: Vec::new() })
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
