//! Exact numbers for graphs whose loops are entered or left in several ways: the longest histories there are.
//!
//! A formula would have to follow which item such a loop is at; exploration with the given number of items does.

use std::collections::{BTreeMap, BTreeSet};

use materia_contract::{NodeId, Plan, Routing};

use super::graph::Graph;
use crate::explore::{Explored, Options, explore};

/// Beyond this many states the formula is all that is known.
const STATES_MAX: usize = 20_000;

/// The most visits of each node, and of all together, for lists of this length; `None` if formulas are exact, or there
/// are too many histories.
pub(super) fn exact(plan: &Plan, items: u64) -> Option<(Vec<u64>, u64)> {
    let graph = Graph::new(plan);
    let first = plan.nodes.values().all(|node| {
        let mut edges = node.edges.iter().chain(&node.on_failure);
        node.routing == Routing::First && edges.all(|edge| edge.guard.is_none())
    });
    if !first || graph.scheduled().next().is_some() || is_plain(plan) {
        return None;
    }
    let options = Options {
        items: vec![usize::try_from(items).ok()?],
        max_states: STATES_MAX,
        races: false,
        keep_steps: true,
        ..Options::default()
    };
    let explored = explore(plan, &options, |_, _| {});
    if explored.is_complete() { longest(plan, &explored) } else { None }
}

/// The most visits of each node, and of all together, over all histories; `None` if histories go round.
pub fn longest(plan: &Plan, explored: &Explored<'_>) -> Option<(Vec<u64>, u64)> {
    let (first, links) = explored.links();
    let mut next: BTreeMap<u32, Vec<(u32, &[usize])>> = BTreeMap::new();
    let mut before: BTreeMap<u32, usize> = BTreeMap::new();
    for link in links {
        if link.from == link.to {
            return None;
        }
        next.entry(link.from).or_default().push((link.to, &link.visits));
        *before.entry(link.to).or_default() += 1;
    }
    let size = plan.nodes.len() + 1;
    let mut most: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    let add = |mut counts: Vec<u64>, visits: &[usize]| {
        for node in visits {
            counts[*node] += 1;
            counts[size - 1] += 1;
        }
        counts
    };
    most.insert(0, add(vec![0; size], first));
    let mut open = vec![0];
    let mut seen = 0;
    let mut all = most[&0].clone();
    while let Some(state) = open.pop() {
        seen += 1;
        let counts = most[&state].clone();
        for (to, visits) in next.get(&state).into_iter().flatten() {
            let reached = add(counts.clone(), visits);
            let place = most.entry(*to).or_insert_with(|| vec![0; size]);
            for (one, other) in place.iter_mut().zip(reached) {
                *one = (*one).max(other);
            }
            for (one, other) in all.iter_mut().zip(place.iter()) {
                *one = (*one).max(*other);
            }
            let left = before.entry(*to).or_default();
            *left -= 1;
            if *left == 0 {
                open.push(*to);
            }
        }
    }
    // A circle of states would have no longest history.
    (seen == explored.states()).then(|| {
        let total = all.pop().unwrap_or(0);
        (all, total)
    })
}

/// Whether each loop is entered, and goes on with its next item, at one and the same node, and is left only when its items
/// are through.
fn is_plain(plan: &Plan) -> bool {
    plan.loops.iter().all(|(id, region)| {
        let inside = |to: Option<&NodeId>| to.filter(|to| region.members.contains(*to)).cloned();
        let mut heads = BTreeSet::new();
        let mut leaves = false;
        for node in plan.nodes.values() {
            let own = node.loops.contains(id);
            for edge in node.edges.iter().chain(&node.on_failure) {
                let to = inside(edge.to.as_ref());
                // A bound of the edge that follows a move counts for the item before it.
                let counted = node.advance.is_some() && edge.max_traversals.is_some();
                leaves = leaves || (own && (to.is_none() || counted));
                heads.extend(to.filter(|_| !own || node.advance.is_some()));
            }
        }
        heads.extend(region.exits.iter().filter_map(|exit| inside(exit.to.as_ref())));
        heads.len() <= 1 && !leaves
    })
}
