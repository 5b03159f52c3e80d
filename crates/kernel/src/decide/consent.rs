//! Asking for a person's consent, and hearing it.

use std::sync::Arc;

use materia_contract::{ApprovalDenied, ApprovalGiven, ApprovalRequested, NodeId};

use crate::ask::approval;
use crate::decide::draft::Draft;
use crate::state::Wanted;

/// Asks for consent wherever a node needs nothing else of its own.
pub(crate) fn request(draft: &mut Draft<'_>) {
    let run = draft.run();
    let due = run.wiring().approved.iter().filter(|index| approval::is_due(run, **index));
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

/// A person answers what was asked last.
pub(crate) fn answer(draft: &mut Draft<'_>, node: &NodeId, yes: bool) {
    let Some(hash) = approval::open(draft.run(), node).map(|consent| consent.hash.clone()) else {
        return;
    };
    if yes {
        draft.emit_at(node, ApprovalGiven { hash });
    } else {
        draft.emit_at(node, ApprovalDenied { hash });
    }
}
