//! Reads an archive. Archives are untrusted: sizes are bounded, and every line must have its one canonical form.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

use materia_contract::{BlobHash, ChainHash, Record, RunId, blob};
use materia_engine::{Batch, Epoch, Journal, MemoryJournal, wait};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::lines::{
    BlobLine, Counts, EndLine, EventLine, GoneLine, Header, KIND, NO_HASH, VERSION, text,
};
use super::{Altered, Archive, EVENT_BYTES_MAX, EVENTS_BYTES_MAX, FILE_BYTES_MAX, NAMED_BYTES_MAX};
use crate::text::sanitize;
use crate::{Failure, Result};

/// The type of an event whose line cannot be read.
const UNREADABLE: &str = "unreadable";
/// How much of such a line is shown.
const SHOWN_BYTES_MAX: usize = 400;

/// Opens an archive. What was altered in it is noted, not refused; a file that is none is refused.
pub fn open(path: &Path) -> Result<Archive> {
    let shown = sanitize::one_line(&path.display().to_string(), 300);
    let bytes = bytes_of(path, &shown)?;
    read(&bytes, &shown)
}

fn bytes_of(path: &Path, shown: &str) -> Result<Vec<u8>> {
    let unreadable = |error: std::io::Error| {
        if error.kind() == ErrorKind::NotFound {
            return Failure::resolution(format!("there is no file `{shown}`"));
        }
        Failure::storage(format!("`{shown}` cannot be read: {error}"))
    };
    let found = path.metadata().map_err(unreadable)?;
    if !found.is_file() {
        return Err(Failure::storage(format!("`{shown}` is not a file")));
    }
    let most = FILE_BYTES_MAX as u64;
    let mut bytes = Vec::new();
    // It may grow while it is read.
    if found.len() <= most {
        File::open(path)
            .and_then(|file| file.take(most + 1).read_to_end(&mut bytes))
            .map_err(unreadable)?;
    }
    if found.len() > most || bytes.len() > FILE_BYTES_MAX {
        return Err(too_large(shown, "the file", FILE_BYTES_MAX));
    }
    Ok(bytes)
}

fn too_large(shown: &str, what: &str, most: usize) -> Failure {
    Failure::storage(format!(
        "`{shown}` is too large: {what} may have {} MB at the most",
        most >> 20
    ))
}

/// Reads the bytes of an archive; `shown` names it in messages.
pub fn read(bytes: &[u8], shown: &str) -> Result<Archive> {
    let (first, rest) = split(bytes);
    let header = header(first, shown)?;
    let mut reader = Reader {
        expected: Header::of(&header.cast_id, header.redacted),
        records: Vec::new(),
        journal: MemoryJournal::default(),
        gone: BTreeSet::new(),
        counts: Counts::default(),
        events_bytes: 0,
        altered: None,
        line: 1,
    };
    if first != text(&reader.expected).as_bytes() {
        reader.note(None, "it is not written as materia writes it");
    }
    reader.lines(bytes, rest, shown)?;
    reader.finish(shown)
}

/// The first line, and what is behind its end.
fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(at) => (&bytes[..at], &bytes[at + 1..]),
        None => (bytes, &[]),
    }
}

fn header(line: &[u8], shown: &str) -> Result<Header> {
    // The fields that every version has say which one it is.
    #[derive(serde::Deserialize)]
    struct Any {
        materia: String,
        version: u32,
    }
    let none = || {
        Failure::storage(format!(
            "`{shown}` is not an archive of a cast, for its first line does not say so; export the cast as an archive again"
        ))
    };
    let any: Any = serde_json::from_slice(line).map_err(|_| none())?;
    if any.materia != KIND {
        return Err(none());
    }
    if any.version != VERSION {
        return Err(Failure::storage(format!(
            "`{shown}` is an archive of version {}, and this program reads version {VERSION}; open it with the version of materia that made it",
            any.version
        )));
    }
    let header: Header = serde_json::from_slice(line).map_err(|_| none())?;
    RunId::parse(header.cast_id.as_str()).map_err(|_| none())?;
    Ok(header)
}

struct Reader {
    expected: Header,
    records: Vec<Record>,
    journal: MemoryJournal,
    gone: BTreeSet<BlobHash>,
    counts: Counts,
    events_bytes: usize,
    altered: Option<Altered>,
    /// The number of the line that is read.
    line: u64,
}

impl Reader {
    /// Notes what is wrong with the line, unless an earlier one is wrong already.
    fn note(&mut self, seq: Option<u64>, what: &str) {
        let line = self.line;
        self.altered.get_or_insert_with(|| Altered { line, seq, what: what.to_owned() });
    }

    fn lines(&mut self, all: &[u8], mut rest: &[u8], shown: &str) -> Result<()> {
        while !rest.is_empty() {
            self.line += 1;
            let before = &all[..all.len() - rest.len()];
            let (line, behind) = split(rest);
            // An end is only one if it stands at the end.
            if behind.is_empty() && line.starts_with(br#"{"end":"#) {
                self.end(line, before, rest);
                return Ok(());
            }
            self.one(line, shown)?;
            rest = behind;
        }
        self.line += 1;
        self.note(None, "the closing line is missing: the file ends early");
        Ok(())
    }

