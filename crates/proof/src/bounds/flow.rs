//! Bounds of graphs in which nodes take every matching edge: the most payloads of each edge.
//!
//! Nodes on a common cycle are taken as one. Where a cycle is bounded only by the interplay of loops and several
//! bounded edges, there is no useful number, and the result says so.

use std::collections::{BTreeMap, BTreeSet};

use materia_kernel::endless_nodes;

use super::graph::Graph;
use super::poly::Poly;
use super::steps::Steps;

/// A bound; absent where it has no useful form.
type Known = Option<Poly>;

/// How often each node is entered at most.
pub(crate) struct Flow<'a> {
    graph: &'a Graph<'a>,
    /// Cycles that may close without progress.
    cycles: u32,
    endless: BTreeSet<usize>,
    /// Where payloads of each node can go: the node, the bound, and whether it is an exit of a loop.
    next: Vec<Vec<Crossing>>,
    arriving: Vec<Known>,
    /// How many payloads reach each node. Where its loop has no item left, one leaves by the exit without a turn.
    reaching: Vec<Known>,
    pub(crate) entered: Vec<Known>,
    /// Nodes whose bound rests on what holds by default.
    pub(crate) by_default: BTreeSet<usize>,
}

#[derive(Clone, Copy)]
struct Crossing {
    to: usize,
    bound: Option<u32>,
    exit: bool,
}

impl<'a> Flow<'a> {
    /// Follows all payloads from where they come into the graph.
    pub(crate) fn new(graph: &'a Graph<'a>, sources: &[(usize, u64)]) -> Self {
        let count = graph.plan.nodes.len();
        let next = (0..count).map(|node| {
            let edges = graph
                .ways(node)
                .filter_map(|way| Some(Crossing { to: way.to?, bound: way.bound, exit: false }));
            let loops = graph.loops[node].iter().flat_map(|region| &graph.regions[*region].exits);
            let exits =
                loops.filter_map(|way| Some(Crossing { to: way.to?, bound: None, exit: true }));
            edges.chain(exits).collect()
        });
        let mut flow = Self {
            graph,
            cycles: graph.plan.limits.max_no_advance_cycles,
            endless: endless_nodes(graph.plan),
            next: next.collect(),
            arriving: vec![Some(Poly::default()); count],
            reaching: vec![Some(Poly::default()); count],
            entered: vec![Some(Poly::default()); count],
            by_default: BTreeSet::new(),
        };
        for (node, tokens) in sources {
            flow.arrive(*node, Some(&Poly::number(*tokens)));
        }
        let links: Vec<Vec<usize>> =
            flow.next.iter().map(|next| next.iter().map(|one| one.to).collect()).collect();
        for part in parts(&links, &(0..count).collect()) {
            flow.follow(&part, &links);
        }
        flow
    }

    fn arrive(&mut self, node: usize, more: Option<&Poly>) {
        let before = self.arriving[node].take();
        self.arriving[node] = before.zip(more).map(|(before, more)| before.plus(more));
    }

    /// How many payloads of a node cross one of its ways.
    fn crossing(&self, node: usize, way: Crossing) -> Known {
        let mut most = if way.exit { &self.reaching[node] } else { &self.entered[node] }.clone();
        if let (Some(bound), true) = (way.bound, self.graph.loops[node].is_empty()) {
            let bound = Poly::number(u64::from(bound));
            most = Some(most.map_or(bound.clone(), |most| most.smaller(&bound).clone()));
        }
        if let (Some(budget), false) = (self.cap(node), way.exit) {
            most = Some(most.map_or(budget.clone(), |most| most.smaller(&budget).clone()));
        }
        most
    }

    /// How many turns the budget of a node leaves. One without elements leads on without a turn.
    fn cap(&self, node: usize) -> Known {
        let counts = self.graph.plan.nodes[node].foreach.is_none();
        self.graph.budget(node).filter(|_| counts).map(Poly::number)
    }

    fn follow(&mut self, part: &BTreeSet<usize>, links: &[Vec<usize>]) {
        let alone = part.len() == 1 && part.iter().all(|node| !links[*node].contains(node));
        if alone {
            for node in part {
                self.entered[*node] = self.arriving[*node].clone();
            }
        } else if part.iter().any(|node| self.graph.takes_all(*node)) {
            self.circulate(part);
        } else {
            self.step(part);
        }
        if alone || part.iter().all(|node| !self.graph.takes_all(*node)) {
            for node in part {
                self.reaching[*node] = self.entered[*node].clone();
            }
        }
        // Nodes that take one edge pass on no more than came.
        let total = part.iter().map(|node| self.arriving[*node].clone());
        let total = total.reduce(|sum, more| sum.zip(more).map(|(sum, more)| sum.plus(&more)));
        let total =
            total.flatten().filter(|_| part.iter().all(|node| !self.graph.takes_all(*node)));
        for node in part {
            for way in self.next[*node].clone() {
                if part.contains(&way.to) {
                    continue;
                }
                let most = self.crossing(*node, way);
                let most = match (&most, &total) {
                    (Some(most), Some(total)) => Some(most.smaller(total).clone()),
                    (None, Some(total)) => Some(total.clone()),
                    (_, None) => most,
                };
                self.arrive(way.to, most.as_ref());
            }
        }
    }

