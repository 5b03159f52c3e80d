//! An event as it is stored and as it is shown, and the hash chain over events.

use crate::schema::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::scratch::with_scratch;
use crate::time::{Micros, wall_time};
use crate::{
    Blob, BlobFault, BlobHash, Event, EventBody, EventError, NodeId, RunId, blob, derived_id,
    is_node_id,
};

/// A hash of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChainHash(pub [u8; 32]);

impl ChainHash {
    /// Start of the hash chain of `run`: the hash before its first event.
    pub fn origin(run: &RunId) -> Self {
        Self(blake3::derive_key("materia 2026-11-15 origin of a run", run.as_str().as_bytes()))
    }

    /// Reads a hash as stored; `None` if it has the wrong length.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl std::fmt::Display for ChainHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(blake3::Hash::from_bytes(self.0).to_hex().as_str())
    }
}

/// One stored event: its text in the journal, and its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its place in the run, from 1.
    pub seq: u64,
    /// Logical time.
    pub ts: Micros,
    /// Wall time.
    pub wall: Micros,
    /// The event's type.
    pub kind: String,
    /// The node that the event concerns.
    pub node: Option<String>,
    /// The event's data as it is stored: JSON text, in which long texts are named by their hash (see
    /// [`blob`]). This is what is hashed.
    pub data: String,
    /// The data with its long texts, or why one of them cannot be had; `None` where it has none.
    pub whole: Option<Result<String, BlobFault>>,
    /// The input of the decision that begins with this event, as JSON text (see [`Decided`](crate::Decided)).
    pub input: Option<String>,
    /// The hash over all of the above and the hash before it.
    pub hash: ChainHash,
}

/// Bytes under a record's hash besides its texts and the hash of its input: the hash before it (32), three numbers
/// (24), what there is (1), and the lengths of the three texts (24).
const HASHED_BESIDES_TEXTS: usize = 81;

/// Data up to this size are copied to be hashed in one piece with the rest; larger ones are not worth it.
const WHOLE_BYTES_MAX: usize = 2_048;

/// Set among what there is where the event is about a node.
const HAS_NODE: u8 = 1;

/// Set where a decision begins with the event.
const HAS_INPUT: u8 = 2;

impl Record {
    /// Seals the events of one decision behind `previous`; `input` is what it rests on.
    pub fn seal_decision(input: String, events: &[Event], previous: ChainHash) -> Vec<Self> {
        let (mut input, mut head) = (Some(input), previous);
        let seal = |event: &Event| {
            let record = Self::sealed(event, input.take(), head);
            head = record.hash;
            record
        };
        events.iter().map(seal).collect()
    }

    fn sealed(event: &Event, input: Option<String>, previous: ChainHash) -> Self {
        // Rendered elsewhere first, so that the record holds no more memory than it needs.
        let whole = with_scratch(|text| {
            event.body.render_data(text);
            std::str::from_utf8(text).expect("JSON is text").to_owned()
        });
        let (data, whole) = match blob::apart(&whole) {
            None => (whole, None),
            Some((stored, _)) => (stored, Some(Ok(whole))),
        };
        let mut record = Self {
            seq: event.seq,
            ts: event.ts,
            wall: event.wall,
            kind: event.body.type_name().to_owned(),
            node: event.node.as_ref().map(|node| node.as_str().to_owned()),
            data,
            whole,
            input,
            hash: previous,
        };
        record.hash = record.hash_after(previous);
        record
    }

