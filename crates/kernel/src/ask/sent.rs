//! Payloads as their events describe them, and the delivery rules of the edge.

use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{Artifact, DedupeBy, Delivery, HandoffSent, Node, NodeId, OutputSelector};

use crate::ask::forwarded;
use crate::state::{Payload, Run};

/// The payload that `from` sends, as its event describes it.
pub(crate) fn carried(run: &Run, from: &NodeId, data: &HandoffSent, ts: Micros) -> Payload {
    let sender = &run.plan().nodes[from];
    let empty = Payload::plain(data.payload_id, data.kind, ts, <Arc<str>>::default());
    let payload = match (&data.offered, data.turn) {
        (Some(offered), _) => empty.offered(offered),
        (None, Some(turn)) if !is_caught(run, turn) => carrying_last(run, sender, empty),
        // A node that ran nothing (an empty `foreach`) has nothing to say, and what one says that failed
        // stands in the event.
        (None, Some(_) | None) => empty,
    };
    Payload { from: Some(from.clone()), edge: Some(data.edge_id.clone()), ..payload }
}

fn is_caught(run: &Run, turn: u64) -> bool {
    run.caught.as_ref().is_some_and(|caught| caught.turn == turn)
}

/// An empty payload filled with what the last turn put out.
fn carrying_last(run: &Run, sender: &Node, empty: Payload) -> Payload {
    let last = &run.last;
    let travels = |artifact: &&Artifact| match sender.output_selector {
        OutputSelector::ArtifactsDiff => artifact.kind == "diff",
        OutputSelector::ArtifactsLogs => artifact.kind == "logs",
        OutputSelector::Composite => {
            sender.artifacts.is_empty() || sender.artifacts.contains(&artifact.kind)
        }
        // Nothing of it is sent, but a transform may look for it.
        OutputSelector::MessageFinal | OutputSelector::StructuredOutput => true,
    };
    let artifacts: Arc<[Artifact]> = if last.artifacts.is_empty() {
        Arc::clone(&last.artifacts)
    } else {
        last.artifacts.iter().filter(travels).cloned().collect()
    };
    Payload {
        text: last.text.clone().unwrap_or_default(),
        json: last.json.clone().filter(|_| last.own_json),
        of: last.of,
        full: last.full,
        selector: sender.output_selector,
        verdict: last.verdict,
        artifacts,
        ..empty
    }
}

/// How what was forwarded begins.
pub(crate) fn preview(run: &Run, from: &NodeId, sent: &HandoffSent) -> String {
    match (&sent.mapped, &sent.offered, sent.turn) {
        (Some(mapped), _, _) => forwarded::preview_of_content(mapped),
        (None, Some(offered), _) => forwarded::preview_of_content(&offered.content()),
        (None, None, Some(_)) => {
            forwarded::preview_of(&run.last, run.plan().nodes[from].output_selector)
        }
        (None, None, None) => String::new(),
    }
}

/// Works out what the edge makes of a payload, and what makes it the same as another; says whether
/// the edge keeps it out.
pub(crate) fn shaped(
    run: &Run,
    from: &NodeId,
    sent: &mut HandoffSent,
    ts: Micros,
    delivery: &Delivery,
) -> bool {
    if delivery.transform.is_none() && delivery.dedupe_by != DedupeBy::ContentHash {
        sent.sameness =
            (delivery.dedupe_by == DedupeBy::PayloadId).then(|| sent.payload_id.to_string());
        return false;
    }
    let mut payload = carried(run, from, sent, ts);
    let mut filtered = false;
    if let Some(transform) = &delivery.transform {
        let made = payload.transformed(transform);
        filtered = made.filtered;
        if let Some(mapped) = made.mapped {
            sent.mapped = Some(Arc::clone(&mapped));
            payload = payload.saying(mapped);
        }
    }
    sent.sameness = match delivery.dedupe_by {
        DedupeBy::None => None,
        DedupeBy::PayloadId => Some(payload.id.to_string()),
        DedupeBy::ContentHash => Some(payload.fingerprint()),
    };
    filtered
}
