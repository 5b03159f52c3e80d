//! Bounds of nodes that take the first edge that matches: one piece of work goes from node to node.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::{Graph, Step};
use super::level::{Level, Pass, Weights};
use super::poly::Poly;

/// How often a node is entered each time that its loop is, and how much more often the last time.
#[derive(Debug, Clone)]
struct Share {
    each: Poly,
    last: Poly,
}

/// A part of a graph whose nodes take the first edge that matches.
pub(crate) struct Steps<'a> {
    pub(crate) graph: &'a Graph<'a>,
    pub(crate) within: &'a BTreeSet<usize>,
    pub(crate) most_cycles: u32,
}

impl Steps<'_> {
    fn level(&self, region: Option<usize>) -> Level<'_> {
        let Self { graph, within, most_cycles } = self;
        Level { graph, region, within, most_cycles: *most_cycles }
    }

    /// The loops directly inside a level.
    fn inner(&self, region: Option<usize>) -> impl Iterator<Item = usize> {
        let chain = region.map_or(&[][..], |region| &self.graph.regions[region].chain);
        let directly = move |of: &[usize]| of.len() == chain.len() + 1 && of.starts_with(chain);
        let regions = self.graph.regions.iter().enumerate();
        regions.filter(move |(_, of)| directly(&of.chain)).map(|(index, _)| index)
    }

    /// How often each node is entered by work that begins at a node.
    pub(crate) fn entries(&self, start: usize) -> BTreeMap<usize, Poly> {
        let pass = self.level(None).pass(&BTreeSet::from([start]), &Weights::default());
        let shares = self.shares(None, start);
        let total = |(node, place, Share { each, last }): (usize, usize, Share)| {
            let most = pass.any[place];
            let last = if most > 0 { last } else { Poly::default() };
            (node, each.by(most).plus(&last))
        };
        shares.into_iter().map(total).collect()
    }

    /// The shares of all nodes of a level, each with its place in a pass: its own, or the place of the loop around
    /// it.
    fn shares(&self, region: Option<usize>, start: usize) -> Vec<(usize, usize, Share)> {
        let depth = region.map_or(0, |region| self.graph.regions[region].chain.len());
        let own = |node: &usize| {
            let loops = &self.graph.loops[*node];
            loops.len() == depth && loops.last().copied() == region
        };
        let once = Share { each: Poly::number(1), last: Poly::default() };
        let mut all: Vec<(usize, usize, Share)> = self
            .within
            .iter()
            .filter(|node| own(node))
            .map(|node| (*node, *node, once.clone()))
            .collect();
        for inner in self.inner(region) {
            let place = self.graph.plan.nodes.len() + inner;
            let shares = self.loop_shares(inner, start);
            all.extend(shares.into_iter().map(|(node, share)| (node, place, share)));
        }
        all
    }

    /// How often each node of a loop is entered each time that the loop is.
    fn loop_shares(&self, region: usize, start: usize) -> Vec<(usize, Share)> {
        let pass = self.level(Some(region)).pass(&self.starts(region, start), &Weights::default());
        let of = &self.graph.regions[region];
        let repeats = self.repeats(region);
        let share = |(node, place, Share { each, last }): (usize, usize, Share)| {
            let Counts { moved, ended, most } = counts(&pass, place, repeats);
            let last = if most > 0 { last } else { Poly::default() };
            let beyond = Poly::number(ended - moved).times(&of.any);
            let entered = of.items.by(moved).plus(&beyond);
            let more = each.by(most - ended).plus(&last).times(&of.any);
            (node, Share { each: each.times(&entered), last: more })
        };
        self.shares(Some(region), start).into_iter().map(share).collect()
    }

    /// The turns of all nodes together that one piece of work has, where all lists have this many items.
    pub(crate) fn turns(&self, start: usize, items: u64) -> u64 {
        let weights = self.weights(None, start, items);
        let pass = self.level(None).pass(&BTreeSet::from([start]), &weights);
        pass.any.last().copied().unwrap_or(0)
    }

    fn weights(&self, region: Option<usize>, start: usize, items: u64) -> Weights {
        let nodes = self.graph.plan.nodes.len();
        let size = nodes + self.graph.regions.len();
        let mut weights = Weights { each: vec![0; size], last: vec![0; size] };
        for node in 0..nodes {
            weights.each[node] = self.graph.turns_each(node).value(items);
        }
        for inner in self.inner(region) {
            let inside = self.weights(Some(inner), start, items);
            let pass = self.level(Some(inner)).pass(&self.starts(inner, start), &inside);
            let of = &self.graph.regions[inner];
            let (count, any) = (of.items.value(items), of.any.value(items));
            let Counts { moved, ended, most } = counts(&pass, size, self.repeats(inner));
            let place = nodes + inner;
            weights.each[place] = moved.saturating_mul(count).saturating_add((ended - moved) * any);
            weights.last[place] = (most - ended).saturating_mul(any);
        }
        weights
    }

    /// The nodes at which a pass through a loop can begin.
    fn starts(&self, region: usize, start: usize) -> BTreeSet<usize> {
        let graph = self.graph;
        let inside = |node: usize| graph.loops[node].contains(&region);
        let mut starts = BTreeSet::new();
        starts.extend(Some(start).filter(|node| inside(*node)));
        for node in self.within {
            for way in graph.ways(*node).filter(|_| !inside(*node)) {
                starts.extend(way.to.filter(|to| inside(*to)));
            }
            if graph.loops[*node].last() == Some(&region) {
                starts.extend(moves_to(graph, *node).filter(|to| inside(*to)));
            }
        }
        for (_, of) in graph
            .regions
            .iter()
            .enumerate()
            .filter(|(index, of)| *index == region || !of.chain.contains(&region))
        {
            starts.extend(of.exits.iter().filter_map(|way| way.to).filter(|to| inside(*to)));
        }
        starts.retain(|node| self.within.contains(node));
        starts
    }

    /// Whether a further item can follow one in a loop.
    fn repeats(&self, region: usize) -> bool {
        let own = |node: &&usize| self.graph.loops[**node].last() == Some(&region);
        let inside = |to: usize| self.graph.loops[to].contains(&region);
        self.within.iter().filter(own).any(|node| moves_to(self.graph, *node).any(inside))
    }
}

/// Where the ways of a node lead after its loop has moved.
fn moves_to<'a>(graph: &'a Graph<'_>, node: usize) -> impl Iterator<Item = usize> + 'a {
    graph.steps[node].iter().filter_map(|step| match step {
        Step::Moves(Some(way)) => way.to,
        Step::Moves(None) | Step::Takes(_) | Step::Ends => None,
    })
}

/// How often a place of a pass is entered for each item but the last, at most where the loop is then left, and at most
/// in all.
struct Counts {
    moved: u64,
    ended: u64,
    most: u64,
}

fn counts(pass: &Pass, place: usize, repeats: bool) -> Counts {
    let of = |counts: &Option<Vec<u64>>| counts.as_ref().map_or(0, |counts| counts[place]);
    let (moved, left) = (of(&pass.moved), of(&pass.left));
    let ended = moved.max(left);
    let moved = if repeats { moved } else { 0 };
    Counts { moved, ended, most: pass.any[place].max(ended) }
}
