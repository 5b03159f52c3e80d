//! One pass of one piece of work through the nodes of one level: outside all loops, or for one item of a loop.
//!
//! The kernel's own limits bound it: `maxTraversals` for the item, and cycles without progress (D22). A loop inside
//! is one place that is entered and left.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::{Graph, Step, Way};

/// Beyond this many states a coarser bound is used.
const STATES_MAX: usize = 50_000;

/// How often each place can be entered in one pass: nodes by their number, behind them loops by theirs, and at
/// last the turns of all together.
#[derive(Debug, Clone)]
pub(crate) struct Pass {
    /// Where the item moves at the end; absent where it cannot.
    pub(crate) moved: Option<Vec<u64>>,
    /// Where the work leaves the level by an edge; absent where it cannot.
    pub(crate) left: Option<Vec<u64>>,
    /// However it ends.
    pub(crate) any: Vec<u64>,
}

/// Weights for the turns of all nodes together: of each entry of a place, and of the last one in addition.
#[derive(Debug, Clone, Default)]
pub(crate) struct Weights {
    pub(crate) each: Vec<u64>,
    pub(crate) last: Vec<u64>,
}

/// A level of a graph.
pub(crate) struct Level<'a> {
    pub(crate) graph: &'a Graph<'a>,
    /// Its loop; absent outside all.
    pub(crate) region: Option<usize>,
    /// The nodes that are looked at.
    pub(crate) within: &'a BTreeSet<usize>,
    pub(crate) most_cycles: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    Node(usize),
    Loop(usize),
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    at: At,
    path: Vec<usize>,
    cycles: u32,
    /// How often bounded ways out of loops came back.
    rounds: BTreeMap<usize, u32>,
    /// How often bounded edges were taken.
    counts: BTreeMap<usize, u32>,
}

enum Next {
    Moved,
    Left,
    Ends,
    State(State),
}

impl Level<'_> {
    fn depth(&self) -> usize {
        self.region.map_or(0, |region| self.graph.regions[region].chain.len())
    }

    fn contains(&self, node: usize) -> bool {
        self.region.is_none_or(|region| self.graph.loops[node].contains(&region))
    }

    fn at(&self, node: usize) -> At {
        self.graph.loops[node].get(self.depth()).map_or(At::Node(node), |inner| At::Loop(*inner))
    }

    /// The maximum weight of a pass that begins at one of these nodes.
    pub(crate) fn pass(&self, starts: &BTreeSet<usize>, weights: &Weights) -> Pass {
        let size = self.graph.plan.nodes.len() + self.graph.regions.len() + 1;
        let mut search =
            Search { level: self, weights, size, numbers: BTreeMap::new(), found: Vec::new() };
        let mut pass = Pass { moved: None, left: None, any: vec![0; size] };
        for start in starts {
            let state = State {
                at: self.at(*start),
                path: vec![*start],
                cycles: 0,
                rounds: BTreeMap::new(),
                counts: BTreeMap::new(),
            };
            let Some(found) = search.from(state) else { return self.coarse(weights, size) };
            highest(&mut pass.any, &found.any);
            raise(&mut pass.moved, found.moved.as_ref());
            raise(&mut pass.left, found.left.as_ref());
        }
        pass
    }

    /// A bound without a search: a place is entered again only by a cycle that closes, and each such cycle is
    /// counted, by the level or by its edge.
    fn coarse(&self, weights: &Weights, size: usize) -> Pass {
        let nodes = self.within.iter().filter(|node| self.contains(**node));
        let bounds = nodes.flat_map(|node| self.graph.ways(*node)).filter_map(|way| way.bound);
        let most = bounds.fold(1 + u64::from(self.most_cycles), |sum, bound| {
            sum.saturating_add(u64::from(bound))
        });
        let mut all = vec![most; size];
        let turns = |sum: u64, (each, last): (&u64, &u64)| {
            sum.saturating_add(each.saturating_mul(most)).saturating_add(*last)
        };
        all[size - 1] = weights.each.iter().zip(&weights.last).fold(0, turns);
        Pass { moved: Some(all.clone()), left: Some(all.clone()), any: all }
    }

    fn successors(&self, state: &State) -> Vec<Next> {
        match state.at {
            At::Node(node) => self.graph.steps[node]
                .iter()
                .map(|step| match step {
                    Step::Moves(_) => Next::Moved,
                    Step::Ends => Next::Ends,
                    Step::Takes(way) => self.takes(state, way),
                })
                .collect(),
            At::Loop(region) => {
                let ways = self.graph.ways_out(region);
                ways.iter().map(|way| self.comes(state.clone(), way, true)).collect()
            }
        }
    }

    fn takes(&self, state: &State, way: &Way) -> Next {
        let mut state = state.clone();
        if let Some(bound) = way.bound {
            let count = state.counts.entry(way.edge).or_default();
            *count += 1;
            if *count > bound {
                return Next::Ends;
            }
        }
        self.comes(state, way, false)
    }

    /// Comes to where a way leads, as the kernel's trail counts it (D22, D70).
    fn comes(&self, mut state: State, way: &Way, leaves: bool) -> Next {
        let Some(to) = way.to else { return Next::Ends };
        if !self.contains(to) || !self.within.contains(&to) {
            return Next::Left;
        }
        match (state.path.iter().position(|entered| *entered == to), way.bound) {
            (None, _) => state.path.push(to),
            (Some(place), Some(bound)) if leaves => {
                let rounds = state.rounds.entry(way.edge).or_default();
                if *rounds >= bound && state.cycles >= self.most_cycles {
                    return Next::Ends;
                }
                *rounds += 1;
                state.cycles += u32::from(*rounds > bound);
                state.path.truncate(place + 1);
            }
            (Some(place), Some(_)) => state.path.truncate(place + 1),
            (Some(_), None) if state.cycles >= self.most_cycles => return Next::Ends,
            (Some(place), None) => {
                state.cycles += 1;
                state.path.truncate(place + 1);
            }
        }
        state.at = self.at(to);
        Next::State(state)
    }
}

