//! Nodes that would run, but for the consent of a person or their own budget.

use materia_contract::NodeId;

use crate::ask::budget::{Asks, asks, node_exhausted};
use crate::ask::gates::{Gate, Start, barred};
use crate::state::{Consent, Run};
use crate::tally::{Look, look};

/// Whether it is time to ask: the node would run with a person's consent, if not at once. What the run
/// may spend and how much runs beside it are no reason to wait with the question.
pub(crate) fn is_due(run: &Run, index: usize) -> bool {
    let others = [Gate::Approval, Gate::RunBudget, Gate::Concurrency];
    Start::Input.barred(run, index, &others).is_none()
}

/// A node that waits only for the consent of a person, with the question and the answer.
pub(crate) fn waiting(run: &Run) -> Option<(&NodeId, &Consent)> {
    let approved = run.wiring().approved.iter();
    let mut open = approved.filter_map(|index| {
        let consent = run.nodes[*index].consent.as_ref()?;
        let waits = consent.answer != Some(true) && is_due(run, *index);
        waits.then(|| (run.node(*index).0, consent))
    });
    open.next()
}

/// The exhausted budget of a node, where only the budget keeps it from running.
pub(crate) fn kept(run: &Run, index: usize) -> Option<String> {
    look(Look::Budget);
    let mut again = run.held.released_of(index).map(|held| asks(run, held));
    let again = again.find_map(|asks| node_exhausted(run, index, asks));
    let wants = run.requests.first(index).is_some()
        || run.iterating.contains(&index)
        || barred(run, index) == Some(Gate::Budget);
    again.or_else(|| wants.then(|| node_exhausted(run, index, Asks::Turn)).flatten())
}

/// A node that has something to do and may not run on account of its budget.
pub(crate) fn blocked(run: &Run) -> Option<NodeId> {
    let mut waits = run.overspent.iter().filter(|index| kept(run, **index).is_some());
    waits.next().map(|index| run.node(*index).0.clone())
}
