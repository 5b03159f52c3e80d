//! Circles: of dataflow that nothing bounds (D23), of steps that no way leads out of (D22), of sockets that
//! wait for each other.

use materia_contract::{Condition, Edge, Node, Plan, Routing, Trigger};

use super::built::Scope;
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

/// Reports scheduled sockets whose ticks no budget of turns ends.
pub(super) fn find_ticking(scope: &Scope<'_>, plan: &Plan, faults: &mut Faults) {
    if plan.budget.max_turns.is_some() {
        return;
    }
    for (id, node) in &plan.nodes {
        let turns = node.budgets.and_then(|budgets| budgets.turns);
        let ticks = node.interval_ms.is_some_and(|interval| interval > 0) || node.cron.is_some();
        if node.trigger != Trigger::Scheduled || !ticks || turns.is_some() {
            continue;
        }
        let message = format!("`{id}` ticks without end: nothing bounds its turns");
        let fault = Fault::warning("graph::no-bound", message);
        let help = "give the socket `budgets.turns`, or the configuration a `budget.maxTurns`";
        faults.push(scope.place.child("sockets").child(id.as_str()).mark(fault).help(help));
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

/// Reports sockets that wait for each other by `dependsOn`: none of them ever begins by itself.
pub(super) fn find_dependency_circles(scope: &Scope<'_>, plan: &Plan, faults: &mut Faults) {
    let places = |node: &Node| {
        let named = node.depends_on.iter();
        named.filter_map(|id| plan.nodes.get_index_of(id)).collect::<Vec<usize>>()
    };
    let needed: Vec<Vec<usize>> = plan.nodes.values().map(places).collect();
    let mut told = vec![false; plan.nodes.len()];
    for (index, (id, _)) in plan.nodes.iter().enumerate() {
        let ahead = reached(&needed, index);
        if told[index] || !ahead[index] {
            continue;
        }
        let on_it: Vec<usize> = (0..plan.nodes.len())
            .filter(|other| ahead[*other] && reached(&needed, *other)[index])
            .collect();
        for other in &on_it {
            told[*other] = true;
        }
        let message = match on_it.as_slice() {
            [_] => format!("socket `{id}` depends on itself and so never begins"),
            _ => format!("{} depend on each other, so none of them begins", named(plan, &on_it)),
        };
        let fault = Fault::error("graph::dependency-circle", message);
        let place = scope.place.child("sockets").child(id.as_str()).child("dependsOn");
        faults.push(place.mark(fault).help("leave one of them out of a `dependsOn`"));
    }
}

/// Reports steps of a state machine that lead round and never to an end: such a cast can only fail.
pub(super) fn find_endless(scope: &Scope<'_>, plan: &Plan, faults: &mut Faults) {
    let place = |edge: &Edge| edge.to.as_ref().and_then(|to| plan.nodes.get_index_of(to));
    let ways: Vec<Vec<usize>> = plan
        .nodes
        .values()
        .map(|node| node.edges.iter().chain(&node.on_failure).filter_map(place).collect())
        .collect();
    let ends: Vec<bool> = plan.nodes.values().map(|node| may_end(plan, node)).collect();
    let mut told = vec![false; plan.nodes.len()];
    for (index, (id, _)) in plan.nodes.iter().enumerate() {
        let mut ahead = reached(&ways, index);
        if told[index] || !ahead[index] {
            continue;
        }
        ahead[index] = true;
        if ahead.iter().zip(&ends).any(|(reached, ends)| *reached && *ends) {
            continue;
        }
        let on_it: Vec<usize> = (0..plan.nodes.len()).filter(|other| ahead[*other]).collect();
        for other in &on_it {
            told[*other] = true;
        }
        let message = match on_it.as_slice() {
            [_] => format!("socket `{id}` leads to itself and nowhere else"),
            _ => format!("{} lead round in a circle, and no way leads out", named(plan, &on_it)),
        };
        let message = format!(
            "{message}: the cast fails as no_advance after {} rounds (`limits.maxNoAdvanceCycles`)",
            plan.limits.max_no_advance_cycles
        );
        let fault = Fault::warning("graph::no-end", message);
        let help = "guard an edge of the circle with `when`, and give another one that leads on or to `end`";
        faults.push(scope.place.child("sockets").child(id.as_str()).mark(fault).help(help));
    }
}

/// Whether a cast can complete at this socket, or another check covers it.
fn may_end(plan: &Plan, node: &Node) -> bool {
    let leads_to_end = node.edges.iter().any(|edge| edge.to.is_none());
    let may_not_match =
        !node.edges.iter().any(|edge| edge.when == Condition::Always && edge.guard.is_none());
    let both = [Condition::Satisfied, Condition::NotSatisfied];
    let covered = both
        .iter()
        .all(|when| node.edges.iter().any(|edge| edge.when == *when && edge.guard.is_none()));
    // A loop that is done is left by its exit, or ends.
    let moves = node.advance.is_some() && !node.loops.is_empty();
    let inside = node.loops.iter().any(|region| plan.loops.contains_key(region));
    node.edges.is_empty()
        || leads_to_end
        || (may_not_match && !covered)
        || moves
        || inside
        || node.foreach.is_some()
        || node.multi_turn
        || node.routing == Routing::All
}

/// Sockets by their names.
fn named(plan: &Plan, places: &[usize]) -> String {
    let ids = places.iter().filter_map(|place| plan.nodes.get_index(*place));
    ids.map(|(id, _)| format!("`{id}`")).collect::<Vec<_>>().join(", ")
}
