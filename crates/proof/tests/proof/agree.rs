//! Generated graphs: bounds hold and are reached where nothing is unknown; merging of states loses no end.

use std::collections::{BTreeMap, BTreeSet};

use materia_contract::{NodeId, Plan};
use materia_proof::bounds::Bounds;
use materia_proof::explore::{Explored, Options, explore};

use crate::graphs::{Sort, graph};
use crate::sample;

fn options() -> Options {
    Options {
        items: vec![2],
        max_states: 20_000,
        races: false,
        keep_steps: true,
        ..Options::default()
    }
}

/// The most visits of each node, and of all together, over all histories.
fn longest(plan: &Plan, explored: &Explored<'_>) -> Option<(Vec<u64>, u64)> {
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
            let left = before.get_mut(to).unwrap();
            *left -= 1;
            if *left == 0 {
                open.push(*to);
            }
        }
    }
    // A circle of states would have no longest history.
    (seen == explored.states()).then(|| {
        let total = all.pop().unwrap();
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

/// V2: no history that exploration finds exceeds a bound; where edges are plain, some history reaches each.
#[test]
fn bounds_hold_for_every_history_and_are_reached_where_edges_are_plain() {
    let options = options();
    let (mut looked, mut reached) = (0, 0);
    // In 1707 payloads leave a finished loop by its exit without a turn.
    for seed in (0..sample(40, 2_000)).chain([1_707]) {
        let plan = graph(seed, Sort { dataflow: seed % 2 == 1 });
        let tight = seed % 2 == 0 && is_plain(&plan);
        let explored = explore(&plan, &options, |_, _| {});
        let Some((most, total)) = longest(&plan, &explored) else { continue };
        let bounds = Bounds::of(&plan);
        looked += 1;
        for (index, found) in most.iter().enumerate() {
            let Some(bound) = bounds.visits[index].value(2) else { continue };
            assert!(*found <= bound, "seed {seed}, n{index}: {found} visits, bound {bound}");
            if tight && explored.is_complete() {
                assert_eq!(
                    *found,
                    bound,
                    "seed {seed}, n{index}: the bound {} is not reached",
                    bounds.body(None).sockets[index].visits.formula.clone().unwrap()
                );
            }
        }
        if let Some(bound) = bounds.cast_visits_with(2) {
            assert!(total <= bound, "seed {seed}: {total} visits in all, bound {bound}");
            if tight && explored.is_complete() {
                assert_eq!(total, bound, "seed {seed}: the bound of the cast is not reached");
                reached += 1;
            }
        }
    }
    assert!(looked > 30 && reached > 10, "{looked} graphs were looked at, {reached} reached");
}

/// V3: merged and unmerged exploration find the same ends.
#[test]
fn merging_states_loses_no_end() {
    let mut looked = 0;
    for seed in 0..sample(20, 2_000) {
        let plan = graph(seed, Sort { dataflow: seed % 3 > 0 });
        let merged = Options {
            depth: Some(12),
            items: vec![0, 1],
            max_states: 60_000,
            races: false,
            ..Options::default()
        };
        let unmerged = Options { merge: false, ..merged.clone() };
        let (one, other) =
            (explore(&plan, &merged, |_, _| {}), explore(&plan, &unmerged, |_, _| {}));
        if !one.is_complete() || !other.is_complete() {
            continue;
        }
        looked += 1;
        let ends = |explored: &Explored<'_>| {
            explored.ends().map(ToOwned::to_owned).collect::<BTreeSet<_>>()
        };
        assert_eq!(ends(&one), ends(&other), "seed {seed}");
        assert!(one.states() <= other.states());
    }
    assert!(looked > 10, "{looked} graphs were looked at");
}

/// V4: a history of a finding plays to exactly the end that it claims.
#[test]
fn histories_of_findings_play_to_the_end_they_claim() {
    let (mut told, mut seed) = (0, 0);
    while told < sample(60, 500) {
        let plan = graph(seed, Sort { dataflow: seed % 2 == 0 });
        let options = Options { items: vec![0, 2], max_states: 3_000, ..Options::default() };
        for finding in explore(&plan, &options, |_, _| {}).body().findings {
            told += 1;
            assert!(
                finding.history.plays,
                "seed {seed}: {} {:?}",
                finding.message, finding.history
            );
        }
        seed += 1;
    }
}
