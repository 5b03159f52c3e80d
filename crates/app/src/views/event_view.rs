//! Events as people and programs see them: the output of `events --json` and the server's answers.
//!
//! An event stores a utility's input in parts, the layers of a prompt without what follows from the rest, and names of
//! folders instead of their paths. This module shows all of it, which needs the events before it.

use std::borrow::Cow;

use materia_contract::{BlobHash, ChainHash, EventBody, Folders, Record, RunId, blob};
use materia_engine::{Journal, LoadError, Unfolding, blocking, load_at};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Shows the events of a cast, one after the other.
pub struct Shown {
    id: RunId,
    seq: u64,
    head: ChainHash,
    unfolding: Unfolding,
    folders: Folders,
}

impl Shown {
    /// Begins before the first event. `folders` says where the folders are that events name.
    pub fn new(id: RunId, folders: Folders) -> Self {
        let (head, unfolding) = (ChainHash::origin(&id), Unfolding::new(id.clone()));
        Self { id, seq: 0, head, unfolding, folders }
    }

    /// Begins behind event `after`. It waits for the journal.
    pub fn behind(
        journal: &dyn Journal,
        id: &RunId,
        folders: Folders,
        after: u64,
    ) -> Result<Self, LoadError> {
        if after == 0 {
            return Ok(Self::new(id.clone(), folders));
        }
        let run = load_at(journal, id, after)?;
        let last = blocking(journal).records(id, after - 1, 1)?;
        let head = last.first().map_or(ChainHash::origin(id), |record| record.hash);
        Ok(Self { id: id.clone(), seq: after, head, unfolding: Unfolding::behind(run), folders })
    }

    /// The place of the last event that was shown.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Whether an event is what was written.
    pub fn holds(&self, record: &Record) -> bool {
        record.hash_after(self.head) == record.hash
    }

    /// The next event as JSON.
    pub fn json(&mut self, record: &Record) -> String {
        let whole = self.whole(record);
        let mut shown = record.shown(&self.id, self.head);
        if let Some(data) = whole {
            shown.data = Cow::Owned(data);
        }
        let text = serde_json::to_string(&shown).unwrap_or_default();
        self.pass(record);
        text
    }

    /// The same with long texts named by their hash (see [`blob`]), where `is_kept` says that they can be had under it.
    pub fn json_with_names(
        &mut self,
        record: &Record,
        is_kept: impl FnMut(BlobHash) -> bool,
    ) -> String {
        let whole = self.whole(record);
        let mut shown = record.shown(&self.id, self.head);
        let named = match &whole {
            // A text made from several parts may have no blob of its own.
            Some(data) => blob::apart_where(data.get(), is_kept).map(|(named, _)| named),
            None => Some(record.data.clone()),
        };
        let named = named.and_then(|named| RawValue::from_string(named).ok());
        if let Some(data) = named.or(whole) {
            shown.data = Cow::Owned(data);
        }
        let text = serde_json::to_string(&shown).unwrap_or_default();
        self.pass(record);
        text
    }

    /// Passes over the next event without showing it.
    pub fn skip(&mut self, record: &Record) {
        if let Ok(event) = record.event() {
            let _ = self.unfolding.see(&event);
        }
        self.pass(record);
    }

    fn pass(&mut self, record: &Record) {
        (self.seq, self.head) = (record.seq, record.hash);
    }

    /// The data of an event that keeps something in parts or names folders, with all of it.
    fn whole(&mut self, record: &Record) -> Option<Box<RawValue>> {
        let event = record.event().ok()?;
        let (field, value) = match (self.unfolding.see(&event), &event.body) {
            (Some(input), _) => {
                ("input", self.folders.input(&input).unwrap_or_else(|| Value::clone(&input)))
            }
            (None, EventBody::TurnStarted(started)) if !started.layers.is_empty() => {
                ("layers", serde_json::to_value(&started.layers).ok()?)
            }
            (None, body) => {
                return RawValue::from_string(self.folders.event(body)?.data_json()).ok();
            }
        };
        let mut data: Map<String, Value> = serde_json::from_str(record.whole_data().ok()?).ok()?;
        data.insert(field.to_owned(), value);
        serde_json::value::to_raw_value(&data).ok()
    }
}