    /// A part in which every node takes the first edge that matches.
    fn step(&mut self, part: &BTreeSet<usize>) {
        let steps = Steps { graph: self.graph, within: part, most_cycles: self.cycles };
        let bare = Steps { graph: self.graph, within: part, most_cycles: 0 };
        let mut all: BTreeMap<usize, Known> =
            part.iter().map(|node| (*node, Some(Poly::default()))).collect();
        for start in part {
            let tokens = self.arriving[*start].clone();
            if tokens.as_ref().is_some_and(Poly::is_zero) {
                continue;
            }
            let without = bare.entries(*start);
            for (node, each) in steps.entries(*start) {
                if without.get(&node) != Some(&each) {
                    self.by_default.insert(node);
                }
                let sum = all.remove(&node).flatten().zip(tokens.clone());
                all.insert(node, sum.map(|(sum, tokens)| sum.plus(&each.times(&tokens))));
            }
        }
        for (node, entered) in all {
            self.entered[node] = entered;
        }
    }

    /// A part with nodes that take every matching edge.
    fn circulate(&mut self, part: &BTreeSet<usize>) {
        if let Some(turns) = self.graph.plan.budget.max_turns {
            for node in part {
                self.entered[*node] = Some(Poly::number(turns));
                self.reaching[*node] = None;
            }
            return;
        }
        let capped: BTreeMap<usize, Poly> =
            part.iter().filter_map(|node| Some((*node, self.capped(*node)?))).collect();
        let mut kept: Vec<Vec<usize>> = vec![Vec::new(); self.next.len()];
        for node in part {
            for way in self.next[*node].clone().into_iter().filter(|way| part.contains(&way.to)) {
                let plain = way.bound.filter(|_| self.graph.loops[*node].is_empty());
                match (capped.get(node).filter(|_| !way.exit), plain) {
                    (Some(cap), None) => self.arrive(way.to, Some(cap)),
                    (Some(cap), Some(bound)) => {
                        let bound = Poly::number(u64::from(bound));
                        self.arrive(way.to, Some(cap.smaller(&bound)));
                    }
                    (None, Some(bound)) => {
                        self.arrive(way.to, Some(&Poly::number(u64::from(bound))));
                    }
                    (None, None) => kept[*node].push(way.to),
                }
            }
        }
        for inner in parts(&kept, part) {
            let alone = inner.len() == 1 && inner.iter().all(|node| !kept[*node].contains(node));
            let total = inner.iter().map(|node| self.arriving[*node].clone());
            let total = total.reduce(|sum, more| sum.zip(more).map(|(sum, more)| sum.plus(&more)));
            let total = total.flatten();
            let plain = inner
                .iter()
                .all(|node| !self.graph.takes_all(*node) && self.graph.loops[*node].is_empty());
            for node in &inner {
                let entered = if alone {
                    self.arriving[*node].clone()
                } else if plain {
                    self.by_default.insert(*node);
                    total.as_ref().map(|total| total.by(1 + u64::from(self.cycles)))
                } else {
                    None
                };
                self.entered[*node] = capped.get(node).cloned().or(entered.clone());
                self.reaching[*node].clone_from(&entered);
                for to in kept[*node].clone() {
                    if !inner.contains(&to) {
                        self.arrive(to, entered.as_ref());
                    }
                }
            }
        }
    }

    /// The most turns of a node on a cycle, by its budget or because a person is asked (D23).
    fn capped(&mut self, node: usize) -> Known {
        if self.graph.plan.nodes[node].foreach.is_some() {
            return None;
        }
        if let Some(budget) = self.cap(node) {
            return Some(budget);
        }
        let most =
            self.endless.contains(&node).then_some(self.graph.plan.limits.max_cycle_turns)?;
        self.by_default.insert(node);
        // Turns are counted for one item; loops around it may be entered as often for one item of theirs.
        let most = Poly::number(u64::from(most));
        let one = Poly::number(1);
        let items = self.graph.loops[node].iter().map(|region| &self.graph.regions[*region].items);
        let counted =
            |all: Poly, items: &Poly| all.times(&items.plus(&one).times(&most).plus(&one));
        Some(items.fold(most.clone(), counted))
    }
}

/// The parts of a graph whose nodes reach each other, each before those that it leads to.
fn parts(links: &[Vec<usize>], within: &BTreeSet<usize>) -> Vec<BTreeSet<usize>> {
    let reached: BTreeMap<usize, BTreeSet<usize>> =
        within.iter().map(|node| (*node, reach(links, *node, within))).collect();
    let mut parts: Vec<(usize, BTreeSet<usize>)> = Vec::new();
    let mut seen = BTreeSet::new();
    for node in within {
        if !seen.insert(*node) {
            continue;
        }
        let ahead = &reached[node];
        let mut part: BTreeSet<usize> =
            ahead.iter().copied().filter(|other| reached[other].contains(node)).collect();
        part.insert(*node);
        seen.extend(&part);
        parts.push((ahead.union(&part).count(), part));
    }
    parts.sort_by_key(|(ahead, _)| std::cmp::Reverse(*ahead));
    parts.into_iter().map(|(_, part)| part).collect()
}

/// The nodes that can be reached from one, itself only over a cycle.
pub(crate) fn reach(
    links: &[Vec<usize>],
    from: usize,
    within: &BTreeSet<usize>,
) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = links[from].clone();
    while let Some(next) = open.pop() {
        if within.contains(&next) && reached.insert(next) {
            open.extend(&links[next]);
        }
    }
    reached
}
