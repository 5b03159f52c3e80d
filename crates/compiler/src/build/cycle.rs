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
    let mut circles = Circles::of(&ways(plan));
    for (index, (id, node)) in plan.nodes.iter().enumerate() {
        let turns = node.budgets.and_then(|budgets| budgets.turns);
        if node.routing != Routing::All || turns.is_some() {
            continue;
        }
        let Some(on_it) = circles.take(index) else { continue };
        let message = format!(
            "{} can go round for ever; a person is asked after {} turns of `{id}` (`limits.maxCycleTurns`)",
            named(plan, &on_it),
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

/// The sockets that can be reached from some, and these.
fn reached(ways: &[Vec<usize>], from: Vec<usize>) -> Vec<bool> {
    let mut reached = vec![false; ways.len()];
    let mut open = from;
    while let Some(next) = open.pop() {
        if !std::mem::replace(&mut reached[next], true) {
            open.extend(&ways[next]);
        }
    }
    reached
}

/// The same ways, walked backwards.
fn reversed(ways: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut back = vec![Vec::new(); ways.len()];
    for (from, list) in ways.iter().enumerate() {
        for to in list {
            back[*to].push(from);
        }
    }
    back
}

/// Groups of sockets that can all reach each other (strongly connected components) and that have a cycle.
struct Circles {
    /// For each socket, the place of its group.
    group: Vec<usize>,
    /// The sockets of each group that has a cycle, until `take` returns them; otherwise empty.
    groups: Vec<Vec<usize>>,
}

impl Circles {
    /// By Kosaraju's algorithm: in the order in which a walk is done with the sockets, the last one first, a walk
    /// backwards finds the group of each. Linear in sockets and ways.
    fn of(ways: &[Vec<usize>]) -> Self {
        let back = reversed(ways);
        let mut group = vec![usize::MAX; ways.len()];
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for start in done_with(ways).into_iter().rev() {
            if group[start] != usize::MAX {
                continue;
            }
            let mut members = Vec::new();
            let mut open = vec![start];
            group[start] = groups.len();
            while let Some(at) = open.pop() {
                members.push(at);
                for from in &back[at] {
                    if group[*from] == usize::MAX {
                        group[*from] = groups.len();
                        open.push(*from);
                    }
                }
            }
            let goes_round = members.len() > 1 || ways[start].contains(&start);
            members.sort_unstable();
            groups.push(if goes_round { members } else { Vec::new() });
        }
        Self { group, groups }
    }

    /// The cycle that a socket is on, in the order of the sockets; each cycle is given out once.
    fn take(&mut self, index: usize) -> Option<Vec<usize>> {
        let members = std::mem::take(&mut self.groups[self.group[index]]);
        (!members.is_empty()).then_some(members)
    }
}

/// All sockets, each after those that a walk in depth finds from it.
fn done_with(ways: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; ways.len()];
    let mut done = Vec::with_capacity(ways.len());
    for start in 0..ways.len() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        // With a stack of its own: a chain may be long.
        let mut open = vec![(start, 0)];
        while let Some((at, next)) = open.last_mut() {
            let Some(to) = ways[*at].get(*next).copied() else {
                done.push(*at);
                open.pop();
                continue;
            };
            *next += 1;
            if !std::mem::replace(&mut seen[to], true) {
                open.push((to, 0));
            }
        }
    }
    done
}

/// Reports sockets that wait for each other by `dependsOn`: none of them ever begins by itself.
pub(super) fn find_dependency_circles(scope: &Scope<'_>, plan: &Plan, faults: &mut Faults) {
    let places = |node: &Node| {
        let named = node.depends_on.iter();
        named.filter_map(|id| plan.nodes.get_index_of(id)).collect::<Vec<usize>>()
    };
    let needed: Vec<Vec<usize>> = plan.nodes.values().map(places).collect();
    let mut circles = Circles::of(&needed);
    for (index, (id, _)) in plan.nodes.iter().enumerate() {
        let Some(on_it) = circles.take(index) else { continue };
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
    let ends = plan.nodes.values().enumerate().filter(|(_, node)| may_end(plan, node));
    let leads_out = reached(&reversed(&ways), ends.map(|(index, _)| index).collect());
    let mut circles = Circles::of(&ways);
    let mut told = vec![false; plan.nodes.len()];
    for (index, (id, _)) in plan.nodes.iter().enumerate() {
        if leads_out[index] || told[index] || circles.take(index).is_none() {
            continue;
        }
        let ahead = reached(&ways, vec![index]);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Whether one leads to another, over at least one way.
    fn leads(ways: &[Vec<usize>], from: usize, to: usize) -> bool {
        reached(ways, ways[from].clone())[to]
    }

    proptest! {
        #[test]
        fn circles_are_the_sockets_that_can_reach_each_other(
            ways in (1_usize..9).prop_flat_map(|count| {
                prop::collection::vec(prop::collection::vec(0..count, 0..3), count)
            })
        ) {
            let mut circles = Circles::of(&ways);
            let mut given = vec![false; ways.len()];
            for index in 0..ways.len() {
                let expected: Vec<usize> = (0..ways.len())
                    .filter(|other| leads(&ways, index, *other) && leads(&ways, *other, index))
                    .collect();
                let expected = (!given[index] && !expected.is_empty()).then_some(expected);
                for member in expected.iter().flatten() {
                    given[*member] = true;
                }
                prop_assert_eq!(circles.take(index), expected);
            }
        }
    }
}
