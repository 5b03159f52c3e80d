//! Cycles of dataflow that nothing bounds (D23).

use materia_contract::{Condition, Edge, Node, Plan, Routing};

use super::loadout::Scope;
use crate::fault::{Fault, Faults};

/// Reports cycles of sockets that take every matching edge, where nothing says how often they may go round.
///
/// Where each round moves a loop to its next item, the list bounds it.
pub(super) fn find_unbounded(scope: &Scope<'_>, plan: &Plan, faults: &mut Faults) {
    if plan.budget.max_turns.is_some() {
        return;
    }
    let ways = ways(plan);
    let mut told = vec![false; plan.nodes.len()];
    for (index, (id, node)) in plan.nodes.iter().enumerate() {
        let turns = node.budgets.and_then(|budgets| budgets.turns);
        if told[index] || node.routing != Routing::All || turns.is_some() {
            continue;
        }
        let ahead = reached(&ways, index);
        if !ahead[index] {
            continue;
        }
        let on_it: Vec<usize> = (0..plan.nodes.len())
            .filter(|other| ahead[*other] && reached(&ways, *other)[index])
            .collect();
        for other in &on_it {
            told[*other] = true;
        }
        let named = on_it.iter().filter_map(|other| plan.nodes.get_index(*other));
        let named: Vec<String> = named.map(|(id, _)| format!("`{id}`")).collect();
        let message = format!(
            "{} can go round for ever; a person is asked after {} turns of `{id}` (`limits.maxCycleTurns`)",
            named.join(", "),
            plan.limits.max_cycle_turns
        );
        let fault = Fault::warning("graph::unbounded-cycle", message);
        let help = "give an edge of the cycle a `maxTraversals`, the socket `budgets.turns`, or the configuration a `budget.maxTurns`";
        let place = scope.place.child("sockets").child(id.as_str());
        faults.push(place.mark(fault).help(help));
    }
}

/// Where each socket can lead to without a bound. Steps of a state machine and ways of failures are counted
/// otherwise (D22).
fn ways(plan: &Plan) -> Vec<Vec<usize>> {
    let place = |edge: &Edge| edge.to.as_ref().and_then(|to| plan.nodes.get_index_of(to));
    let mut ways: Vec<Vec<usize>> = Vec::with_capacity(plan.nodes.len());
    for node in plan.nodes.values() {
        let edges = node.edges.iter().filter(|edge| {
            node.routing == Routing::All
                && edge.max_traversals.is_none()
                && !moves_on(plan, node, edge)
        });
        ways.push(edges.filter_map(place).collect());
    }
    for exit in plan.loops.values().flat_map(|region| &region.exits) {
        let to = exit.to.as_ref().and_then(|to| plan.nodes.get_index_of(to));
        let from = plan.nodes.get_index_of(&exit.from);
        let from = from.filter(|from| plan.nodes[*from].routing == Routing::All);
        if let (Some(from), Some(to)) = (from, to) {
            ways[from].push(to);
        }
    }
    ways
}

/// Whether an edge is only taken after the loop around it has moved to its next item.
fn moves_on(plan: &Plan, node: &Node, edge: &Edge) -> bool {
    let Some(region) = node.loops.last() else { return false };
    let listed =
        plan.loops.get(region).is_some_and(|it| it.consumes.is_some() || it.items.is_some());
    let stays = edge.to.as_ref().and_then(|to| plan.nodes.get(to));
    let stays = stays.is_some_and(|to| to.loops.contains(region));
    let moved = node.advance.is_some_and(|when| when == Condition::Always || when == edge.when);
    listed && stays && moved
}

/// The sockets that can be reached from one, itself only over a cycle.
fn reached(ways: &[Vec<usize>], from: usize) -> Vec<bool> {
    let mut reached = vec![false; ways.len()];
    let mut open = ways[from].clone();
    while let Some(next) = open.pop() {
        if !std::mem::replace(&mut reached[next], true) {
            open.extend(&ways[next]);
        }
    }
    reached
}