    /// The hash of this record after `previous`. It covers every stored field with its length.
    /// `docs/reference/journal.md` has the form, byte by byte.
    pub fn hash_after(&self, previous: ChainHash) -> ChainHash {
        let node = self.node.as_deref();
        let (kind, data) = (self.kind.as_str(), self.data.as_str());
        let shorts = [kind, node.unwrap_or_default()];
        let input = self.input_hash();
        let input = input.as_ref().map_or(&[][..], |hash| &hash.0[..]);
        let whole = data.len() <= WHOLE_BYTES_MAX;
        // In one piece: most records are shorter than a block, and the hasher dislikes crumbs.
        let behind = if whole { data.len() + input.len() } else { 0 };
        let texts = shorts.map(str::len).iter().sum::<usize>();
        let length = HASHED_BESIDES_TEXTS + texts + behind;
        with_scratch(|bytes| {
            bytes.reserve(length);
            bytes.extend_from_slice(&previous.0);
            bytes.extend_from_slice(&self.seq.to_le_bytes());
            bytes.extend_from_slice(&self.ts.to_le_bytes());
            bytes.extend_from_slice(&self.wall.to_le_bytes());
            let has_input = if input.is_empty() { 0 } else { HAS_INPUT };
            bytes.push(if node.is_some() { HAS_NODE } else { 0 } | has_input);
            for field in shorts {
                bytes.extend_from_slice(&(field.len() as u64).to_le_bytes());
                bytes.extend_from_slice(field.as_bytes());
            }
            bytes.extend_from_slice(&(data.len() as u64).to_le_bytes());
            if whole {
                bytes.extend_from_slice(data.as_bytes());
                bytes.extend_from_slice(input);
            }
            debug_assert_eq!(bytes.len(), length, "there was just enough room");
            if whole {
                return ChainHash(*blake3::hash(bytes).as_bytes());
            }
            let mut hasher = blake3::Hasher::new();
            hasher.update(bytes).update(data.as_bytes()).update(input);
            ChainHash(*hasher.finalize().as_bytes())
        })
    }

    /// Whether these are the bytes that are written for an event.
    pub fn is_written_for(&self, event: &Event) -> bool {
        let whole = event.body.data_json();
        let same_data = match blob::apart(&whole) {
            None => self.data == whole,
            Some((stored, _)) => self.data == stored,
        };
        same_data && self.is_placed_as(event)
    }

    /// Whether it holds its data as they are written for an event: no long text is kept apart, or looks like it.
    pub fn is_plain(&self) -> bool {
        self.whole.is_none()
            && self.data.len() <= blob::INLINE_BYTES_MAX
            && !blob::has_mark(&self.data)
    }

    /// Whether reading a [plain](Self::is_plain) record would give just this event, as its bytes show. `scratch` is memory
    /// that is used again.
    pub fn is_plainly(&self, event: &Event, scratch: &mut Vec<u8>) -> bool {
        scratch.clear();
        event.body.render_data(scratch);
        self.data.as_bytes() == scratch.as_slice() && self.is_placed_as(event)
    }

    fn is_placed_as(&self, event: &Event) -> bool {
        (self.seq, self.ts, self.wall) == (event.seq, event.ts, event.wall)
            && self.kind == event.body.type_name()
            && self.node.as_deref() == event.node.as_ref().map(NodeId::as_str)
    }

    /// The hash of what the decision rests on that begins here.
    pub fn input_hash(&self) -> Option<ChainHash> {
        let input = self.input.as_ref()?;
        Some(ChainHash(*blake3::hash(input.as_bytes()).as_bytes()))
    }

    /// The data with everything that belongs to it.
    pub fn whole_data(&self) -> Result<&str, BlobFault> {
        match &self.whole {
            None => Ok(&self.data),
            Some(whole) => whole.as_deref().map_err(Clone::clone),
        }
    }

    /// The texts that are kept apart, as far as they are at hand.
    pub fn blobs(&self) -> Vec<Blob> {
        let whole = self.whole.as_ref().and_then(|whole| whole.as_deref().ok());
        whole.and_then(blob::apart).map(|(_, blobs)| blobs).unwrap_or_default()
    }

    /// Puts the blobs back in; `fetch` returns a text of the given size. Nearly free where there are none.
    pub fn fill(&mut self, fetch: impl FnMut(BlobHash, u64) -> Result<String, BlobFault>) {
        if blob::has_mark(&self.data) {
            self.whole = Some(blob::whole(&self.data, fetch).map(std::borrow::Cow::into_owned));
        }
    }

    /// Parses the event. It may be hostile: ids that become file names are checked.
    pub fn event(&self) -> Result<Event, EventError> {
        let node = self.node.as_deref().map(|node| checked(node).map(NodeId::new)).transpose()?;
        let body = EventBody::parse(&self.kind, self.whole_data()?)?;
        if let EventBody::RunCreated(created) = &body {
            for node in created.plan.nodes.keys() {
                checked(node.as_str())?;
            }
        }
        Ok(Event { seq: self.seq, ts: self.ts, wall: self.wall, node, body })
    }

