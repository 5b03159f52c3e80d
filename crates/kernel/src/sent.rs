//! What crosses an edge: the payload that an event speaks of, before anything is done to it on the way.

use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{Artifact, HandoffSent, Node, NodeId, OutputSelector};

use crate::Run;
use crate::payload::Payload;

/// The payload that `from` sends, as its event describes it.
pub(crate) fn sent(run: &Run, from: &NodeId, data: &HandoffSent, ts: Micros) -> Payload {
    let sender = &run.plan().nodes[from];
    let payload = match (&data.offered, data.turn) {
        (Some(offered), _) => Payload::plain(data.payload_id, data.kind, ts, "").offered(offered),
        (None, Some(_)) => carrying_last(run, sender, data, ts),
        // A node that ran nothing (an empty `foreach`) has nothing to say.
        (None, None) => Payload::plain(data.payload_id, data.kind, ts, ""),
    };
    Payload { from: Some(from.clone()), edge: Some(data.edge_id.clone()), ..payload }
}

/// A payload with what the last turn put out.
fn carrying_last(run: &Run, sender: &Node, data: &HandoffSent, ts: Micros) -> Payload {
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
        selector: sender.output_selector,
        verdict: last.verdict,
        artifacts,
        ..Payload::plain(data.payload_id, data.kind, ts, "")
    }
}
