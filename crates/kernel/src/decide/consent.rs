//! Asks a person for an approval, and takes the answer.

use std::sync::Arc;

use materia_contract::{ApprovalDenied, ApprovalGiven, ApprovalRequested, NodeId};

use crate::ask::{approval, waits};
use crate::decide::draft::Draft;
use crate::state::{Run, Wanted};

/// Asks for consent wherever a node needs nothing else of its own.
pub(crate) fn request(draft: &mut Draft<'_>) {
    let run = draft.run();
    let due = run.wiring().approved.iter().filter(|index| waits::is_due(run, **index));
    let unasked: Vec<(NodeId, Arc<Wanted>)> = due
        .filter_map(|index| {
            let wanted = approval::wanted(run, *index);
            let asked = run.nodes[*index].consent.as_ref();
            let news = asked.is_none_or(|consent| consent.hash != wanted.hash);
            news.then(|| (run.node(*index).0.clone(), Arc::clone(wanted)))
        })
        .collect();
    for (node, wanted) in unasked {
        let Wanted { hash, payloads } = &*wanted;
        let (hash, payloads) = (hash.clone(), payloads.clone());
        draft.emit_at(&node, ApprovalRequested { hash, payloads });
    }
}

/// A person allows what was asked last, if that is what the person was shown.
pub(crate) fn approve(draft: &mut Draft<'_>, node: &NodeId, shown: Option<&str>) {
    if let Some(hash) = asked(draft.run(), node, shown) {
        draft.emit_at(node, ApprovalGiven { hash });
    }
}

/// A person refuses what was asked last, if that is what the person was shown.
pub(crate) fn deny(
    draft: &mut Draft<'_>,
    node: &NodeId,
    shown: Option<&str>,
    reason: Option<String>,
) {
    if let Some(hash) = asked(draft.run(), node, shown) {
        draft.emit_at(node, ApprovalDenied { hash, reason, route: false });
    }
}

/// The hash of the open question of a node, if it is the one that was shown.
pub(crate) fn asked(run: &Run, node: &NodeId, shown: Option<&str>) -> Option<String> {
    let consent = approval::open(run, node)?;
    shown.is_none_or(|shown| shown == consent.hash).then(|| consent.hash.clone())
}
