//! Derived data agrees with the state after every event of any history.

use std::collections::BTreeSet;

use materia_contract::{EdgeId, EnvelopeKind, NodeId, RunId};
use materia_kernel::{Gate, Run, evolve};

use super::wild::Wild;
use crate::ask::approval;
use crate::ask::budget::{Asks, node_exhausted};
use crate::state::{Payload, Ready};

/// Compares everything that is kept with what is worked out from the state as it is.
fn agrees(run: &Run) {
    let nodes = 0..run.nodes.len();
    for index in nodes.clone() {
        inputs_agree(run, index);
        // Asking fills the memo, so that the next event would leave a stale one behind.
        if run.wiring().approved.contains(&index) {
            assert_eq!(**approval::wanted(run, index), approval::work_out(run, index));
        }
        let held: Vec<u64> = run.held.of_node(index).map(|(_, held)| held.started).collect();
        let all = run.held.iter().filter(|held| held.turn.node == index);
        assert_eq!(held, all.map(|held| held.started).collect::<Vec<_>>());
        assert_eq!(run.held.count_of(index), held.len());
        assert_eq!(
            run.requests.nodes().any(|node| node == index),
            run.requests.first(index).is_some()
        );
    }
    let asked: Vec<u64> =
        run.requests.nodes().map(|node| run.requests.first(node).unwrap().seq).collect();
    assert!(asked.is_sorted(), "requests are looked at in their order");
    let spent = |index: &usize| node_exhausted(run, *index, Asks::Turn).is_some();
    assert_eq!(run.overspent, nodes.clone().filter(spent).collect());
    let ready = nodes.filter_map(|index| run.oldest_input(index).map(|(ts, id)| (ts, id, index)));
    let (by_itself, by_hand): (BTreeSet<_>, BTreeSet<_>) = ready.partition(|(_, _, index)| {
        let gates = [Gate::Mode, Gate::Control, Gate::Trigger];
        gates.into_iter().all(|gate| gate.holds(run, *index))
    });
    assert_eq!(run.ready, Ready { by_itself, by_hand });
}

fn inputs_agree(run: &Run, index: usize) {
    let inputs = &run.nodes[index].inputs;
    let to: &NodeId = run.node(index).0;
    let edges = run.plan().nodes.values().flat_map(|node| &node.edges);
    let late: Vec<&EdgeId> = edges
        .filter(|edge| edge.to.as_ref() == Some(to) && run.wiring().is_late(run.plan(), &edge.id))
        .map(|edge| &edge.id)
        .filter(|edge| run.queues.get(*edge).is_some_and(|queue| queue.quiet_until.is_none()))
        .collect();
    let waiting = |edge: &&EdgeId| run.queues[*edge].waiting.iter().collect::<Vec<&Payload>>();
    let fronts = late.iter().filter_map(|edge| {
        let front = waiting(edge).first().map(|payload| (payload.ts, payload.id));
        front.map(|(ts, id)| (ts, id, (*edge).clone()))
    });
    assert_eq!(inputs.fronts, fronts.collect());
    let all = inputs.attached.iter().chain(late.iter().flat_map(waiting));
    let ticks = all.filter(|payload| payload.kind == EnvelopeKind::Tick).count();
    assert_eq!(inputs.ticks as usize, ticks);
    assert!(inputs.attached.iter().is_sorted_by_key(|payload| payload.ts));
}

#[test]
fn what_is_kept_agrees_with_the_state_after_every_event() {
    let (mut asked, mut held, mut spent, mut late) = (0, 0, 0, 0);
    for seed in 0..150 {
        let mut wild = Wild::begin(seed);
        let mut folded = Run::new(RunId::new("wild"));
        for _ in 0..40 {
            for event in wild.go_on() {
                evolve(&mut folded, &event);
                agrees(&folded);
            }
            assert_eq!(folded, wild.run);
            asked += folded.nodes.iter().filter(|node| node.consent.is_some()).count();
            held += folded.held.iter().count();
            spent += folded.overspent.len();
            late += folded.nodes.iter().map(|node| node.inputs.fronts.len()).sum::<usize>();
        }
    }
    // Histories in which nothing of it came about would show nothing.
    assert!(asked.min(held).min(spent).min(late) > 100, "{asked} {held} {spent} {late}");
}
