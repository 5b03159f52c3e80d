//! Going in circles without a change, where turns of a dataflow graph lie on a cycle (D23).

use std::collections::{BTreeSet, VecDeque};

use materia_contract::{ModeChanged, NodeId, Pace, Plan, Routing};

use crate::draft::Draft;

/// Equal outputs in a row that show a stall.
const EQUAL_OUTPUTS: usize = 3;

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
    let next: Vec<Vec<usize>> = plan
        .nodes
        .values()
        .map(|node| {
            let targets = node.edges.iter().filter_map(|edge| edge.to.as_ref());
            targets.filter_map(|to| plan.nodes.get_index_of(to)).collect()
        })
        .collect();
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

/// Keeps the newest outputs of a node.
pub(crate) fn remember(outputs: &mut VecDeque<(u64, u64)>, turn: u64, output: &str) {
    if outputs.len() == ALTERNATING_OUTPUTS {
        outputs.pop_front();
    }
    outputs.push_back((turn, fingerprint(output)));
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
    let outputs: Vec<(u64, u64)> = run.nodes[index].outputs.iter().copied().collect();
    let newest = |count: usize| outputs.len().checked_sub(count).map(|from| &outputs[from..]);
    let equal =
        newest(EQUAL_OUTPUTS).filter(|last| last.iter().all(|(_, output)| *output == last[0].1));
    let alternating =
        newest(ALTERNATING_OUTPUTS).filter(|last| last[0].1 == last[2].1 && last[1].1 == last[3].1);
    let Some(evidence) = equal.or(alternating) else { return };
    if run.pace == Pace::Interactive {
        return;
    }
    let evidence = evidence.iter().map(|(turn, _)| *turn).collect();
    let node = run.node(index).0.clone();
    let (value, reason) = (Pace::Interactive, "stall".to_owned());
    draft.emit_at(&node, ModeChanged { value, reason, evidence });
}

/// What a person is told.
pub(crate) fn message(node: &NodeId, evidence: &[u64]) -> String {
    let turns: Vec<String> = evidence.iter().map(ToString::to_string).collect();
    format!("`{node}` only repeats itself (turns at events {})", turns.join(", "))
}