fn highest(into: &mut [u64], other: &[u64]) {
    for (one, other) in into.iter_mut().zip(other) {
        *one = (*one).max(*other);
    }
}

fn raise(into: &mut Option<Vec<u64>>, other: Option<&Vec<u64>>) {
    match (into, other) {
        (Some(into), Some(other)) => highest(into, other),
        (into @ None, Some(other)) => *into = Some(other.clone()),
        (_, None) => {}
    }
}

/// A search through the states of a pass. Each of them counts further than the one before, so there is no circle.
struct Search<'a> {
    level: &'a Level<'a>,
    weights: &'a Weights,
    size: usize,
    numbers: BTreeMap<State, usize>,
    found: Vec<Option<Pass>>,
}

impl Search<'_> {
    /// The results from a state; `None` where there are too many states.
    fn from(&mut self, first: State) -> Option<Pass> {
        let first = self.number(first);
        // Each entry: a state, and what is known to follow it, once that was looked up.
        let mut stack: Vec<(State, usize, Option<Vec<Next>>)> = vec![(first.0, first.1, None)];
        while let Some((state, number, next)) = stack.pop() {
            if self.found[number].is_some() {
                continue;
            }
            if let Some(next) = next {
                self.found[number] = Some(self.combined(&state, &next));
                continue;
            }
            if self.found.len() > STATES_MAX {
                return None;
            }
            let next = self.level.successors(&state);
            let mut open = Vec::new();
            for one in &next {
                if let Next::State(after) = one {
                    let (after, number) = self.number(after.clone());
                    if self.found[number].is_none() {
                        open.push((after, number, None));
                    }
                }
            }
            stack.push((state, number, Some(next)));
            stack.extend(open);
        }
        self.found[first.1].clone()
    }

    fn number(&mut self, state: State) -> (State, usize) {
        let next = self.found.len();
        let number = *self.numbers.entry(state.clone()).or_insert(next);
        if number == next {
            self.found.push(None);
        }
        (state, number)
    }

    fn combined(&self, state: &State, next: &[Next]) -> Pass {
        let zero = vec![0; self.size];
        let mut pass = Pass { moved: None, left: None, any: zero.clone() };
        for one in next {
            match one {
                Next::Moved => raise(&mut pass.moved, Some(&zero)),
                Next::Left => raise(&mut pass.left, Some(&zero)),
                Next::Ends => {}
                Next::State(after) => {
                    let after = self.numbers.get(after).and_then(|at| self.found[*at].as_ref());
                    let after = after.expect("what follows was looked at before");
                    highest(&mut pass.any, &after.any);
                    raise(&mut pass.moved, after.moved.as_ref());
                    raise(&mut pass.left, after.left.as_ref());
                }
            }
        }
        let nodes = self.level.graph.plan.nodes.len();
        let place = match state.at {
            // Only a person starts a node from which nothing follows.
            At::Node(node) if self.level.graph.steps[node].is_empty() => return pass,
            At::Node(node) => node,
            At::Loop(region) => nodes + region,
        };
        let all = self.size - 1;
        let each = self.weights.each.get(place).copied().unwrap_or(0);
        let last = self.weights.last.get(place).copied().unwrap_or(0);
        pass.any[all] = pass.any[all].max(last);
        for counted in [Some(&mut pass.any), pass.moved.as_mut(), pass.left.as_mut()] {
            let Some(counted) = counted else { continue };
            counted[place] += 1;
            counted[all] = counted[all].saturating_add(each);
        }
        pass
    }
}
