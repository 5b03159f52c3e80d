//! The lines of an archive. Each kind of line has exactly one way to be written.

use std::borrow::Cow;

use materia_contract::time::Micros;
use materia_contract::{BlobHash, ChainHash, Record, RunId};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The value of the first field of an archive.
pub(super) const KIND: &str = "archive";
/// The form of the lines.
pub(super) const VERSION: u32 = 1;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Header {
    pub(super) materia: String,
    pub(super) version: u32,
    pub(super) cast_id: RunId,
    /// Whether texts were replaced by their length.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) redacted: bool,
}

impl Header {
    pub(super) fn of(cast_id: &RunId, redacted: bool) -> Self {
        Self { materia: KIND.to_owned(), version: VERSION, cast_id: cast_id.clone(), redacted }
    }
}

/// An event as it is stored. `data` and `input` are the very bytes that its hash covers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventLine<'a> {
    pub(super) seq: u64,
    pub(super) ts: Micros,
    pub(super) wall: Micros,
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) node: Option<String>,
    #[serde(borrow)]
    pub(super) data: Cow<'a, RawValue>,
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<Cow<'a, RawValue>>,
    /// Absent where the archive is redacted: a hash would let a reader try texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) hash: Option<String>,
}

impl<'a> EventLine<'a> {
    /// The line of a record; `None` where its texts are not JSON in one line.
    pub(super) fn of(record: &'a Record) -> Option<Self> {
        Some(Self {
            seq: record.seq,
            ts: record.ts,
            wall: record.wall,
            kind: record.kind.clone(),
            node: record.node.clone(),
            data: Cow::Borrowed(raw(&record.data)?),
            input: match &record.input {
                Some(input) => Some(Cow::Borrowed(raw(input)?)),
                None => None,
            },
            hash: Some(record.hash.to_string()),
        })
    }

    /// The record of the line.
    pub(super) fn record(self) -> Option<Record> {
        let hash = match &self.hash {
            // Only one way to write a hash is right.
            Some(text) => {
                let hash = ChainHash(*blake3::Hash::from_hex(text).ok()?.as_bytes());
                Some(hash).filter(|hash| hash.to_string() == *text)?
            }
            None => NO_HASH,
        };
        Some(Record {
            seq: self.seq,
            ts: self.ts,
            wall: self.wall,
            kind: self.kind,
            node: self.node,
            data: self.data.get().to_owned(),
            whole: None,
            input: self.input.map(|input| input.get().to_owned()),
            hash,
        })
    }
}

/// The hash of an event that has none.
pub(super) const NO_HASH: ChainHash = ChainHash([0; 32]);

/// JSON text as a value that is written unchanged.
fn raw(text: &str) -> Option<&RawValue> {
    let value: &RawValue = serde_json::from_str(text).ok()?;
    (value.get().len() == text.len() && !text.contains(['\n', '\r'])).then_some(value)
}

/// A text or file that events name by its hash. It stands before the first event that names it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BlobLine {
    pub(super) blob: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Bytes that are not UTF-8, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

impl BlobLine {
    pub(super) fn of(hash: BlobHash, bytes: Vec<u8>) -> Self {
        let blob = hash.to_string();
        match String::from_utf8(bytes) {
            Ok(text) => Self { blob, text: Some(text), hex: None },
            Err(error) => Self { blob, text: None, hex: Some(to_hex(error.as_bytes())) },
        }
    }

    /// The bytes under the hash that the line names. Whether they fit it is not said here.
    pub(super) fn bytes(self) -> Option<(BlobHash, Vec<u8>)> {
        let bytes = match (self.text, self.hex) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(hex)) => from_hex(&hex)?,
            (Some(_), Some(_)) | (None, None) => return None,
        };
        Some((BlobHash::parse(&self.blob)?, bytes))
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(digit).collect()
}

fn digit(half: u8) -> char {
    char::from_digit(u32::from(half), 16).unwrap_or('0')
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let (pairs, []) = digits.as_deref()?.as_chunks::<2>() else { return None };
    pairs.iter().map(|[high, low]| u8::try_from(high << 4 | low).ok()).collect()
}

/// A transcript that was removed because of its age before the archive was made.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GoneLine {
    pub(super) gone: String,
}

/// The last line. Its hash is over all bytes before it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EndLine {
    pub(super) end: Counts,
    pub(super) hash: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Counts {
    pub(super) events: u64,
    pub(super) blobs: u64,
}

impl EndLine {
    pub(super) fn of(counts: Counts, before: &[u8]) -> Self {
        Self { end: counts, hash: blake3::hash(before).to_hex().to_string() }
    }
}

/// A line as it is written, without its end.
pub(super) fn text(line: &impl Serialize) -> String {
    serde_json::to_string(line).expect("a line is data and always renders")
}
