//! How a payload reaches the next node.

use materia_contract::{
    Edge, EdgeId, EnvelopeKind, ErrorCode, HandoffSent, NodeId, Parse, PayloadDelivered, Routing,
    derived_id,
};

use crate::Run;
use crate::draft::Draft;
use crate::words::preview;

/// Sends what a turn has put out across an edge and attaches it to the target's inputs.
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
    let text = turn.and(run.last.text.as_deref()).unwrap_or_default();
    let sent = HandoffSent {
        payload_id: derived_id(run.id(), draft.next_seq()),
        edge_id: edge.clone(),
        to: to.clone(),
        turn,
        kind,
        preview: preview(text),
    };
    let payload_id = sent.payload_id;
    draft.emit_at(from, sent);
    draft.emit_at(to, PayloadDelivered { payload_id, edge_id: Some(edge.clone()) });
}

/// Why an edge may not be taken once more, if it may not.
pub(crate) fn forbidden(
    run: &Run,
    from: &NodeId,
    routing: Routing,
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
        return None;
    }
    if routing == Routing::All {
        return None;
    }
    circles(run, edge.to.as_ref()?)
}

/// Why a node may not be entered once more without progress, if it may not (D22).
pub(crate) fn circles(run: &Run, to: &NodeId) -> Option<(ErrorCode, String)> {
    let to = run.index_of(to);
    let place = run.path.iter().position(|entered| *entered == to)?;
    if run.cycles < run.plan().limits.max_no_advance_cycles {
        return None;
    }
    let mut cycle: Vec<&str> =
        run.path[place..].iter().map(|entered| run.node(*entered).0.as_str()).collect();
    cycle.push(run.node(to).0.as_str());
    let message = format!(
        "the cast goes in circles: {} closed again after {} cycles without progress \
         (limits.maxNoAdvanceCycles); give the edge back a maxTraversals if it is meant to repeat",
        cycle.join(" -> "),
        run.cycles
    );
    Some((ErrorCode::NoAdvance, message))
}
