//! Leads every way to the end of one plan to the entry of the next (D30).
//!
//! The way to the end may be written (an edge, an exit) or not: no edge at all, no edge that
//! matches, a result of a loop that no exit covers, an empty list. Each unwritten one gets an edge
//! or an exit that stands behind all written ones and asks for nothing, so that it is taken
//! exactly where the plan would have ended.

use materia_contract::{Condition, Delivery, Edge, EdgeId, Exit, NodeId, Plan, Routing};

use super::ends;
use super::remap::exit_edge;

/// Stitches a plan to the socket `next`. New edges have no id yet.
pub(super) fn stitch(plan: &mut Plan, next: &NodeId) {
    let reached: Vec<bool> = {
        let reached = ends::reached(plan);
        plan.nodes.keys().map(|id| reached.contains(id.as_str())).collect()
    };
    let new_exits = new_exits(plan, &reached, next);
    let silent = ends::ends_silently(plan);
    for (node, _) in plan.nodes.values_mut().zip(&reached).filter(|(_, reached)| **reached) {
        let more = new_conditions(node, silent);
        let ways = node.edges.iter_mut().chain(&mut node.on_failure);
        for edge in ways.filter(|edge| edge.ends()) {
            edge.to = Some(next.clone());
        }
        node.edges.extend(more.into_iter().map(|when| Edge {
            id: EdgeId::new(""),
            when,
            guard: None,
            to: Some(next.clone()),
            fails: false,
            max_traversals: None,
            delivery: Delivery::default(),
        }));
    }
    for (region, more) in plan.loops.values_mut().zip(new_exits) {
        let Some(more) = more else { continue };
        for exit in region.exits.iter_mut().filter(|exit| exit.ends()) {
            exit.to = Some(next.clone());
        }
        region.exits.extend(more);
    }
}

/// The conditions of the edges that a node needs beside its own. `silent` says that the plan ends only where no edge
/// of a node matches that takes every one.
fn new_conditions(node: &materia_contract::Node, silent: bool) -> Vec<Condition> {
    match node.routing {
        Routing::First if node.edges.is_empty() || ends::may_match_none(node) => {
            vec![Condition::Always]
        }
        Routing::All if node.edges.is_empty() => vec![Condition::Always],
        Routing::All if silent && ends::may_match_none(node) => {
            ends::missing(node).unwrap_or_default()
        }
        Routing::First | Routing::All => Vec::new(),
    }
}

/// The exits that each loop needs beside its own; `None` for a loop that nothing leads to.
///
/// Every member that moves the loop needs one that is always taken (G14). Where none does, the loop
/// can still be empty, and then any member's counts (D20).
fn new_exits(plan: &Plan, reached: &[bool], next: &NodeId) -> Vec<Option<Vec<Exit>>> {
    let is_reached = |id: &NodeId| plan.nodes.get_index_of(id).is_some_and(|place| reached[place]);
    let of = |(id, region): (&String, &materia_contract::Loop)| {
        let first = region.members.iter().find(|member| is_reached(member))?;
        if !ends::walks_list(region) {
            return Some(Vec::new());
        }
        let always = |from: Option<&NodeId>| {
            region.exits.iter().any(|exit| {
                exit.condition == Condition::Always && from.is_none_or(|from| exit.from == *from)
            })
        };
        let movers: Vec<&NodeId> =
            ends::movers(plan, id, region).filter(|id| is_reached(id)).collect();
        let mut from: Vec<&NodeId> =
            movers.iter().copied().filter(|id| !always(Some(id))).collect();
        if movers.is_empty() && !always(None) {
            from.push(first);
        }
        let exits = from.into_iter().map(|from| {
            let exit = format!("linked:{from}");
            Exit {
                edge_id: exit_edge(id, &exit),
                id: exit,
                from: from.clone(),
                condition: Condition::Always,
                to: Some(next.clone()),
                fails: false,
            }
        });
        Some(exits.collect())
    };
    plan.loops.iter().map(of).collect()
}
