//! The form of a message on the subject of a run or of its inbox.
//!
//! The headers say all that a reader needs to follow a run without its events: places, hash, lease, status, receipt.
//! The payload has the events.

use std::borrow::Cow;

use async_nats::HeaderMap;
use materia_contract::time::Micros;
use materia_contract::{BlobHash, CastStatus, ChainHash, CommandId, Receipt, Record};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::host::host_name;

const KIND: &str = "Materia-Kind";
const EPOCH: &str = "Materia-Epoch";
const ID: &str = "Materia-Id";
const FIRST: &str = "Materia-First";
const LAST: &str = "Materia-Last";
const TIME: &str = "Materia-Time";
const HASH: &str = "Materia-Hash";
const STATUS: &str = "Materia-Status";
const VERDICT: &str = "Materia-Verdict";
const CREATED: &str = "Materia-Created";
const RECEIPT: &str = "Materia-Receipt";
const COMMAND: &str = "Materia-Command";
const BODY: &str = "Materia-Body";
const BLOB: &str = "Materia-Blob";
const ENDS: &str = "Materia-Ends";
const REVIVES: &str = "Materia-Revives";
const HOME: &str = "Materia-Home";

const YES: &str = "yes";

/// The most characters of the reason of a refusal: headers are short.
const REASON_CHARS_MAX: usize = 1_000;

/// The kinds of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A claim of the run: no event.
    Mark,
    /// Events of a decision, or of several that are appended together; or only a receipt.
    Decision,
    /// A command was taken back.
    Withdrawn,
    /// A command, on the subject of the inbox.
    Command,
    /// The run was copied elsewhere and goes on there, or came home again.
    Moved,
}

impl Kind {
    const ALL: [Self; 5] =
        [Self::Mark, Self::Decision, Self::Withdrawn, Self::Command, Self::Moved];

    fn word(self) -> &'static str {
        match self {
            Self::Mark => "mark",
            Self::Decision => "decision",
            Self::Withdrawn => "withdrawn",
            Self::Command => "command",
            Self::Moved => "moved",
        }
    }
}

/// The headers of a message of ours.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Meta {
    pub(crate) kind: Kind,
    /// The lease under which it was written.
    pub(crate) epoch: u64,
    /// Tells this message from every other of its subject, so that its writer finds it again.
    pub(crate) id: String,
    /// The place of its first event; 0 where it has none.
    pub(crate) first: u64,
    /// The last event of the run behind this message.
    pub(crate) last: Option<LastEvent>,
    pub(crate) status: Option<CastStatus>,
    pub(crate) verdict: Option<bool>,
    /// Whether the run ends with it, and so refuses all commands before it.
    pub(crate) ends: bool,
    /// Whether its command can revive a run that has ended.
    pub(crate) revives: bool,
    /// The message with which the run began; absent in that message itself, and before it.
    pub(crate) created: Option<u64>,
    pub(crate) receipt: Option<Receipt>,
    /// The command that it brings or takes back.
    pub(crate) command: Option<CommandId>,
    /// The hash of what that command asks; where a run was moved, the place it was moved to.
    pub(crate) body: Option<String>,
    /// Where the payload is kept apart.
    pub(crate) blob: Option<BlobHash>,
    /// In the first mark of a run: where its project is.
    pub(crate) home: Option<Home>,
}

/// The folder of the project of a run, on a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// The machine.
    pub host: String,
    /// The folder.
    pub folder: String,
}

impl Home {
    /// A folder on this machine.
    #[must_use]
    pub fn here(folder: &str) -> Self {
        Self { host: host_name(), folder: line(folder) }
    }

    fn text(&self) -> String {
        // The name of a machine has no space.
        format!("{} {}", self.host, self.folder)
    }

    fn read(text: &str) -> Option<Self> {
        let (host, folder) = text.split_once(' ')?;
        Some(Self { host: host.to_owned(), folder: folder.to_owned() })
    }
}

/// The last event of a run in short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LastEvent {
    pub(crate) seq: u64,
    pub(crate) ts: Micros,
    pub(crate) hash: ChainHash,
}

impl Meta {
    /// A message of this kind under a lease, without anything else.
    pub(crate) fn new(kind: Kind, epoch: u64, id: String) -> Self {
        Self {
            kind,
            epoch,
            id,
            first: 0,
            last: None,
            status: None,
            verdict: None,
            ends: false,
            revives: false,
            created: None,
            receipt: None,
            command: None,
            body: None,
            blob: None,
            home: None,
        }
    }

