//! Keeps hashes of the newest results of a node, for stall detection.

use std::collections::VecDeque;

use crate::ask::output;
use crate::ask::repeats::{ALTERNATING_OUTPUTS, EQUAL_DIFFS, EQUAL_FAILURES};
use crate::state::{ItemId, LastOutput, Traces};

/// Keeps hashes of the results of the newest turns of a node, for the current work item only.
pub(crate) fn remember(traces: &mut Traces, turn: u64, item: Option<ItemId>, last: &LastOutput) {
    if traces.item != item {
        *traces = Traces { item, ..Traces::default() };
    }
    let text = last.text.as_deref().unwrap_or_default();
    keep(&mut traces.outputs, ALTERNATING_OUTPUTS, (turn, fingerprint(text)));
    match last.artifacts.iter().find(|artifact| artifact.kind == "diff") {
        Some(diff) => {
            keep(&mut traces.diffs, EQUAL_DIFFS, (turn, fingerprint(&diff.content)));
        }
        None => traces.diffs.clear(),
    }
    if last.verdict == Some(false) {
        let context = last.json.as_deref().filter(|_| last.own_json).and_then(output::context_in);
        let signature = fingerprint(context.as_deref().unwrap_or(text));
        keep(&mut traces.failures, EQUAL_FAILURES, (turn, signature));
    } else {
        traces.failures.clear();
    }
}

fn keep(newest: &mut VecDeque<(u64, u64)>, most: usize, one: (u64, u64)) {
    if newest.len() == most {
        newest.pop_front();
    }
    newest.push_back(one);
}

/// A number that differs for different texts, the same on every machine (FNV-1a).
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
