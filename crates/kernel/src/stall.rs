//! Going in circles without a change, where turns of a dataflow graph lie on a cycle (D23).

use std::collections::{BTreeSet, VecDeque};

use materia_contract::{Mode, ModeChanged, NodeId, Pace, Plan, Routing};

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

/// The `routing: "all"` nodes that can reach themselves.
///
/// Strongly connected components by Tarjan's algorithm, with a stack of its own, so that a long
/// chain needs no deep recursion.
pub(crate) fn on_cycles(plan: &Plan) -> BTreeSet<usize> {
    let all = |index: usize| plan.nodes[index].routing == Routing::All;
    if !(0..plan.nodes.len()).any(all) {
        return BTreeSet::new();
    }
    let mut next: Vec<Vec<usize>> = plan
        .nodes
        .values()
        .map(|node| {
            let targets = node.edges.iter().filter_map(|edge| edge.to.as_ref());
            targets.filter_map(|to| plan.nodes.get_index_of(to)).collect()
        })
        .collect();
    for exit in plan.loops.values().flat_map(|region| &region.exits) {
        let to = exit.to.as_ref().and_then(|to| plan.nodes.get_index_of(to));
        let from = plan.nodes.get_index_of(&exit.from);
        if let (Some(from), Some(to)) = (from, to) {
            next[from].push(to);
        }
    }
    let mut search = Search {
        next: &next,
        order: vec![0; next.len()],
        low: vec![0; next.len()],
        ..Search::default()
    };
    for start in 0..next.len() {
        if search.order[start] == 0 {
            search.from(start);
        }
    }
    search.cyclic.into_iter().filter(|index| all(*index)).collect()
}

#[derive(Default)]
struct Search<'a> {
    next: &'a [Vec<usize>],
    /// When a node was first seen, from 1; 0 before.
    order: Vec<usize>,
    /// The earliest node that it can reach and that is still open.
    low: Vec<usize>,
    clock: usize,
    open: Vec<usize>,
    is_open: BTreeSet<usize>,
    cyclic: Vec<usize>,
}

impl Search<'_> {
    fn from(&mut self, start: usize) {
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((node, place)) = path.pop() {
            if place == 0 {
                self.clock += 1;
                self.order[node] = self.clock;
                self.low[node] = self.clock;
                self.open.push(node);
                self.is_open.insert(node);
            } else {
                let child = self.next[node][place - 1];
                self.low[node] = self.low[node].min(self.low[child]);
            }
            let unseen = (place..self.next[node].len()).find(|at| {
                let child = self.next[node][*at];
                if self.order[child] != 0 && self.is_open.contains(&child) {
                    self.low[node] = self.low[node].min(self.order[child]);
                }
                self.order[child] == 0
            });
            if let Some(at) = unseen {
                path.push((node, at + 1));
                path.push((self.next[node][at], 0));
            } else if self.low[node] == self.order[node] {
                self.close(node);
            }
        }
    }

    /// Everything opened since `root` is one component; alone it is a cycle only with itself.
    fn close(&mut self, root: usize) {
        let from = self.open.iter().rposition(|node| *node == root).expect("it is open");
        let component = self.open.split_off(from);
        for node in &component {
            self.is_open.remove(node);
        }
        if component.len() > 1 || self.next[root].contains(&root) {
            self.cyclic.extend(component);
        }
    }
}

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
