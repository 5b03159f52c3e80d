//! Going in circles without a change, where turns of a dataflow graph lie on a cycle (D23).

use std::collections::VecDeque;

use materia_contract::{Mode, ModeChanged, NodeId, Pace};

use crate::draft::Draft;
use crate::output;
use crate::state::{ItemId, LastOutput, Traces};

/// Equal outputs in a row that show a stall.
const EQUAL_OUTPUTS: usize = 3;

/// Equal diffs in a row that show one.
const EQUAL_DIFFS: usize = 2;

/// Equal reasons for not being satisfied, in a row, that show one.
const EQUAL_FAILURES: usize = 3;

/// Outputs in alternation (a-b-a-b) that show one.
const ALTERNATING_OUTPUTS: usize = 4;

/// Keeps what the newest turns of a node came to, as far as they are about the same work item.
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

/// Stops the scheduler where a node only repeats itself. Nothing is killed and nothing lost.
pub(crate) fn watch(draft: &mut Draft<'_>, index: usize) {
    let run = draft.run();
    if run.pace == Pace::Interactive {
        return;
    }
    let traces = &run.nodes[index].traces;
    let found = equal(&traces.outputs, EQUAL_OUTPUTS)
        .map(|turns| (turns, "put out the same each time"))
        .or_else(|| alternating(&traces.outputs).map(|turns| (turns, "goes back and forth")))
        .or_else(|| equal(&traces.diffs, EQUAL_DIFFS).map(|turns| (turns, "left the same diff")))
        .or_else(|| {
            let turns = equal(&traces.failures, EQUAL_FAILURES)?;
            Some((turns, "was not satisfied for the same reason each time"))
        });
    let Some((evidence, what)) = found else { return };
    let node = run.node(index).0.clone();
    let (value, reason) = (Mode::Pace(Pace::Interactive), "stall".to_owned());
    draft.emit_at(&node, ModeChanged { value, reason, evidence, message: Some(what.to_owned()) });
}

/// The newest `count` turns, if they all came to the same.
fn equal(newest: &VecDeque<(u64, u64)>, count: usize) -> Option<Vec<u64>> {
    let from = newest.len().checked_sub(count)?;
    let same = newest.range(from..).all(|(_, hash)| *hash == newest[from].1);
    same.then(|| newest.range(from..).map(|(turn, _)| *turn).collect())
}

/// The newest turns, if they alternate (a-b-a-b).
fn alternating(newest: &VecDeque<(u64, u64)>) -> Option<Vec<u64>> {
    let from = newest.len().checked_sub(ALTERNATING_OUTPUTS)?;
    let hash = |at: usize| newest[from + at].1;
    let alternate = hash(0) == hash(2) && hash(1) == hash(3);
    alternate.then(|| newest.range(from..).map(|(turn, _)| *turn).collect())
}

/// What a person is told.
pub(crate) fn message(node: &NodeId, what: &str, evidence: &[u64]) -> String {
    let turns: Vec<String> = evidence.iter().map(ToString::to_string).collect();
    format!("`{node}` {what} (turns at events {})", turns.join(", "))
}
