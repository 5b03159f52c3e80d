//! Writing an archive.

use std::collections::BTreeSet;

use materia_contract::{BlobHash, ChainHash, RunId, blob};
use materia_engine::{Journal, blocking, named_by, wait};
use serde::Serialize;

use super::lines::{BlobLine, Counts, EndLine, EventLine, GoneLine, Header, text};
use super::{EVENT_BYTES_MAX, EVENTS_BYTES_MAX, FILE_BYTES_MAX, NAMED_BYTES_MAX};
use crate::{Failure, Result};

/// The bytes of an archive, and how many events it has.
#[derive(Debug)]
pub struct Written {
    /// The file.
    pub bytes: Vec<u8>,
    /// Its events.
    pub events: u64,
}

/// Writes a cast into an archive. `is_gone` says which transcripts were removed because of their age.
pub fn write(
    journal: &dyn Journal,
    id: &RunId,
    is_gone: impl Fn(BlobHash) -> bool,
) -> Result<Written> {
    let mut writer = Writer::new(id, false);
    let (mut seq, mut head) = (0, ChainHash::origin(id));
    let mut known = BTreeSet::new();
    for record in blocking(journal).behind(id, 0) {
        let record = record?;
        if record.seq != seq + 1 || record.hash_after(head) != record.hash {
            return Err(damaged(id, seq + 1, "its hash does not match"));
        }
        (seq, head) = (record.seq, record.hash);
        let event = record.event().map_err(|error| damaged(id, record.seq, &error.to_string()))?;
        for blob in record.blobs() {
            if known.insert(blob.hash) {
                writer.blob(blob.hash, blob.text.into_bytes())?;
            }
        }
        for left in named_by(&event).into_iter().filter(|left| left.is_blob) {
            let Some(hash) = BlobHash::parse(&left.hash).filter(|hash| known.insert(*hash)) else {
                continue;
            };
            if left.is_transcript && is_gone(hash) {
                writer.line(&GoneLine { gone: left.hash })?;
                continue;
            }
            let bytes = wait(journal.blobs().get(hash))
                .map_err(|fault| damaged(id, record.seq, &fault.to_string()))?;
            writer.blob(hash, bytes)?;
        }
        let line = EventLine::of(&record)
            .ok_or_else(|| damaged(id, record.seq, "it is not written as materia writes it"))?;
        writer.event(&line)?;
    }
    Ok(writer.finish())
}

pub(super) fn damaged(id: &RunId, seq: u64, what: &str) -> Failure {
    Failure::storage(format!(
        "cast `{id}` is damaged at event {seq}, so it goes into no archive: {what}"
    ))
}

/// Puts lines one behind the other, as far as an archive of that size can be opened again.
pub(super) struct Writer {
    id: RunId,
    bytes: Vec<u8>,
    counts: Counts,
    events_bytes: usize,
}

impl Writer {
    pub(super) fn new(id: &RunId, redacted: bool) -> Self {
        let mut bytes = text(&Header::of(id, redacted)).into_bytes();
        bytes.push(b'\n');
        Self { id: id.clone(), bytes, counts: Counts::default(), events_bytes: 0 }
    }

    pub(super) fn event(&mut self, line: &EventLine<'_>) -> Result<()> {
        let before = self.bytes.len();
        self.line(line)?;
        let bytes = self.bytes.len() - before;
        self.events_bytes += bytes;
        if bytes > EVENT_BYTES_MAX {
            return Err(self.too_much(&format!("event {}", line.seq), EVENT_BYTES_MAX));
        }
        if blob::bytes_apart(line.data.get()) > NAMED_BYTES_MAX as u64 {
            let what = format!("the texts of event {}", line.seq);
            return Err(self.too_much(&what, NAMED_BYTES_MAX));
        }
        if self.events_bytes > EVENTS_BYTES_MAX {
            return Err(self.too_much("the events", EVENTS_BYTES_MAX));
        }
        self.counts.events += 1;
        Ok(())
    }

    fn blob(&mut self, hash: BlobHash, bytes: Vec<u8>) -> Result<()> {
        self.counts.blobs += 1;
        self.line(&BlobLine::of(hash, bytes))
    }

    fn line(&mut self, line: &impl Serialize) -> Result<()> {
        self.bytes.extend_from_slice(text(line).as_bytes());
        self.bytes.push(b'\n');
        if self.bytes.len() > FILE_BYTES_MAX {
            return Err(self.too_much("the file", FILE_BYTES_MAX));
        }
        Ok(())
    }

    fn too_much(&self, what: &str, most: usize) -> Failure {
        Failure::resolution(format!(
            "cast `{}` is too large for an archive: {what} would have more than {} MB, and no archive of that size can be opened",
            self.id,
            most >> 20
        ))
    }

    pub(super) fn finish(mut self) -> Written {
        let end = EndLine::of(self.counts, &self.bytes);
        self.bytes.extend_from_slice(text(&end).as_bytes());
        self.bytes.push(b'\n');
        Written { bytes: self.bytes, events: self.counts.events }
    }
}
