//! Applies events about loops, routes, and the reasons for sent-back work.

use std::sync::Arc;

use materia_contract::{
    CursorAdvanced, ErrorCode, Event, FollowUpCaptured, ItemSkipped, LoopEntered, NodeId,
    RouteSelected, Routing, RunFailed,
};

use super::payloads;
use crate::ask::{items, skipping, work};
use crate::state::{
    FollowUps, Held, ItemId, Iteration, LoopState, Phase, Region, Run, Trail, Traversed, Why,
};

/// The work moved: what was counted to catch standing still begins anew (D22).
pub(super) fn loop_advanced(run: &mut Run, region: &str, data: &CursorAdvanced) {
    let place = run.plan().loops.get_index_of(region).expect("events name loops of the plan");
    let state = &mut run.loops[place];
    state.items = state.items.take().or_else(|| data.items.clone());
    state.index = data.index;
    run.crossing.moved(place);
    forget_wanted_in(run, place);
}

pub(super) fn loop_entered(run: &mut Run, seq: u64, data: &LoopEntered) {
    let (place, _, plan) =
        run.plan().loops.get_full(&data.region).expect("events name loops of the plan");
    let produced = |generator| run.nodes[run.index_of(generator)].produced.clone();
    let generated = plan.consumes.as_ref().map(|generator| produced(generator).unwrap_or_default());
    let items = data.items.clone().or(generated);
    let mut rounds = run.loops[place].rounds;
    rounds.begin(items::around_loop(run, place));
    run.loops[place] = LoopState { entry: data.entry, items, index: 0, entered_at: seq, rounds };
    forget_wanted_in(run, place);
}

/// A person ended an item: whatever waits for it inside its loop goes, and the run goes on.
pub(super) fn skipped(run: &mut Run, mover: &NodeId, data: &ItemSkipped) {
    run.phase = Phase::Running;
    run.stopping = false;
    run.held.release_all(|held| held.why == Why::Interrupted);
    let place = run.plan().loops.get_index_of(&data.region).expect("events name loops of the plan");
    for (to, edge, id) in skipping::waiting(run, place) {
        let to = run.node(to).0.clone();
        payloads::ended(run, &to, &edge, id, true);
    }
    for index in skipping::inside(run, place) {
        let held: Vec<u64> = run.held.of_node(index).map(|(ended, _)| ended).collect();
        for ended in held {
            run.held.take(ended);
        }
        let state = &mut run.nodes[index];
        (state.foreach, state.consent) = (None, None);
        state.wanted.forget();
        run.iterating.remove(&index);
        run.paused.remove(&index);
    }
    run.crossing = Trail::default();
    run.passed = Some(run.index_of(mover));
}

/// A loop stands elsewhere: the turns that its nodes would have next are about another item.
fn forget_wanted_in(run: &mut Run, region: usize) {
    for index in run.wiring().approved_in[region].clone() {
        run.nodes[index].wanted.forget();
    }
}

/// The newest reasons for this target and item (D25).
pub(super) fn follow_up(run: &mut Run, event: &Event, data: &FollowUpCaptured) {
    let target = run.index_of(&data.target);
    let from = event.node.clone().expect("it names the sender");
    let item = items::of_target(run, run.index_of(&from), target);
    let follow_ups = run.follow_ups.entry(target).or_default();
    if follow_ups.item != item {
        *follow_ups = FollowUps { item, ..FollowUps::default() };
    }
    if follow_ups.reasons.len() == work::FOLLOW_UPS_MAX {
        follow_ups.reasons.pop_front();
    }
    follow_ups.reasons.push_back((event.seq, from, data.reason.clone()));
}

pub(super) fn cursor_advanced(run: &mut Run, at: &NodeId, data: &CursorAdvanced) {
    let index = run.index_of(at);
    run.nodes[index].wanted.forget();
    if run.nodes[index].foreach.is_none() {
        entered(run, index, data);
    } else if data.exhausted {
        run.nodes[index].foreach = None;
        run.iterating.remove(&index);
    } else if let Some(iteration) = &mut run.nodes[index].foreach {
        iteration.index = data.index;
        run.iterating.insert(index);
    }
}

/// A `foreach` is entered; one over nothing is left at once.
fn entered(run: &mut Run, index: usize, data: &CursorAdvanced) {
    // A node that a person asked for is entered on that person's account.
    let manual = run.requests.take(index).is_some();
    run.nodes[index].iterations += 1;
    if data.exhausted {
        run.crossing = Trail::default();
        run.passed = Some(index);
        return;
    }
    run.iterating.insert(index);
    let items = data.items.clone().unwrap_or_default();
    let (payloads, trail) = (Vec::new(), Trail::default());
    run.nodes[index].foreach = Some(Iteration { items, index: 0, payloads, trail, manual });
}

pub(super) fn route_selected(run: &mut Run, from: &NodeId, data: &RouteSelected) {
    let Some(edge_id) = &data.edge_id else { return };
    let on_failure = run.wiring().is_on_failure(edge_id);
    let fails = run.wiring().is_failing(edge_id);
    if fails {
        gives_up(run, from, data.turn);
    } else if on_failure {
        caught(run, from, data.turn);
    }
    let from = &run.plan().nodes[from];
    // An exit of a loop is no edge of the node: it has no bound of its own.
    let edge = run.wiring().edge(run.plan(), edge_id);
    let bound = edge.and_then(|edge| edge.max_traversals);
    // Without a turn, nothing else would detect that the work goes in circles.
    let counts = from.routing == Routing::First || data.turn.is_none() || on_failure;
    let target = run.plan().nodes.get_index_of(data.to.as_str());
    if bound.is_some() {
        let item = run.last.item;
        let traversed = run.traversals.entry(edge_id.clone()).or_default();
        if traversed.item != item {
            *traversed = Traversed { item, ..Traversed::default() };
        }
        traversed.count += 1;
    }
    if let (true, Some(target)) = (counts, target) {
        let wiring = Arc::clone(run.wired.of(run.plan()));
        run.crossing.enter(wiring.entry(target, Some(edge_id)), bound);
    }
}

/// A completed turn led to `fail`: it may be started again. One that failed itself is held already.
fn gives_up(run: &mut Run, from: &NodeId, turn: Option<u64>) {
    let index = run.index_of(from);
    let done = run.done.remove(&index).filter(|(started, _)| Some(*started) == turn);
    if let Some((started, turn)) = done {
        run.held.hold(run.seq, Held { started, turn, why: Why::Failed });
    }
}

/// A run goes on that a way to `fail` ended: the loop around the turn stands at its item again.
pub(super) fn go_back(run: &mut Run) {
    let Phase::Failed(RunFailed { code: ErrorCode::GraphFailed, .. }) = run.phase else { return };
    let failed = run.held.iter().filter(|held| held.why == Why::Failed);
    let items: Vec<ItemId> = failed.filter_map(|held| held.turn.about).collect();
    for ItemId { region, entry, index } in items {
        if let Region::Loop(place) = region
            && run.loops[place].entry == entry
        {
            run.loops[place].index = index;
            forget_wanted_in(run, place);
        }
    }
}

/// A failed turn has led on: it is not tried again, and its node is done with its list.
fn caught(run: &mut Run, from: &NodeId, turn: Option<u64>) {
    let index = run.index_of(from);
    let held = run.held.of_node(index).find(|(_, held)| Some(held.started) == turn);
    if let Some(ended) = held.map(|(ended, _)| ended) {
        run.held.take(ended);
    }
    run.nodes[index].foreach = None;
    run.nodes[index].wanted.forget();
    run.iterating.remove(&index);
}
