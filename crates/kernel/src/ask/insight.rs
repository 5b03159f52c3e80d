//! What a run knows about a node, for whoever explains it. Looks, and changes nothing.
//!
//! Deliberately absent: anything that decides. What must hold before a node runs is in `gates`.

use materia_contract::time::Micros;
use materia_contract::{EdgeId, NodeBudgets, Uuid};

use crate::ask::scope::Scope;
use crate::ask::{output, taking};
use crate::state::Run;

/// The payloads that a turn of a node would take now, in order.
#[must_use]
pub fn waiting_inputs(run: &Run, index: usize) -> Vec<Uuid> {
    taking::eligible(run, index).into_iter().map(|payload| payload.id).collect()
}

/// When the quiet period of an edge ends, where one runs.
#[must_use]
pub fn quiet_until(run: &Run, edge: &EdgeId) -> Option<Micros> {
    run.queues.get(edge)?.quiet_until
}

/// Whether a person has asked for a turn of a node that has not started.
#[must_use]
pub fn is_requested(run: &Run, index: usize) -> bool {
    run.requests.first(index).is_some()
}

/// The `turn.started` of a turn that ended without a result and may run again.
#[must_use]
pub fn held_turn(run: &Run, index: usize) -> Option<u64> {
    run.held.of_node(index).next().map(|(_, held)| held.started)
}

/// The turns of a node that are in flight, by their `turn.started`.
#[must_use]
pub fn turns_in_flight(run: &Run, index: usize) -> Vec<u64> {
    run.nodes[index].in_flight.0.iter().copied().collect()
}

/// Whether a `foreach` is under way at a node.
#[must_use]
pub fn iterates(run: &Run, index: usize) -> bool {
    run.nodes[index].foreach.is_some()
}

/// Whether a turn of a node would have something to work on: a `foreach` that is entered now needs a
/// list that is not empty.
#[must_use]
pub fn has_elements(run: &Run, index: usize) -> bool {
    let Some(foreach) = &run.node(index).1.foreach else { return true };
    let list = output::list_at(&Scope::of(run), &foreach.items);
    iterates(run, index) || list.is_some_and(|items| !items.is_empty())
}

/// What a node may spend now.
#[must_use]
pub fn budgets_of(run: &Run, index: usize) -> Option<NodeBudgets> {
    run.nodes[index].budgets.or(run.node(index).1.budgets)
}

/// What the turns of a node have spent, in the terms of its budgets.
#[must_use]
pub fn spent_by(run: &Run, index: usize) -> NodeBudgets {
    let spent = run.nodes[index].spent;
    let time_ms = u64::try_from(spent.micros / 1_000).unwrap_or(0);
    NodeBudgets { turns: Some(spent.turns), time_ms: Some(time_ms), cost: spent.cost }
}
