//! Stored decisions: one row each.

use std::ops::ControlFlow;

use materia_contract::time::Micros;
use materia_contract::{ChainHash, Record};
use rusqlite::types::{FromSqlError, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::fault::Fault;
use super::row::{self, Entries, Entry};
use super::schema;
use super::walk::{self, Last, Walk, beyond};

/// Bytes of a hash.
const HASH_BYTES: usize = 32;

/// Bytes that are stored of the hash of an event that is not the last of its decision.
const SHORT_BYTES: usize = 4;

/// Memory that is used again for every decision that is written.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    events: Vec<u8>,
    hashes: Vec<u8>,
}

/// Writes one decision; `records` are its events, of which the first has its input.
pub(super) fn add(
    connection: &Connection,
    scratch: &mut Scratch,
    key: i64,
    records: &[Record],
) -> rusqlite::Result<()> {
    let (Some(first), [before @ .., last]) = (records.first(), records) else { return Ok(()) };
    row::render(&mut scratch.events, records);
    scratch.hashes.clear();
    for record in before {
        scratch.hashes.extend_from_slice(&record.hash.0[..SHORT_BYTES]);
    }
    scratch.hashes.extend_from_slice(&last.hash.0);
    connection
        .prepare_cached(
            "INSERT INTO decisions (place, ts, lag, hashes, input, events)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            schema::place(key, first.seq),
            first.ts,
            first.ts.wrapping_sub(first.wall),
            scratch.hashes,
            first.input.as_deref().unwrap_or_default(),
            Text(&scratch.events),
        ])?;
    Ok(())
}

/// Bytes that are known to be text.
struct Text<'a>(&'a [u8]);

impl ToSql for Text<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.0)))
    }
}

/// Why records are not those of decisions, if they are not: the first begins one, and a row has one time
/// for all of its events, so they must follow one another without a gap (D5).
pub(super) fn misfit(records: &[Record]) -> Option<String> {
    if let Some(record) = records.first().filter(|record| record.input.is_none()) {
        return Some(format!("event {} follows from no decision", record.seq));
    }
    let gap = |pair: &[Record]| {
        let [one, next] = pair else { return false };
        next.ts != one.ts.wrapping_add(1) || next.wall != one.wall
    };
    let mut all = of(records);
    let pair = all.find_map(|decision| decision.windows(2).find(|pair| gap(pair)))?;
    Some(format!("event {} does not have the time behind event {}", pair[1].seq, pair[0].seq))
}

/// The decisions among `records`, the first of which begins one.
pub(super) fn of(records: &[Record]) -> impl Iterator<Item = &[Record]> {
    records.chunk_by(|_, next| next.input.is_none())
}

/// The last event of a run that follows from a decision.
pub(super) fn last(connection: &Connection, key: i64) -> rusqlite::Result<Option<Last>> {
    let mut statement = connection.prepare_cached(
        "SELECT place, ts, (length(hashes) - 32) / 4, substr(hashes, -32) FROM decisions
         WHERE place > ?1 AND place <= ?2 ORDER BY place DESC LIMIT 1",
    )?;
    let all = [schema::place(key, 0), schema::place(key, u64::MAX)];
    let last = statement.query_row(all, |row| {
        let more = row.get::<_, i64>(2)?.max(0);
        let seq = schema::seq_at(row.get(0)?).wrapping_add(more.unsigned_abs());
        Ok((seq, row.get::<_, Micros>(1)?.wrapping_add(more), row.get(3)?))
    });
    last.optional()
}

/// Shows the events of decisions behind the place where `walk` stands.
pub(super) fn visit(
    connection: &Connection,
    key: i64,
    walk: &mut Walk<'_>,
) -> Result<ControlFlow<()>, Fault> {
    // The first place may be in the middle of a decision; one that ends before it is not read.
    let mut statement = connection.prepare_cached(
        "SELECT place, ts, lag, hashes, input, events FROM decisions
         WHERE place <= ?3 AND place >= coalesce(
             (SELECT iif(place + (length(hashes) - 32) / 4 + 1 > ?2, place, ?2) FROM decisions
              WHERE place > ?1 AND place <= ?2 ORDER BY place DESC LIMIT 1), ?2)
         ORDER BY place",
    )?;
    let places = [0, walk.last + 1, u64::MAX].map(|seq| schema::place(key, seq));
    let mut rows = statement.query(places)?;
    let mut head = None;
    while let Some(row) = rows.next().map_err(|error| beyond(walk.run, walk.last, error))? {
        let decision = Decision::read(row).map_err(|error| walk.damaged(error.to_string()))?;
        let before = match head {
            Some(head) => head,
            None => hash_before(connection, key, walk, decision.first)?,
        };
        if decision.show(walk, before)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        head = Some(decision.last);
    }
    Ok(ControlFlow::Continue(()))
}

