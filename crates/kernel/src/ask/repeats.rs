//! Detection of turns with equal results on a cycle of a dataflow graph (D23).

use std::collections::VecDeque;

use materia_contract::NodeId;

use crate::ask::items;
use crate::state::{Run, Traces};

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

/// The newest `count` turns, if they all have the same result.
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

/// Whether a node on a cycle that nothing bounds has had all the turns that it may have by itself (D23).
/// Where a loop is entered again and again, its entries are counted like turns.
pub(crate) fn is_endless(run: &Run, index: usize) -> bool {
    if !run.wiring().unbounded.contains(&index) {
        return false;
    }
    let budgets = run.nodes[index].budgets.or(run.node(index).1.budgets);
    if run.budget.max_turns.is_some() || budgets.is_some_and(|budgets| budgets.turns.is_some()) {
        return false;
    }
    let most = run.plan().limits.max_cycle_turns;
    let rounds = run.nodes[index].rounds;
    let item = items::of_loops(run, index).map(|item| item.id);
    let entered = |region: &usize| run.loops[*region].rounds.count > most;
    (rounds.item == item && rounds.count >= most) || run.wiring().loops[index].iter().any(entered)
}

/// The newest turns of a node.
pub(crate) fn newest(traces: &Traces) -> Vec<u64> {
    traces.outputs.iter().map(|(turn, _)| *turn).collect()
}

/// The message for a person.
pub(crate) fn message(node: &NodeId, what: &str, evidence: &[u64]) -> String {
    if evidence.is_empty() {
        return format!("`{node}` {what}");
    }
    let turns: Vec<String> = evidence.iter().map(ToString::to_string).collect();
    format!("`{node}` {what} (turns at events {})", turns.join(", "))
}
