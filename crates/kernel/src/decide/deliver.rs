//! Delivery of a payload to the next node.
//!
//! A payload waits in the delivery queue of its edge and is attached to the input buffer of its node (D9). The edge's
//! rule decides what happens in between; every result is an event (D14).

use std::sync::Arc;

use materia_contract::{
    DeliveryMode, DropReason, Edge, EdgeId, EnvelopeKind, ErrorCode, HandoffSent, NodeId, Offered,
    Overflow, Parse, PayloadDeduplicated, PayloadDelivered, PayloadDropped, PayloadFiltered,
    PayloadSuperseded, Routing, Timer, TimerSet, Uuid,
};

use crate::ask::sent;
use crate::decide::draft::Draft;
use crate::span::micros;
use crate::state::Run;

/// Sends what a turn has put out across an edge.
pub(crate) fn send(
    draft: &mut Draft<'_>,
    from: &NodeId,
    turn: Option<u64>,
    edge: &EdgeId,
    to: &NodeId,
) {
    let run = draft.run();
    let kind = match run.plan().nodes[from].parse {
        Parse::Json => EnvelopeKind::Handoff,
        Parse::Text => EnvelopeKind::Message,
    };
    let caught = run.caught.as_ref().filter(|caught| turn == Some(caught.turn));
    let sent = HandoffSent {
        payload_id: run.uuid(draft.next_seq()),
        edge_id: edge.clone(),
        to: to.clone(),
        turn,
        kind,
        preview: String::new(),
        offered: None,
        mapped: caught.map(|caught| Arc::new(caught.content())),
        sameness: None,
    };
    cross(draft, from, sent);
}

/// Puts a payload on an edge as if its source had produced it.
pub(crate) fn offer(draft: &mut Draft<'_>, edge: &EdgeId, offered: Offered) {
    let run = draft.run();
    let ends = run.wiring().ends(run.plan(), edge);
    let sender = ends.and_then(|(from, edge)| Some((from.clone(), edge.to.clone()?)));
    // An edge to the end takes everything and gives nothing.
    let Some((from, to)) = sender else { return };
    let default =
        if offered.structured.is_some() { EnvelopeKind::Handoff } else { EnvelopeKind::Message };
    let sent = HandoffSent {
        payload_id: offered.payload_id.unwrap_or_else(|| run.uuid(draft.next_seq())),
        edge_id: edge.clone(),
        to,
        turn: None,
        kind: offered.kind.unwrap_or(default),
        preview: String::new(),
        offered: Some(offered),
        mapped: None,
        sameness: None,
    };
    cross(draft, &from, sent);
}

/// Sends a payload and applies the rule of its edge.
fn cross(draft: &mut Draft<'_>, from: &NodeId, mut sent: HandoffSent) {
    let (id, edge_id, to) = (sent.payload_id, sent.edge_id.clone(), sent.to.clone());
    let run = draft.run();
    let delivery = run.wiring().delivery(run.plan(), &edge_id);
    let filtered = sent::shaped(run, from, &mut sent, draft.next_ts(), &delivery);
    sent.preview = sent::preview(run, from, &sent);
    draft.emit_at(from, sent);
    let run = draft.run();
    if filtered {
        draft.emit_at(&to, PayloadFiltered { payload_id: id, edge_id });
        return;
    }
    if let Some(of) = accepted_before(run, &edge_id) {
        draft.emit_at(&to, PayloadDeduplicated { payload_id: id, edge_id, of });
        return;
    }
    match delivery.mode {
        DeliveryMode::DropIfBusy if busy(run, &to) => {
            let reason = DropReason::Busy;
            draft.emit_at(&to, PayloadDropped { payload_id: id, edge_id, reason });
        }
        DeliveryMode::Queue | DeliveryMode::DropIfBusy => {
            let room =
                make_room(draft, &to, &edge_id, id, delivery.max_buffered, delivery.overflow);
            if room {
                draft.emit_at(&to, PayloadDelivered { payload_id: id, edge_id: Some(edge_id) });
            }
        }
        DeliveryMode::Latest => supersede(draft, &to, &edge_id, id, delivery.max_buffered),
        DeliveryMode::Debounce => {
            supersede(draft, &to, &edge_id, id, delivery.max_buffered);
            let at = draft.now().saturating_add(micros(delivery.debounce_ms.unwrap_or(0)));
            draft.emit_at(&to, TimerSet { timer: Timer::Debounce { edge_id }, at });
        }
    }
}