    /// The event as one line of `materia events --json` shows it.
    pub fn shown<'a>(&'a self, run: &'a RunId, previous: ChainHash) -> ShownEvent<'a> {
        ShownEvent {
            seq: self.seq,
            id: derived_id(run, self.seq),
            run_id: run.as_str(),
            ts: self.ts,
            wall_time: wall_time(self.wall),
            kind: &self.kind,
            node_id: self.node.as_deref(),
            data: raw(self.whole_data().unwrap_or(&self.data)),
            input_hash: self.input_hash().map(|hash| hash.to_string()),
            prev_hash: previous.to_string(),
            hash: self.hash.to_string(),
        }
    }
}

/// The id of a node, if it is one.
fn checked(node: &str) -> Result<&str, EventError> {
    if is_node_id(node) { Ok(node) } else { Err(EventError::BadNode(node.to_owned())) }
}

/// Borrows JSON text as a value to be written unchanged; damaged text is shown as a string.
fn raw(text: &str) -> std::borrow::Cow<'_, RawValue> {
    serde_json::from_str::<&RawValue>(text).map_or_else(
        |_| {
            let quoted = serde_json::to_string(text).expect("a string always renders");
            std::borrow::Cow::Owned(
                RawValue::from_string(quoted).expect("a rendered string is valid JSON"),
            )
        },
        std::borrow::Cow::Borrowed,
    )
}

/// An event as people and programs see it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownEvent<'a> {
    /// Its number in the run, from 1, without gaps.
    pub seq: u64,
    /// Its id, computed from the run and the number.
    pub id: Uuid,
    /// The run.
    pub run_id: &'a str,
    /// Logical time, in microseconds.
    pub ts: Micros,
    /// Wall time.
    pub wall_time: String,
    /// The event's type.
    #[serde(rename = "type")]
    pub kind: &'a str,
    /// The node that the event concerns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<&'a str>,
    /// The event's data.
    pub data: std::borrow::Cow<'a, RawValue>,
    /// The hash of the input of the decision that begins with this event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_hash: Option<String>,
    /// The hash of the event before it.
    pub prev_hash: String,
    /// The hash of this event.
    pub hash: String,
}

