//! Approvals: turns that wait for a person. A hash names the turn that the person allows.

use std::sync::Arc;

use materia_contract::{Condition, NodeId, content_hash};
use serde_json::json;

use crate::ask::{items, taking};
use crate::state::{Consent, Payload, Run, Wanted};
use crate::tally::{Look, look};

/// The next turn of a node. Its hash covers all waiting inputs, so it is computed only after a change of them.
pub(crate) fn wanted(run: &Run, index: usize) -> &Arc<Wanted> {
    run.nodes[index].wanted.get_or(|| work_out(run, index))
}

/// The same, from the state as it is.
pub(crate) fn work_out(run: &Run, index: usize) -> Wanted {
    look(Look::Hash);
    let payloads: Vec<&Payload> = taking::eligible(run, index);
    let (id, node) = run.node(index);
    let item = items::current(run, index).map(|item| item.key);
    let contents: Vec<_> = payloads.iter().map(|payload| json!(payload.envelope())).collect();
    let hash = content_hash(&json!([id, node.materia, item, contents]));
    Wanted { hash, payloads: payloads.iter().map(|payload| payload.id).collect() }
}

/// Whether nothing needs a person's consent, or it was given for exactly this turn.
pub(crate) fn given(run: &Run, index: usize) -> bool {
    if !run.wiring().approved.contains(&index) {
        return true;
    }
    let consented = run.nodes[index].consent.as_ref().filter(|it| it.answer == Some(true));
    consented.is_some_and(|consent| consent.hash == wanted(run, index).hash)
}

/// The consent under which a turn starts, where the node asks for one.
pub(crate) fn of_turn(run: &Run, index: usize) -> Option<String> {
    let consented = run.nodes[index].consent.as_ref().filter(|it| it.answer == Some(true));
    consented.filter(|_| run.wiring().approved.contains(&index)).map(|it| it.hash.clone())
}

/// The open or refused question of a node.
pub(crate) fn open<'run>(run: &'run Run, node: &NodeId) -> Option<&'run Consent> {
    let index = run.plan().nodes.get_index_of(node)?;
    run.nodes[index].consent.as_ref().filter(|consent| consent.answer != Some(true))
}

/// The same, as long as anything waits there that the question could be about. A turn by hand that was
/// asked for earlier may have taken it.
pub(crate) fn stands<'run>(run: &'run Run, node: &NodeId) -> Option<&'run Consent> {
    let index = run.plan().nodes.get_index_of(node)?;
    open(run, node).filter(|_| !wanted(run, index).payloads.is_empty())
}

/// Whether a refusal of what a node asks can lead on: it has a way for work that is not content, and
/// would still take what it asked about.
pub(crate) fn leads_on(run: &Run, node: &NodeId) -> Result<(), NoWayOn> {
    let Some(index) = run.plan().nodes.get_index_of(node) else { return Err(NoWayOn::NoEdge) };
    let plan = run.node(index).1;
    if !plan.edges.iter().any(|edge| edge.when == Condition::NotSatisfied) {
        return Err(NoWayOn::NoEdge);
    }
    let asked = run.nodes[index].consent.as_ref();
    if asked.is_none_or(|consent| consent.hash != wanted(run, index).hash) {
        return Err(NoWayOn::Changed);
    }
    Ok(())
}

/// Why a refusal cannot lead on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoWayOn {
    /// No edge is for work that is not content.
    NoEdge,
    /// It would take something else by now.
    Changed,
}

impl std::fmt::Display for NoWayOn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NoEdge => "it has no edge with `\"when\": \"not_satisfied\"`",
            Self::Changed => "its inputs have changed since it asked",
        })
    }
}