/// The hash of the last event before the one at `first`.
fn hash_before(
    connection: &Connection,
    key: i64,
    walk: &Walk<'_>,
    first: u64,
) -> Result<ChainHash, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT substr(hashes, -32) FROM decisions WHERE place > ?1 AND place < ?2 ORDER BY place DESC LIMIT 1",
    )?;
    let mut rows = statement.query([0, first].map(|seq| schema::place(key, seq)))?;
    match rows.next()? {
        None => Ok(ChainHash::origin(walk.run)),
        Some(row) => walk::hash(row.get_ref(0)?)
            .map_err(|error| Fault::at(walk.run, first.saturating_sub(1), error.to_string())),
    }
}

/// A row.
struct Decision<'a> {
    /// The place of its first event.
    first: u64,
    ts: Micros,
    wall: Micros,
    /// The first bytes of the hashes of its other events.
    others: &'a [[u8; SHORT_BYTES]],
    /// The hash of its last event.
    last: ChainHash,
    input: &'a str,
    events: &'a str,
}

impl<'a> Decision<'a> {
    fn read(row: &'a Row<'_>) -> Result<Self, FromSqlError> {
        let value = |column| row.get_ref(column).map_err(FromSqlError::other);
        let ts = value(1)?.as_i64()?;
        let blob = value(3)?.as_blob()?;
        let wrong = || FromSqlError::InvalidBlobSize {
            expected_size: HASH_BYTES
                + blob.len().saturating_sub(HASH_BYTES) / SHORT_BYTES * SHORT_BYTES,
            blob_size: blob.len(),
        };
        let (others, last) = blob.split_last_chunk::<HASH_BYTES>().ok_or_else(wrong)?;
        let (others, []) = others.as_chunks() else { return Err(wrong()) };
        Ok(Self {
            first: schema::seq_at(value(0)?.as_i64()?),
            ts,
            wall: ts.wrapping_sub(value(2)?.as_i64()?),
            others,
            last: ChainHash(*last),
            input: value(4)?.as_str()?,
            events: readable(value(5)?)?,
        })
    }

    /// Shows its events, but for those before the place where `walk` stands. `head` is the hash before them.
    fn show(&self, walk: &mut Walk<'_>, mut head: ChainHash) -> Result<ControlFlow<()>, Fault> {
        let begun = walk.has_shown_none() && self.first <= walk.last;
        if !begun && self.first != walk.last + 1 {
            return Err(walk.damaged(format!("event {} is in its place", self.first)));
        }
        let run = walk.run;
        let damaged = |seq, what: &str| Fault::at(run, seq, what);
        let mut entries = Entries::of(self.events);
        let (mut seq, mut ts) = (self.first, self.ts);
        for nth in 0..=self.others.len() {
            let entry = entries.next().map_err(|error| damaged(seq, &error.to_string()))?;
            let entry =
                entry.ok_or_else(|| damaged(seq, "its decision has a hash and no event"))?;
            let record = &mut walk.record;
            (record.seq, record.ts, record.wall) = (seq, ts, self.wall);
            fill(record, (nth == 0).then_some(self.input), &entry);
            head = match self.others.get(nth) {
                Some(short) => chained(record, head, *short),
                None => self.last,
            };
            record.hash = head;
            if seq > walk.last && walk.show()?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            (seq, ts) = (seq + 1, ts.wrapping_add(1));
        }
        match entries.next() {
            Ok(None) => Ok(ControlFlow::Continue(())),
            Ok(Some(_)) => Err(damaged(seq, "its decision has an event and no hash")),
            Err(error) => Err(damaged(seq - 1, &error.to_string())),
        }
    }
}

/// The hash of a record behind `head`. If it does not begin with the stored bytes, the result is a hash that fits no
/// record, so that the chain breaks here.
fn chained(record: &Record, head: ChainHash, stored: [u8; SHORT_BYTES]) -> ChainHash {
    let hash = record.hash_after(head);
    if hash.0.starts_with(&stored) {
        return hash;
    }
    let mut broken = [0; HASH_BYTES];
    broken[..SHORT_BYTES].copy_from_slice(&stored);
    ChainHash(broken)
}

/// A text as far as it is one: the event at which it breaks off is then named.
fn readable(value: ValueRef<'_>) -> Result<&str, FromSqlError> {
    let ValueRef::Text(bytes) = value else { return Err(FromSqlError::InvalidType) };
    let good = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    std::str::from_utf8(&bytes[..good]).map_err(FromSqlError::other)
}

/// Overwrites the texts of `record`, in the memory they already have.
fn fill(record: &mut Record, input: Option<&str>, entry: &Entry<'_>) {
    copy(&mut record.kind, &entry.kind);
    copy(&mut record.data, entry.data);
    copy_or_none(&mut record.node, entry.node.as_deref());
    copy_or_none(&mut record.input, input);
}

fn copy(held: &mut String, text: &str) {
    held.clear();
    held.push_str(text);
}

fn copy_or_none(held: &mut Option<String>, text: Option<&str>) {
    match text {
        Some(text) => copy(held.get_or_insert_default(), text),
        None => *held = None,
    }
}