    fn one(&mut self, line: &[u8], shown: &str) -> Result<()> {
        if line.starts_with(br#"{"blob":"#) {
            let Some(blob) = self.exactly::<BlobLine>(line, "blob") else { return Ok(()) };
            let Some((hash, bytes)) = blob.bytes() else {
                self.note(Some(self.next()), "this blob has no hash, or no content");
                return Ok(());
            };
            if BlobHash::of(&bytes) != hash {
                self.note(Some(self.next()), &format!("the blob {hash} was altered"));
            }
            self.counts.blobs += 1;
            self.journal.blobs.hold(hash, bytes);
            return Ok(());
        }
        if line.starts_with(br#"{"gone":"#) {
            let note = self.exactly::<GoneLine>(line, "note of a removed transcript");
            let Some(note) = note else { return Ok(()) };
            match BlobHash::parse(&note.gone) {
                Some(hash) => drop(self.gone.insert(hash)),
                None => self.note(Some(self.next()), "this note names no transcript by its hash"),
            }
            return Ok(());
        }
        self.events_bytes += line.len();
        if line.len() > EVENT_BYTES_MAX {
            return Err(too_large(shown, &format!("event {}", self.next()), EVENT_BYTES_MAX));
        }
        if self.events_bytes > EVENTS_BYTES_MAX {
            return Err(too_large(shown, "all events together", EVENTS_BYTES_MAX));
        }
        let record = self.event(line).unwrap_or_else(|| self.unreadable(line));
        if blob::bytes_apart(&record.data) > NAMED_BYTES_MAX as u64 {
            let what = format!("the texts of event {}", record.seq);
            return Err(too_large(shown, &what, NAMED_BYTES_MAX));
        }
        self.counts.events += 1;
        self.records.push(record);
        Ok(())
    }

    /// The number that the next event must have.
    fn next(&self) -> u64 {
        self.records.len() as u64 + 1
    }

    /// Reads an event. An event with an unexpected number is refused: callers that page through events rely on numbers.
    fn event(&mut self, line: &[u8]) -> Option<Record> {
        let next = self.next();
        let read: Option<EventLine<'_>> = serde_json::from_slice(line).ok();
        let has_hash = !self.expected.redacted;
        let Some(read) = read.filter(|it| it.seq == next && it.hash.is_some() == has_hash) else {
            self.note(Some(next), &format!("it cannot be read as event {next}"));
            return None;
        };
        if text(&read).as_bytes() != line {
            self.note(Some(next), "it is not written as materia writes it");
        }
        let record = read.record();
        if record.is_none() {
            self.note(Some(next), "its hash cannot be read");
        }
        record
    }

    /// Stands for an event whose line cannot be read, so that its number is known. Its hash never holds.
    fn unreadable(&self, line: &[u8]) -> Record {
        let some = String::from_utf8_lossy(&line[..line.len().min(SHOWN_BYTES_MAX)]);
        Record {
            seq: self.next(),
            ts: 0,
            wall: 0,
            kind: UNREADABLE.to_owned(),
            node: None,
            data: text(&some),
            whole: None,
            input: None,
            hash: NO_HASH,
        }
    }

    /// Reads a line of which nothing but one form is right.
    fn exactly<T: DeserializeOwned + Serialize>(&mut self, line: &[u8], what: &str) -> Option<T> {
        let read: Option<T> = serde_json::from_slice(line).ok();
        if read.as_ref().is_none_or(|read| text(read).as_bytes() != line) {
            self.note(
                Some(self.next()),
                &format!("this {what} is not written as materia writes it"),
            );
        }
        read
    }

    fn end(&mut self, line: &[u8], before: &[u8], rest: &[u8]) {
        let expected = EndLine::of(self.counts, before);
        if line == text(&expected).as_bytes() && rest.len() == line.len() + 1 {
            return;
        }
        let what = match serde_json::from_slice::<EndLine>(line) {
            Ok(end) if end.end != self.counts => format!(
                "the file has {} events and {} blobs, and its closing line says {} and {}",
                self.counts.events, self.counts.blobs, end.end.events, end.end.blobs
            ),
            Ok(end) if end.hash != expected.hash => {
                "the hash of the closing line does not fit what stands before it".to_owned()
            }
            Ok(_) | Err(_) => "the closing line is not written as materia writes it".to_owned(),
        };
        self.note(None, &what);
    }

    fn finish(self, shown: &str) -> Result<Archive> {
        let Self { expected, records, journal, gone, altered, .. } = self;
        let id = expected.cast_id;
        let records = if expected.redacted { sealed(&id, records) } else { records };
        if records.is_empty() {
            return Err(Failure::storage(format!(
                "`{shown}` is an archive without any event; it was cut off, so get it again"
            )));
        }
        let batch = Batch {
            run: id.clone(),
            epoch: Epoch(0),
            after: 0,
            records: records.into(),
            receipt: None,
            verdict: None,
        };
        let kept = wait(journal.append(batch));
        kept.map_err(|error| Failure::storage(format!("`{shown}` cannot be read: {error}")))?;
        let journal = Arc::new(journal);
        Ok(Archive {
            id,
            name: shown.to_owned(),
            redacted: expected.redacted,
            journal,
            gone,
            altered,
        })
    }
}

/// Events of a redacted archive have no hashes. They get a chain of their own, so that they are read like others.
fn sealed(id: &RunId, mut records: Vec<Record>) -> Vec<Record> {
    let mut head = ChainHash::origin(id);
    for record in records.iter_mut().filter(|record| record.kind != UNREADABLE) {
        record.hash = record.hash_after(head);
        head = record.hash;
    }
    records
}