    /// Whether both are the same message.
    pub(crate) fn is(&self, other: &Self) -> bool {
        (self.kind, self.epoch, &self.id) == (other.kind, other.epoch, &other.id)
    }

    pub(crate) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(KIND, self.kind.word());
        headers.insert(EPOCH, self.epoch.to_string());
        headers.insert(ID, line(&self.id));
        if self.first > 0 {
            headers.insert(FIRST, self.first.to_string());
        }
        if let Some(LastEvent { seq, ts, hash }) = self.last {
            headers.insert(LAST, seq.to_string());
            headers.insert(TIME, ts.to_string());
            headers.insert(HASH, hash.to_string());
        }
        let receipt = self.receipt.as_ref().map(shortened);
        let optional = [
            (STATUS, self.status.map(|status| status.word().to_owned())),
            (VERDICT, self.verdict.map(|verdict| verdict.to_string())),
            (CREATED, self.created.map(|created| created.to_string())),
            (RECEIPT, receipt.and_then(|receipt| serde_json::to_string(&receipt).ok())),
            (COMMAND, self.command.as_ref().map(|id| line(id.as_str()))),
            (BODY, self.body.as_deref().map(line)),
            (BLOB, self.blob.map(|hash| hash.to_string())),
            (ENDS, self.ends.then(|| YES.to_owned())),
            (REVIVES, self.revives.then(|| YES.to_owned())),
            (HOME, self.home.as_ref().map(Home::text)),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                headers.insert(name, value);
            }
        }
        headers
    }

    /// Reads the headers of a message; `None` if it is none of ours.
    pub(crate) fn read(headers: &HeaderMap) -> Option<Self> {
        let text = |name: &'static str| headers.get(name).map(async_nats::HeaderValue::as_str);
        let number = |name| text(name).map(str::parse::<u64>).transpose().ok();
        let kind = Kind::ALL.into_iter().find(|kind| text(KIND) == Some(kind.word()))?;
        let last = match number(LAST)? {
            None => None,
            Some(seq) => {
                let ts = text(TIME)?.parse().ok()?;
                let hash = BlobHash::parse(text(HASH)?)?;
                Some(LastEvent { seq, ts, hash: chain(hash) })
            }
        };
        let status = text(STATUS).map(|word| CastStatus::from_word(word).ok_or(()));
        let receipt = text(RECEIPT).map(serde_json::from_str::<Receipt>);
        Some(Self {
            kind,
            epoch: number(EPOCH)??,
            id: text(ID)?.to_owned(),
            first: number(FIRST)?.unwrap_or(0),
            last,
            status: status.transpose().ok()?,
            verdict: text(VERDICT).map(str::parse).transpose().ok()?,
            ends: text(ENDS) == Some(YES),
            revives: text(REVIVES) == Some(YES),
            created: number(CREATED)?,
            receipt: receipt.transpose().ok()?,
            command: text(COMMAND).map(CommandId::kept),
            body: text(BODY).map(str::to_owned),
            home: text(HOME).and_then(Home::read),
            blob: text(BLOB).map(|hash| BlobHash::parse(hash).ok_or(())).transpose().ok()?,
        })
    }
}

/// A hash of the chain from its digits, which are read as those of any hash.
fn chain(hash: BlobHash) -> ChainHash {
    let digits = hash.to_string();
    let byte = |at: usize| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap_or(0);
    ChainHash(std::array::from_fn(byte))
}

fn line(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
}

fn shortened(receipt: &Receipt) -> Receipt {
    use materia_contract::Answer;
    let mut receipt = receipt.clone();
    if let Answer::Refused { reason } = &mut receipt.answer
        && reason.chars().count() > REASON_CHARS_MAX
    {
        *reason = reason.chars().take(REASON_CHARS_MAX - 1).chain(['…']).collect();
    }
    receipt
}

/// The events of one decision, in the payload.
#[derive(Debug, Serialize, Deserialize)]
struct Decision<'a> {
    seq: u64,
    ts: Micros,
    wall: Micros,
    #[serde(borrow)]
    input: &'a RawValue,
    #[serde(borrow)]
    events: Vec<Stored<'a>>,
}

/// Type, node, data, hash.
#[derive(Debug, Serialize, Deserialize)]
struct Stored<'a>(
    #[serde(borrow)] Cow<'a, str>,
    #[serde(borrow)] Option<Cow<'a, str>>,
    #[serde(borrow)] &'a RawValue,
    #[serde(borrow)] Cow<'a, str>,
);