/// The shape of one line of `materia events --json`, for the published schema.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventLine {
    /// Its number in the run, from 1, without gaps.
    pub seq: u64,
    /// Its id, computed from the run and the number.
    pub id: Uuid,
    /// The run.
    pub run_id: String,
    /// Logical time, in microseconds.
    pub ts: Micros,
    /// Wall time: RFC 3339, UTC, three decimals.
    pub wall_time: String,
    /// The node that the event concerns.
    #[serde(default)]
    pub node_id: Option<String>,
    /// The hash of the input of the decision that begins with this event.
    #[serde(default)]
    pub input_hash: Option<String>,
    /// The hash of the event before it.
    pub prev_hash: String,
    /// The hash of this event.
    pub hash: String,
    /// The event: `type` and `data`.
    #[serde(flatten)]
    pub body: EventBody,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunCompleted;

    fn sample() -> Event {
        Event {
            seq: 7,
            ts: 12,
            wall: 9,
            node: Some(NodeId::new("a")),
            body: RunCompleted {}.into(),
        }
    }

    #[test]
    fn every_field_is_under_the_hash() {
        let previous = ChainHash::origin(&RunId::new("r"));
        let sealed = Record::seal_decision("{}".into(), &[sample()], previous).remove(0);
        let changes: [fn(&mut Record); 9] = [
            |record| record.seq += 1,
            |record| record.ts += 1,
            |record| record.wall += 1,
            |record| record.kind.push('x'),
            |record| record.node = None,
            |record| record.node = Some("b".into()),
            |record| record.data.push(' '),
            |record| record.input = None,
            |record| record.input = Some("{} ".into()),
        ];
        for change in changes {
            let mut altered = sealed.clone();
            change(&mut altered);
            assert_ne!(altered.hash_after(previous), sealed.hash);
        }
        assert_ne!(sealed.hash_after(ChainHash::origin(&RunId::new("s"))), sealed.hash);
    }

    #[test]
    fn a_hash_is_that_of_the_bytes_which_the_documentation_names() {
        let previous = ChainHash([7; 32]);
        for (length, node) in
            [(3, Some("a")), (WHOLE_BYTES_MAX, None), (WHOLE_BYTES_MAX + 1, Some("bc"))]
        {
            for input in [None, Some("{}")] {
                let record = Record {
                    node: node.map(str::to_owned),
                    data: "x".repeat(length),
                    input: input.map(str::to_owned),
                    ..Record::sealed(&sample(), None, previous)
                };
                let mut bytes = vec![7_u8; 32];
                for number in [7_i64, 12, 9] {
                    bytes.extend(number.to_le_bytes());
                }
                bytes.push(u8::from(node.is_some()) + 2 * u8::from(input.is_some()));
                for text in ["run.completed", node.unwrap_or(""), &record.data] {
                    bytes.extend((text.len() as u64).to_le_bytes());
                    bytes.extend(text.as_bytes());
                }
                bytes.extend(
                    input.iter().flat_map(|text| *blake3::hash(text.as_bytes()).as_bytes()),
                );
                let hash = ChainHash(*blake3::hash(&bytes).as_bytes());
                assert_eq!(record.hash_after(previous), hash, "{length} {node:?} {input:?}");
            }
        }
    }

    #[test]
    fn a_hash_is_thirty_two_bytes_and_sixty_four_digits() {
        let bytes: Vec<u8> = (0..33).collect();
        let hash = ChainHash::from_bytes(&bytes[..32]).unwrap();
        assert_eq!(hash.0, bytes[..32]);
        assert!(hash.to_string().starts_with("000102030405060708090a0b"), "{hash}");
        assert_eq!(hash.to_string().len(), 64);
        assert_eq!(
            (ChainHash::from_bytes(&bytes), ChainHash::from_bytes(&bytes[..31])),
            (None, None)
        );
    }

    #[test]
    fn a_record_reads_back_as_its_event() {
        let sealed = Record::sealed(&sample(), None, ChainHash::origin(&RunId::new("r")));
        assert_eq!(sealed.event().unwrap(), sample());
    }

    #[test]
    fn ids_that_could_become_paths_are_no_ids() {
        let sealed = Record::sealed(&sample(), None, ChainHash::origin(&RunId::new("r")));
        for bad in ["../../x", "/etc", "a/b", "..", "end", "", "a\0b"] {
            let forged = Record { node: Some(bad.to_owned()), ..sealed.clone() };
            assert!(matches!(forged.event(), Err(EventError::BadNode(_))), "{bad:?}");
        }
    }

    #[test]
    fn a_long_text_is_named_in_what_is_hashed_and_there_in_what_is_read() {
        let reason = "x".repeat(blob::INLINE_BYTES_MAX + 1);
        let event = Event { body: crate::RunAborted { reason: reason.clone() }.into(), ..sample() };
        let sealed = Record::sealed(&event, None, ChainHash::origin(&RunId::new("r")));
        assert!(sealed.data.len() < 200, "{}", sealed.data);
        assert_eq!(sealed.event().unwrap(), event);
        let [blob] = &sealed.blobs()[..] else { panic!("one text is kept apart") };
        assert_eq!((&blob.text, blob.hash), (&reason, BlobHash::of(reason.as_bytes())));
        let mut stored = Record { whole: None, ..sealed.clone() };
        assert!(stored.event().is_err(), "a reference is no text");
        assert!(sealed.shown(&RunId::new("r"), sealed.hash).data.get().contains(&reason));
        stored.fill(|hash, _| Err(BlobFault::Missing(hash)));
        let said = stored.event().unwrap_err().to_string();
        assert_eq!(said, format!("the blob {} is missing", blob.hash));
        stored.fill(|hash, _| {
            assert_eq!(hash, blob.hash);
            Ok(reason.clone())
        });
        assert_eq!(stored, sealed);
    }
}
