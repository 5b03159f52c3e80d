//! Applies events about payloads and timers.

use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{
    EdgeId, EnvelopeKind, Event, HandoffSent, NodeId, PayloadConsumed, PayloadDelivered,
    PayloadDropped, Timer, TimerFired, TimerSet, Uuid,
};

use super::node;
use crate::ask::sent;
use crate::span::micros;
use crate::state::{Accepted, DeliveryQueue, Payload, Run, Trail};

/// Accepted payloads that are remembered within a window, at the most.
const ACCEPTED_MAX: usize = 4_096;

/// A payload is on an edge.
pub(super) fn handoff_sent(run: &mut Run, event: &Event, data: &HandoffSent) {
    let mut payload = sent::carried(run, node(event), data, event.ts);
    if let Some(mapped) = &data.mapped {
        payload = payload.saying(Arc::clone(mapped));
    }
    let delivery = run.wiring().delivery(run.plan(), &data.edge_id);
    let to = run.index_of(&data.to);
    let way = if data.offered.is_some() { Trail::default() } else { run.crossing.clone() };
    let edge = run.wiring().edge(run.plan(), &data.edge_id);
    let bound = edge.and_then(|edge| edge.max_traversals);
    payload.trail = way.up_to(run.wiring().entry(to, Some(&data.edge_id)), bound);
    at_inputs(run, to, Some(&data.edge_id), |run| {
        run.queues.entry(data.edge_id.clone()).or_default().push(payload);
    });
    let queue = run.queues.entry(data.edge_id.clone()).or_default();
    if let Some(key) = data.sameness.clone() {
        let oldest = delivery.dedupe_window_ms.map(|window| event.ts - micros(window));
        let keep = if oldest.is_some() { ACCEPTED_MAX } else { 2 };
        while queue.accepted.len() >= keep
            || queue.accepted.front().zip(oldest).is_some_and(|(first, oldest)| first.ts < oldest)
        {
            queue.accepted.pop_front();
        }
        queue.accepted.push_back(Accepted { id: data.payload_id, ts: event.ts, key });
    }
}

/// Changes what waits at a node, or on one of the edges to it, and keeps true what is known about it:
/// its place among those that have inputs, and that another turn would follow.
fn at_inputs(run: &mut Run, index: usize, edge: Option<&EdgeId>, change: impl FnOnce(&mut Run)) {
    let before = run.oldest_input(index);
    let edge = edge.filter(|edge| run.wiring().is_late(run.plan(), edge));
    let late = edge.map(|edge| (edge, run.late(edge)));
    change(run);
    if let Some((edge, late)) = late {
        let now = run.late(edge);
        run.nodes[index].inputs.follow(edge, late, now);
    }
    run.reindex(index, before);
    run.nodes[index].wanted.forget();
}

/// A payload is attached to a node.
pub(super) fn delivered(run: &mut Run, at: &NodeId, data: &PayloadDelivered) {
    let index = run.index_of(at);
    at_inputs(run, index, data.edge_id.as_ref(), |run| {
        let payload = if let Some(edge) = &data.edge_id {
            run.queues.get_mut(edge).and_then(|queue| queue.take(data.payload_id))
        } else {
            let arriving = &mut run.nodes[index].arriving;
            let place = arriving.iter().position(|payload| payload.id == data.payload_id);
            place.and_then(|place| arriving.remove(place))
        };
        let payload = payload.expect("a payload is sent before it is delivered");
        run.nodes[index].inputs.attach(payload);
    });
}

/// A turn takes a payload.
pub(super) fn consumed(run: &mut Run, at: &NodeId, data: &PayloadConsumed) {
    let index = run.index_of(at);
    let mut taken = None;
    at_inputs(run, index, None, |run| taken = run.nodes[index].inputs.detach(data.payload_id));
    let payload = taken.expect("a payload is delivered before it is consumed");
    if let Some(edge) = &payload.edge
        && let Some(queue) = run.queues.get_mut(edge)
    {
        queue.ended();
    }
    let iterates = run.node(index).1.foreach.is_some();
    let state = &mut run.nodes[index];
    state.tick_owed &= payload.kind != EnvelopeKind::Tick;
    match &mut state.foreach {
        Some(iteration) => {
            iteration.trail.join(&payload.trail);
            iteration.payloads.push(payload);
        }
        // A `foreach` over nothing takes its inputs and leads on.
        None if iterates && !state.taken.refused => run.crossing.join(&payload.trail),
        None => {
            state.taken.trail.join(&payload.trail);
            state.taken.payloads.push(payload);
        }
    }
}

/// A payload has left its edge without being consumed.
pub(super) fn ended(run: &mut Run, at: &NodeId, edge: &EdgeId, id: Uuid, accepted: bool) {
    let index = run.index_of(at);
    at_inputs(run, index, Some(edge), |run| {
        // A sender may reuse the id of another payload. A payload that was not accepted is always the newest.
        let take = if accepted { DeliveryQueue::take } else { DeliveryQueue::take_newest };
        let waiting = run.queues.get_mut(edge).and_then(|queue| take(queue, id));
        if waiting.is_none() {
            run.nodes[index].inputs.detach(id);
        }
    });
    if let Some(queue) = run.queues.get_mut(edge) {
        queue.ended();
        if !accepted {
            queue.forget(id);
        }
    }
}

pub(super) fn dropped(run: &mut Run, at: &NodeId, data: &PayloadDropped) {
    // One that made room for a newer one was accepted; `forget` looks at the newest alone.
    ended(run, at, &data.edge_id, data.payload_id, false);
}

/// A timer runs; one that ran already is moved.
pub(super) fn timer_set(run: &mut Run, at: &NodeId, data: &TimerSet) {
    let index = run.index_of(at);
    if let Timer::Debounce { edge_id } = &data.timer
        && let Some(earlier) = set_quiet(run, index, edge_id, Some(data.at))
    {
        run.timers.remove(&(earlier, index, data.timer.clone()));
    }
    run.timers.insert((data.at, index, data.timer.clone()));
}

/// A quiet period of an edge begins, is moved or ends; says when it would have ended before.
fn set_quiet(run: &mut Run, to: usize, edge: &EdgeId, until: Option<Micros>) -> Option<Micros> {
    let mut earlier = None;
    at_inputs(run, to, Some(edge), |run| {
        let queue = run.queues.entry(edge.clone()).or_default();
        earlier = std::mem::replace(&mut queue.quiet_until, until);
    });
    earlier
}

/// A timer has fired.
pub(super) fn timer_fired(run: &mut Run, event: &Event, data: &TimerFired) {
    let index = run.index_of(node(event));
    let set = run.timers.iter().find(|(_, at, timer)| *at == index && *timer == data.timer);
    let set = set.cloned().expect("a timer is set before it fires");
    run.timers.remove(&set);
    match &data.timer {
        Timer::Debounce { edge_id } => {
            set_quiet(run, index, edge_id, None);
        }
        Timer::Tick => {
            run.nodes[index].ticks = run.nodes[index].ticks.saturating_add(1);
            if let Some(id) = data.payload_id {
                let tick = Payload::plain(id, EnvelopeKind::Tick, event.ts, "");
                run.nodes[index].arriving.push_back(tick);
                run.nodes[index].tick_owed = true;
            }
        }
        Timer::Retry { turn } => {
            let waits = run.held.of_node(index).find(|(_, held)| held.started == *turn);
            if let Some(ended) = waits.map(|(ended, _)| ended) {
                run.held.release(ended);
            }
        }
    }
}
