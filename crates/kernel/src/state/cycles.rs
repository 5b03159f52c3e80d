//! Nodes of a plan that lie on a cycle: all of them, and those on one without a bounded edge.

use std::collections::BTreeSet;

use materia_contract::{Edge, Plan, Routing};

/// The `routing: "all"` nodes that can reach themselves.
pub(crate) fn on_cycles(plan: &Plan) -> BTreeSet<usize> {
    cyclic(plan, |_| true)
}

/// The nodes on a cycle without a bounded edge, by their place in the plan: their turns are counted if no budget
/// bounds them (D23).
#[must_use]
pub fn without_bound(plan: &Plan) -> BTreeSet<usize> {
    cyclic(plan, |edge| edge.max_traversals.is_none())
}

/// The `routing: "all"` nodes that can reach themselves over these edges and the exits of loops.
///
/// Strongly connected components by Tarjan's algorithm, with a stack of its own, so that a long
/// chain needs no deep recursion.
fn cyclic(plan: &Plan, which: impl Fn(&Edge) -> bool) -> BTreeSet<usize> {
    let all = |index: usize| plan.nodes[index].routing == Routing::All;
    if !(0..plan.nodes.len()).any(all) {
        return BTreeSet::new();
    }
    let mut next: Vec<Vec<usize>> = plan
        .nodes
        .values()
        .map(|node| {
            let edges = node.edges.iter().chain(&node.on_failure).filter(|edge| which(edge));
            let targets = edges.filter_map(|edge| edge.to.as_ref());
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