/// The payload for some records; the error says which of them is not as it must be.
pub(crate) fn render(records: &[Record]) -> Result<Vec<u8>, String> {
    let mut decisions = Vec::new();
    for decision in records.chunk_by(|_, next| next.input.is_none()) {
        let Some(first) = decision.first() else { continue };
        let Some(input) = &first.input else {
            return Err(format!("event {} follows from no decision", first.seq));
        };
        let mut events = Vec::with_capacity(decision.len());
        for (record, nth) in decision.iter().zip(0_i64..) {
            if record.ts != first.ts.wrapping_add(nth) || record.wall != first.wall {
                return Err(format!(
                    "event {} does not have the time behind the one before",
                    record.seq
                ));
            }
            let data = raw(&record.data, record.seq)?;
            events.push(Stored(
                record.kind.as_str().into(),
                record.node.as_deref().map(Cow::from),
                data,
                record.hash.to_string().into(),
            ));
        }
        let (seq, ts, wall) = (first.seq, first.ts, first.wall);
        decisions.push(Decision { seq, ts, wall, input: raw(input, seq)?, events });
    }
    serde_json::to_vec(&decisions).map_err(|error| error.to_string())
}

fn raw(text: &str, seq: u64) -> Result<&RawValue, String> {
    let value = serde_json::from_str::<&RawValue>(text).ok();
    value
        .filter(|value| value.get().len() == text.len())
        .ok_or_else(|| format!("event {seq} has data that is no JSON text"))
}

/// The records of a payload, without the texts that are kept apart from them.
pub(crate) fn records(payload: &[u8]) -> Result<Vec<Record>, String> {
    let decisions: Vec<Decision> =
        serde_json::from_slice(payload).map_err(|error| format!("it cannot be read: {error}"))?;
    let mut records = Vec::new();
    for Decision { seq, ts, wall, input, events } in decisions {
        let mut input = Some(input.get().to_owned());
        for (Stored(kind, node, data, hash), nth) in events.into_iter().zip(0_u32..) {
            let hash = BlobHash::parse(&hash).ok_or("a hash has another form")?;
            records.push(Record {
                seq: seq.saturating_add(nth.into()),
                ts: ts.wrapping_add(nth.into()),
                wall,
                kind: kind.into_owned(),
                node: node.map(Cow::into_owned),
                data: data.get().to_owned(),
                whole: None,
                input: input.take(),
                hash: chain(hash),
            });
        }
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use materia_contract::{Answer, RunId};
    use materia_engine::journal_contract::sample_records;

    use super::*;

    #[test]
    fn headers_are_read_as_they_were_written() {
        let hash = ChainHash(std::array::from_fn(|at| u8::try_from(at * 7).unwrap_or(255)));
        let command = CommandId::parse("mine").unwrap();
        let answer = Answer::Refused { reason: "no\nand no".into() };
        let full = Meta {
            first: 3,
            last: Some(LastEvent { seq: 4, ts: -5, hash }),
            status: Some(CastStatus::Completed),
            verdict: Some(false),
            ends: true,
            revives: true,
            created: Some(9),
            receipt: Some(Receipt { command: command.clone(), body: None, answer }),
            command: Some(command),
            body: Some("b".into()),
            blob: Some(BlobHash::of(b"x")),
            home: Some(Home::here("/a folder/\nö")),
            ..Meta::new(Kind::Decision, 7, "it".into())
        };
        let bare = Kind::ALL.map(|kind| Meta::new(kind, 0, "one".into()));
        for meta in bare.into_iter().chain([full.clone()]) {
            assert_eq!(Meta::read(&meta.headers()), Some(meta));
        }
        let mut other = full.headers();
        other.insert(KIND, "something");
        assert_eq!(Meta::read(&other), None);
        assert_eq!(Meta::read(&HeaderMap::new()), None);
    }

    #[test]
    fn records_are_read_as_they_were_written() {
        let run = RunId::new("r");
        let mut all = sample_records(&run, 0, 3, ChainHash::origin(&run));
        all.extend(sample_records(&run, 3, 1, all[2].hash));
        let payload = render(&all).unwrap();
        assert_eq!(records(&payload).unwrap(), all);
        assert!(records(b"{}").is_err() && records(b"[{}]").is_err());
        assert!(render(&all[1..]).is_err(), "it begins in the middle of a decision");
        let mut gap = all.clone();
        gap[1].ts += 1;
        assert!(render(&gap).is_err());
    }
}
