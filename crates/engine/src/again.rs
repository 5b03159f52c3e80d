//! Takes the decisions of a journal again while it is read, event by event.

use materia_contract::{Event, Record, RunId};
use materia_kernel::{Divergence, Recomputation, Run};

use crate::fold::{Fold, Gather, Piece};

/// A run that decides again beside its journal.
pub(crate) struct Again {
    gather: Gather,
    state: State,
}

enum State {
    /// Events that were kept without inputs: they can only be folded.
    Folding(Box<Fold>),
    Deciding(Box<Recomputation>),
}

/// What one more piece of a journal was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Took {
    /// Nothing is complete yet.
    Nothing,
    /// An event that was kept without its input: there is nothing to decide again.
    Event,
    /// A decision, up to its last event.
    Decision,
}

impl Again {
    pub(crate) fn new(id: RunId) -> Self {
        let fold = Fold::new(Run::new(id));
        Self { gather: Gather::default(), state: State::Folding(Box::new(fold)) }
    }

    /// The run behind the last piece that was complete.
    pub(crate) fn run(&self) -> &Run {
        match &self.state {
            State::Folding(fold) => &fold.run,
            State::Deciding(decided) => decided.run(),
        }
    }

    /// Takes the next event. What it completes is compared: mostly the decision before it.
    pub(crate) fn take(&mut self, record: &Record, event: &Event) -> Result<Took, Divergence> {
        let seq = event.seq;
        let piece = self.gather.take(record, event.clone());
        let piece = piece.map_err(|error| Divergence::Input { seq, error })?;
        self.piece(piece)
    }

    /// Takes what is left at the end.
    pub(crate) fn finish(&mut self) -> Result<Took, Divergence> {
        let rest = self.gather.rest();
        self.piece(rest)
    }

    /// Takes a piece of the journal.
    pub(crate) fn piece(&mut self, piece: Option<Piece>) -> Result<Took, Divergence> {
        match piece {
            None => Ok(Took::Nothing),
            Some(Piece::Event(event, _)) => {
                if let State::Folding(fold) = &mut self.state {
                    let (seq, kind) = (event.seq, event.body.type_name());
                    fold.take_old(&event).map_err(|_| Divergence::Unexplained { seq, kind })?;
                }
                Ok(Took::Event)
            }
            Some(Piece::Decision { decided, events, .. }) => {
                if let State::Folding(fold) = &self.state {
                    let again = Recomputation::from(fold.run.clone());
                    self.state = State::Deciding(Box::new(again));
                }
                if let State::Deciding(again) = &mut self.state {
                    again.next(&decided, &events)?;
                }
                Ok(Took::Decision)
            }
        }
    }
}