/// An earlier accepted payload that equals the newest one of an edge. Payloads are kept only for edges that compare
/// them.
fn accepted_before(run: &Run, edge: &EdgeId) -> Option<Uuid> {
    let accepted = &run.queues[edge].accepted;
    let newest = accepted.back()?;
    let mut earlier = accepted.iter().rev().skip(1);
    earlier.find(|one| one.key == newest.key).map(|one| one.id)
}

fn busy(run: &Run, node: &NodeId) -> bool {
    run.nodes[run.index_of(node)].in_flight.count() > 0
}

/// Whether the newest payload of an edge may stay; whichever has to go is dropped (D10).
fn make_room(
    draft: &mut Draft<'_>,
    to: &NodeId,
    edge: &EdgeId,
    newest: Uuid,
    most: u32,
    overflow: Overflow,
) -> bool {
    // The newest is among those that are counted.
    while draft.run().queues[edge].pending > most {
        let going = match overflow {
            Overflow::DropNewest => newest,
            Overflow::DropOldest => oldest(draft.run(), to, edge).unwrap_or(newest),
        };
        let reason = DropReason::Overflow;
        draft.emit_at(to, PayloadDropped { payload_id: going, edge_id: edge.clone(), reason });
        if going == newest {
            return false;
        }
    }
    true
}

/// The oldest payload of an edge that is attached to its node.
fn oldest(run: &Run, to: &NodeId, edge: &EdgeId) -> Option<Uuid> {
    let attached = &run.nodes[run.index_of(to)].inputs.attached;
    attached.iter().find(|payload| payload.edge.as_ref() == Some(edge)).map(|payload| payload.id)
}

/// The newest payload takes the place of the oldest, where more wait than may.
fn supersede(draft: &mut Draft<'_>, to: &NodeId, edge: &EdgeId, by: Uuid, most: u32) {
    while draft.run().queues[edge].pending > most {
        let waiting = &draft.run().queues[edge].waiting;
        // By position, not by id: a sender may reuse the id of another payload.
        let Some(payload_id) = waiting.front().filter(|_| waiting.len() > 1).map(|one| one.id)
        else {
            return;
        };
        draft.emit_at(to, PayloadSuperseded { payload_id, edge_id: edge.clone(), by });
    }
}

/// Why an edge may not be taken once more, if it may not.
pub(crate) fn forbidden(
    run: &Run,
    from: &NodeId,
    turn: Option<u64>,
    edge: &Edge,
) -> Option<(ErrorCode, String)> {
    if let Some(bound) = edge.max_traversals {
        let (taken, allowance) = run.traversals.get(&edge.id).map_or((0, 0), |traversed| {
            let same = traversed.item == run.last.item;
            if same { (traversed.count, traversed.allowance) } else { (0, 0) }
        });
        if taken >= bound + allowance {
            let message = format!(
                "edge `{}` of `{from}` was taken {taken} times, which is all that its maxTraversals allows",
                edge.id
            );
            return Some((ErrorCode::EdgeExhausted, message));
        }
    }
    // D23 watches those, unless they have a bound.
    let uncounted = run.plan().nodes[from].routing == Routing::All && turn.is_some();
    if uncounted && edge.max_traversals.is_none() && !run.wiring().is_on_failure(&edge.id) {
        return None;
    }
    circles(run, edge.to.as_ref()?, &edge.id)
}

/// Why a node may not be entered once more without progress, if it may not (D22).
pub(crate) fn circles(run: &Run, to: &NodeId, via: &EdgeId) -> Option<(ErrorCode, String)> {
    let to = run.index_of(to);
    let bound = run.wiring().edge(run.plan(), via).and_then(|edge| edge.max_traversals);
    let (path, cycles) = run.crossing.closing(run.wiring().entry(to, Some(via)), bound)?;
    if cycles < run.plan().limits.max_no_advance_cycles {
        return None;
    }
    let mut cycle: Vec<&str> = path.iter().map(|entered| run.node(*entered).0.as_str()).collect();
    cycle.push(run.node(to).0.as_str());
    let advice = match bound {
        None => "give the edge back a maxTraversals if it is meant to repeat".to_owned(),
        Some(bound) => format!(
            "the edge back leads out of a loop, so that its maxTraversals of {bound} counts anew for the items of each entry"
        ),
    };
    let message = format!(
        "the cast goes in circles: {} closed again after {cycles} cycles without progress (limits.maxNoAdvanceCycles); {advice}",
        cycle.join(" -> ")
    );
    Some((ErrorCode::NoAdvance, message))
}
