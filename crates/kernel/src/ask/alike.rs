//! Turns that came to the same, where turns of a dataflow graph lie on a cycle (D23).

use std::collections::VecDeque;

use materia_contract::NodeId;

use crate::state::Traces;

/// Equal outputs in a row that show a stall.
const EQUAL_OUTPUTS: usize = 3;

/// Equal diffs in a row that show one.
pub(crate) const EQUAL_DIFFS: usize = 2;

/// Equal reasons for not being satisfied, in a row, that show one.
pub(crate) const EQUAL_FAILURES: usize = 3;

/// Outputs in alternation (a-b-a-b) that show one.
pub(crate) const ALTERNATING_OUTPUTS: usize = 4;

/// The turns in which a node only repeated itself, and how.
pub(crate) fn repeated(traces: &Traces) -> Option<(Vec<u64>, &'static str)> {
    equal(&traces.outputs, EQUAL_OUTPUTS)
        .map(|turns| (turns, "put out the same each time"))
        .or_else(|| alternating(&traces.outputs).map(|turns| (turns, "goes back and forth")))
        .or_else(|| equal(&traces.diffs, EQUAL_DIFFS).map(|turns| (turns, "left the same diff")))
        .or_else(|| {
            let turns = equal(&traces.failures, EQUAL_FAILURES)?;
            Some((turns, "was not satisfied for the same reason each time"))
        })
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
