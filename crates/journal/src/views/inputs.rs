//! Whole inputs of utilities, for files that are made from the journal.
//!
//! The journal stores such an input in parts, most of which are in earlier events. While a run is driven the whole
//! input is in memory; afterwards the run is folded up to the turn, from its newest snapshot, only where a file needs it.

use std::sync::Arc;

use materia_contract::{ChainHash, Event, EventBody, Record, RunId, UtilityInput};
use materia_engine::{Journal, Unfolding, load_at};
use serde_json::Value;

use super::checked::{CatchUpError, checked};

/// Beside a journal that is read on from some place.
pub(super) struct Inputs<'a> {
    journal: &'a dyn Journal,
    run: &'a RunId,
    fold: Fold,
}

enum Fold {
    /// It was not needed yet.
    None,
    /// It has seen every event so far.
    Done(Box<Unfolding>),
    /// There is an event that this version cannot read: later inputs are unknown.
    Lost,
}

impl<'a> Inputs<'a> {
    pub(super) fn new(journal: &'a dyn Journal, run: &'a RunId) -> Self {
        Self { journal, run, fold: Fold::None }
    }

    /// Takes in the next event; gives the whole input where it has not got it itself.
    pub(super) fn see(
        &mut self,
        record: &Record,
        event: Option<&Event>,
    ) -> Result<Option<Arc<Value>>, CatchUpError> {
        if matches!(self.fold, Fold::None) && event.is_some_and(is_in_parts) {
            self.fold = self.before(record.seq)?;
        }
        Ok(self.fold.see(event))
    }

    /// The fold of everything before the event at `seq`. A run that this version cannot load is read from its first
    /// event, because the inputs in front of an unreadable event are known all the same.
    fn before(&self, seq: u64) -> Result<Fold, CatchUpError> {
        if let Ok(run) = load_at(self.journal, self.run, seq - 1) {
            return Ok(Fold::Done(Box::new(Unfolding::behind(run))));
        }
        let mut fold = Fold::Done(Box::new(Unfolding::new(self.run.clone())));
        let start = (0, ChainHash::origin(self.run));
        checked(self.journal, self.run, start, &mut |records| {
            for record in records.iter().take_while(|record| record.seq < seq) {
                fold.see(record.event().ok().as_ref());
            }
            Ok(records.last().is_some_and(|last| last.seq + 1 < seq))
        })?;
        Ok(fold)
    }
}

impl Fold {
    fn see(&mut self, event: Option<&Event>) -> Option<Arc<Value>> {
        match (&mut *self, event) {
            (Self::Done(unfolding), Some(event)) => unfolding.see(event),
            (Self::Done(_), None) => {
                *self = Self::Lost;
                None
            }
            (Self::None | Self::Lost, _) => None,
        }
    }
}

/// The input of a utility's turn, where one starts.
fn given(event: &Event) -> Option<&UtilityInput> {
    let EventBody::TurnStarted(started) = &event.body else { return None };
    started.input.as_ref()
}

/// Whether an event has the parts of an input and not the whole.
fn is_in_parts(event: &Event) -> bool {
    given(event).is_some_and(|input| input.at_hand().is_none())
}

/// About how much memory an event takes that its record does not show.
pub(super) fn memory(event: &Event) -> usize {
    let whole = given(event).filter(|input| input.parts().is_some()).and_then(|it| it.at_hand());
    whole.map_or(0, |value| size(value))
}

fn size(value: &Value) -> usize {
    let inside = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + size(value)).sum(),
    };
    inside + size_of::<Value>()
}
