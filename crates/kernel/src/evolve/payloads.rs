//! Where payloads and timers are.

use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{
    DeliveryMode, EdgeId, EnvelopeKind, Event, HandoffSent, NodeId, PayloadConsumed,
    PayloadDelivered, PayloadDropped, Timer, TimerFired, TimerSet, Uuid,
};

use super::node;
use crate::Run;
use crate::payload::{Accepted, Payload};
use crate::sent::sent;
use crate::trail::Trail;

/// Accepted payloads that are remembered within a window, at the most.
const ACCEPTED_MAX: usize = 4_096;

/// A payload is on an edge.
pub(super) fn handoff_sent(run: &mut Run, event: &Event, data: &HandoffSent) {
    let mut payload = sent(run, node(event), data, event.ts);
    if let Some(mapped) = &data.mapped {
        payload = payload.saying(Arc::clone(mapped));
    }
    let delivery = run.wiring().delivery(run.plan(), &data.edge_id);
    let to = run.index_of(&data.to);
    let way = if data.offered.is_some() { Trail::default() } else { run.crossing.clone() };
    payload.trail = way.up_to(to);
    let before = run.oldest_input(to);
    if matches!(delivery.mode, DeliveryMode::Latest | DeliveryMode::Debounce) {
        run.nodes[to].inputs.edges.insert(data.edge_id.clone());
    }
    let queue = run.queues.entry(data.edge_id.clone()).or_default();
    queue.pending += 1;
    queue.waiting.push_back(payload);
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
    run.reindex(to, before);
}

pub(crate) fn micros(millis: u64) -> Micros {
    Micros::try_from(millis).unwrap_or(Micros::MAX / 4_000).saturating_mul(1_000)
}

/// A payload is attached to a node.
pub(super) fn delivered(run: &mut Run, at: &NodeId, data: &PayloadDelivered) {
    let index = run.index_of(at);
    let before = run.oldest_input(index);
    let payload = if let Some(edge) = &data.edge_id {
        take_waiting(run, index, edge, data.payload_id)
    } else {
        let arriving = &mut run.nodes[index].arriving;
        let place = arriving.iter().position(|payload| payload.id == data.payload_id);
        place.and_then(|place| arriving.remove(place))
    };
    let payload = payload.expect("a payload is sent before it is delivered");
    run.nodes[index].inputs.attached.push_back(payload);
    run.reindex(index, before);
}

fn take_waiting(run: &mut Run, to: usize, edge: &EdgeId, id: Uuid) -> Option<Payload> {
    let queue = run.queues.get_mut(edge)?;
    let payload = queue.take(id);
    if queue.waiting.is_empty() {
        run.nodes[to].inputs.edges.remove(edge);
    }
    payload
}

/// A turn takes a payload.
pub(super) fn consumed(run: &mut Run, at: &NodeId, data: &PayloadConsumed) {
    let index = run.index_of(at);
    let before = run.oldest_input(index);
    let payload = take_attached(run, index, data.payload_id);
    let payload = payload.expect("a payload is delivered before it is consumed");
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
        None if iterates => run.crossing.join(&payload.trail),
        None => {
            state.taken.trail.join(&payload.trail);
            state.taken.payloads.push(payload);
        }
    }
    run.reindex(index, before);
}

fn take_attached(run: &mut Run, index: usize, id: Uuid) -> Option<Payload> {
    let attached = &mut run.nodes[index].inputs.attached;
    let place = attached.iter().position(|payload| payload.id == id)?;
    attached.remove(place)
}

/// A payload has left its edge without being consumed.
pub(super) fn ended(run: &mut Run, at: &NodeId, edge: &EdgeId, id: Uuid, accepted: bool) {
    let index = run.index_of(at);
    let before = run.oldest_input(index);
    if take_waiting(run, index, edge, id).is_none() {
        take_attached(run, index, id);
    }
    if let Some(queue) = run.queues.get_mut(edge) {
        queue.ended();
        if !accepted {
            queue.forget(id);
        }
    }
    run.reindex(index, before);
}

pub(super) fn dropped(run: &mut Run, at: &NodeId, data: &PayloadDropped) {
    // One that made room for a newer one was accepted; `forget` looks at the newest alone.
    ended(run, at, &data.edge_id, data.payload_id, false);
}

/// A timer runs; one that ran already is moved.
pub(super) fn timer_set(run: &mut Run, at: &NodeId, data: &TimerSet) {
    let index = run.index_of(at);
    let before = run.oldest_input(index);
    if let Timer::Debounce { edge_id } = &data.timer {
        let queue = run.queues.entry(edge_id.clone()).or_default();
        if let Some(earlier) = queue.quiet_until.replace(data.at) {
            run.timers.remove(&(earlier, index, data.timer.clone()));
        }
    }
    run.timers.insert((data.at, index, data.timer.clone()));
    run.reindex(index, before);
}

/// A timer has come to its instant.
pub(super) fn timer_fired(run: &mut Run, event: &Event, data: &TimerFired) {
    let index = run.index_of(node(event));
    let before = run.oldest_input(index);
    let set = run.timers.iter().find(|(_, at, timer)| *at == index && *timer == data.timer);
    let set = set.cloned().expect("a timer is set before it fires");
    run.timers.remove(&set);
    match &data.timer {
        Timer::Debounce { edge_id } => {
            if let Some(queue) = run.queues.get_mut(edge_id) {
                queue.quiet_until = None;
            }
        }
        Timer::Tick => {
            if let Some(id) = data.payload_id {
                let tick = Payload::plain(id, EnvelopeKind::Tick, event.ts, "");
                run.nodes[index].arriving.push_back(tick);
                run.nodes[index].tick_owed = true;
            }
        }
        Timer::Retry { turn } => {
            for held in run.held.iter_mut().filter(|held| held.started == *turn) {
                held.released = true;
            }
        }
    }
    run.reindex(index, before);
}
