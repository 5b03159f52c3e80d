//! Recomputes the decisions of a journal while it is read, piece by piece.

use materia_contract::{Decided, Record, RunId};
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
        let Piece { decided, events, records, known, .. } = piece;
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

    /// Takes a decision by these rules, none of whose records is `run.created`. Only what its input names is read. Where
    /// the records are [what would have been written](Piece::is_kept), nothing else has to be.
    pub(crate) fn quick(
        &mut self,
        decided: &Decided,
        records: &[Record],
    ) -> Result<Retaken, Divergence> {
        let (seq, wall) = records.first().map_or((0, 0), |first| (first.seq, first.wall));
        let text_of = |event: u64| {
            let record = records.get(usize::try_from(event.checked_sub(seq)?).ok()?)?;
            Some((record.kind.as_str(), record.whole_data().ok()?))
        };
        let restored = decided.restored_from(text_of);
        let input = restored.map_err(|error| Divergence::Input { seq, error })?;
        self.deciding().retake(decided, input, (seq, wall))
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
        Ok(Piece { decided, events, records: Vec::new(), known: true, is_guess: false })
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
