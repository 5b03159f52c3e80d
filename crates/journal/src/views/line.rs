//! One event as one line of `events.jsonl`.
//!
//! The line leaves out `id`, `runId`, `wallTime` and `prevHash`, which follow from it and from the line before, and
//! shortens the hash; `materia events --json` prints everything in full. The layers of a prompt are in full here, too.

use std::io::Write;

use materia_contract::{Event, EventBody, PromptLayer, Record};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// How much of a hash a line shows. It names the event; the journal is what proves it.
const HASH_BYTES_SHOWN: usize = 4;

/// The name of the field with the layers of a prompt.
const LAYERS: &str = r#""layers":"#;

/// Adds the line of a record that was read, with its end.
pub(super) fn push_read(out: &mut Vec<u8>, record: &Record) {
    let has_layers = record.data.contains(LAYERS);
    push(out, record, has_layers.then(|| record.event().ok()).flatten().as_ref());
}

/// Adds the line of `record`, with its end; `event` is what it says, if this version can read it.
pub(super) fn push(out: &mut Vec<u8>, record: &Record, event: Option<&Event>) {
    out.reserve(record.data.len() + 128);
    let infallible = "memory takes everything";
    write!(out, r#"{{"seq":{},"ts":{},"type":"#, record.seq, record.ts).expect(infallible);
    serde_json::to_writer(&mut *out, &record.kind).expect(infallible);
    if let Some(node) = &record.node {
        out.extend_from_slice(br#","nodeId":"#);
        serde_json::to_writer(&mut *out, node).expect(infallible);
    }
    out.extend_from_slice(br#","data":"#);
    match event.map(|event| &event.body) {
        Some(EventBody::TurnStarted(started)) if !started.layers.is_empty() => {
            push_with_layers(out, &record.data, &started.layers);
        }
        Some(_) | None => out.extend_from_slice(record.data.as_bytes()),
    }
    out.extend_from_slice(br#","hash":""#);
    for byte in &record.hash.0[..HASH_BYTES_SHOWN] {
        write!(out, "{byte:02x}").expect(infallible);
    }
    out.extend_from_slice(b"\"}\n");
}

/// Adds the data of an event with the layers in the place of their stored form.
fn push_with_layers(out: &mut Vec<u8>, data: &str, layers: &[PromptLayer]) {
    // A quotation mark inside a text has a backslash before it, so this is no part of a prompt.
    let start = data.find(LAYERS).map(|at| at + LAYERS.len());
    let end = start.and_then(|start| {
        let mut values =
            serde_json::Deserializer::from_str(&data[start..]).into_iter::<IgnoredAny>();
        values.next()?.ok()?;
        Some(start + values.byte_offset())
    });
    let (Some(start), Some(end)) = (start, end) else {
        return out.extend_from_slice(data.as_bytes());
    };
    out.extend_from_slice(&data.as_bytes()[..start]);
    serde_json::to_writer(&mut *out, layers).expect("memory takes everything");
    out.extend_from_slice(&data.as_bytes()[end..]);
}

/// The place that a line claims to have; `None` if it is no line of ours.
pub(super) fn place(line: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct Place {
        seq: u64,
    }
    serde_json::from_slice::<Place>(line).ok().map(|line| line.seq).filter(|seq| *seq > 0)
}
