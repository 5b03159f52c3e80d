//! One event as one line of `events.jsonl`.
//!
//! The line leaves out `id`, `runId`, `wallTime` and `prevHash`, which follow from it and from the line before, and
//! shortens the hash; `materia events --json` prints everything in full.

use std::io::Write;

use materia_contract::Record;
use serde::Deserialize;

/// How much of a hash a line shows. It names the event; the journal is what proves it.
const HASH_BYTES_SHOWN: usize = 4;

/// Adds the line of `record`, with its end.
pub(super) fn push(out: &mut Vec<u8>, record: &Record) {
    out.reserve(record.data.len() + 128);
    let infallible = "memory takes everything";
    write!(out, r#"{{"seq":{},"ts":{},"type":"#, record.seq, record.ts).expect(infallible);
    serde_json::to_writer(&mut *out, &record.kind).expect(infallible);
    if let Some(node) = &record.node {
        out.extend_from_slice(br#","nodeId":"#);
        serde_json::to_writer(&mut *out, node).expect(infallible);
    }
    out.extend_from_slice(br#","data":"#);
    out.extend_from_slice(record.data.as_bytes());
    out.extend_from_slice(br#","hash":""#);
    for byte in &record.hash.0[..HASH_BYTES_SHOWN] {
        write!(out, "{byte:02x}").expect(infallible);
    }
    out.extend_from_slice(b"\"}\n");
}

/// The place that a line claims to have; `None` if it is no line of ours.
pub(super) fn place(line: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct Place {
        seq: u64,
    }
    serde_json::from_slice::<Place>(line).ok().map(|line| line.seq).filter(|seq| *seq > 0)
}
