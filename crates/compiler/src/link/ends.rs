//! Ends of a plan (D30).
//!
//! Only sockets that are reachable from the entry count. A plan ends at a socket without edges, with an edge to `end`
//! or with edges that may all fail, and at a loop without an exit, or whose only exits lead to `end`.

use std::collections::{HashMap, HashSet};

use materia_contract::{Condition, Edge, Exit, Loop, Node, NodeId, Plan, Routing, TargetKind};

use super::resolve::Target;
use crate::build::ways::{self, Way};
use crate::fault::{Fault, Faults};
use crate::layers::Loaded;
use crate::locate::pointer;

/// Help for a choice that no option makes yet.
const NO_MAPPING: &str =
    "choosing the sockets by hand (explicit socket mapping) does not exist yet";

/// A place where a plan can end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Terminal<'p> {
    Socket(&'p NodeId),
    Loop(&'p str),
}

impl Terminal<'_> {
    fn shown(&self, target: &Target<'_>) -> String {
        match self {
            Self::Socket(id) => target.socket(id.as_str()),
            Self::Loop(id) => format!("loop `{}.{id}`", target.name),
        }
    }
}

/// Reports each target that does not lead to the one behind it from exactly one place (L8).
pub(super) fn check(
    loaded: &Loaded,
    targets: &[Option<Target<'_>>],
    plans: &[Option<Plan>],
    faults: &mut Faults,
) {
    let entries = targets.iter().zip(plans).skip(1);
    for ((target, plan), (next, next_plan)) in targets.iter().zip(plans).zip(entries) {
        let (Some(target), Some(plan)) = (target, plan) else { continue };
        let entry = entry(next.as_ref(), next_plan.as_ref());
        let fault = match terminals(plan).as_slice() {
            [Terminal::Socket(id)] if ends_silently(plan) && unstitchable(&plan.nodes[*id]) => {
                unclear(target, id, &entry)
            }
            [_] => continue,
            [] => endless(target, &entry),
            several => undecided(target, several, &entry),
        };
        let place = pointer([section(target), target.name]);
        faults.push(match loaded.origins.of(&place) {
            Some(layer) => fault.at(layer, &place),
            None => fault,
        });
    }
}

/// Where the next target begins, as far as that is known.
fn entry(target: Option<&Target<'_>>, plan: Option<&Plan>) -> String {
    match (target, plan) {
        (Some(target), Some(plan)) => target.socket(plan.entry.as_str()),
        (Some(target), _) => target.shown(),
        (None, _) => "the next target".to_owned(),
    }
}

pub(super) fn section(target: &Target<'_>) -> &'static str {
    match target.kind {
        TargetKind::Materia => "materia",
        TargetKind::Loadout => "loadouts",
    }
}

fn endless(target: &Target<'_>, entry: &str) -> Fault {
    let message = format!(
        "{} has no socket and no loop at which it ends, so nothing leads on to {entry}; {NO_MAPPING}",
        target.shown()
    );
    let help = "let one of its sockets lead to `end`, or make it the last target";
    Fault::error("link::no-terminal", message).help(help)
}

fn undecided(target: &Target<'_>, ends: &[Terminal<'_>], entry: &str) -> Fault {
    let named: Vec<String> = ends.iter().map(|end| end.shown(target)).collect();
    let message = format!(
        "{} can end at {}, and only one of them could lead on to {entry}; {NO_MAPPING}",
        target.shown(),
        named.join(", ")
    );
    let help =
        "let it end at one socket, make it the last target, or cast the parts one after the other";
    Fault::error("link::several-terminals", message).help(help)
}

fn unclear(target: &Target<'_>, id: &NodeId, entry: &str) -> Fault {
    let socket = target.socket(id.as_str());
    let message = format!(
        "{} ends at {socket} when none of its edges match, but {socket} takes every edge that matches, so none can stand for that and lead on to {entry}; {NO_MAPPING}",
        target.shown()
    );
    let help = format!("give `{id}` an edge to `end` for the results that end it");
    Fault::error("link::invalid-graph", message).help(help)
}

/// The places where a plan can end: its sockets in order, then its loops. A socket that takes every matching edge and
/// may match none has no output then (D38): it is one only where nothing else is.
pub(super) fn terminals(plan: &Plan) -> Vec<Terminal<'_>> {
    let firm = firm(plan);
    if firm.is_empty() { silent(plan) } else { firm }
}

/// Whether a plan ends only where a socket that takes every matching edge matches none.
pub(super) fn ends_silently(plan: &Plan) -> bool {
    firm(plan).is_empty()
}

fn silent(plan: &Plan) -> Vec<Terminal<'_>> {
    let reached = reached(plan);
    let nodes = plan.nodes.iter().filter(|(id, _)| reached.contains(id.as_str()));
    nodes.filter(|(_, node)| may_match_none(node)).map(|(id, _)| Terminal::Socket(id)).collect()
}

fn firm(plan: &Plan) -> Vec<Terminal<'_>> {
    let reached = reached(plan);
    let nodes = plan.nodes.iter().filter(|(id, _)| reached.contains(id.as_str()));
    let sockets = nodes.filter(|(_, node)| may_end(node)).map(|(id, _)| Terminal::Socket(id));
    let loops = plan.loops.iter().filter(|(_, region)| {
        region.members.iter().any(|member| reached.contains(member.as_str()))
            && walks_list(region)
            && leads_nowhere(region)
    });
    sockets.chain(loops.map(|(id, _)| Terminal::Loop(id))).collect()
}

/// Whether a loop leads to no socket when its list is exhausted, and not to `fail` whatever its result is.
fn leads_nowhere(region: &Loop) -> bool {
    let always_fails =
        region.exits.iter().any(|exit| exit.fails && exit.condition == Condition::Always);
    region.exits.iter().all(|exit| exit.to.is_none())
        && (!always_fails || region.exits.iter().any(Exit::ends))
}

/// Whether a loop has a list: one without is never exhausted, and so never leads anywhere.
pub(super) fn walks_list(region: &Loop) -> bool {
    region.consumes.is_some() || region.items.is_some()
}

/// The members that move a loop on.
pub(super) fn movers<'p>(
    plan: &'p Plan,
    id: &'p str,
    region: &'p Loop,
) -> impl Iterator<Item = &'p NodeId> {
    region.members.iter().filter(move |member| {
        let node = plan.nodes.get(*member);
        node.is_some_and(|node| {
            node.advance.is_some() && node.loops.last().is_some_and(|inner| inner == id)
        })
    })
}

fn may_end(node: &Node) -> bool {
    node.edges.is_empty()
        || live(node).chain(&node.on_failure).any(Edge::ends)
        || (node.routing == Routing::First && may_match_none(node))
}

/// Whether a result can match no edge of a node that has some.
pub(super) fn may_match_none(node: &Node) -> bool {
    !node.edges.is_empty() && ways::may_all_fail(&asked(node), asks(node))
}

/// Whether a node takes every matching edge and none could stand for the case that none matches.
fn unstitchable(node: &Node) -> bool {
    node.routing == Routing::All && may_match_none(node) && missing(node).is_none()
}

/// The conditions of edges that would be taken exactly where a node that takes every matching
/// edge takes none; `None` where no such conditions can be written.
pub(super) fn missing(node: &Node) -> Option<Vec<Condition>> {
    let asked = asked(node);
    let missing: Vec<Condition> = ways::uncovered(&asked, asks(node)).collect();
    let matched_by_some = |verdict: &Condition| ways::matching(&asked, *verdict).next().is_some();
    (!missing.iter().any(matched_by_some)).then_some(missing)
}

fn asked(node: &Node) -> Vec<Way<'_>> {
    let edges = node.edges.iter();
    edges.map(|edge| Way { when: edge.when, guard: edge.guard.as_ref() }).collect()
}

fn asks(node: &Node) -> bool {
    node.advance.is_some_and(|when| when != Condition::Always)
}

/// The edges that can be taken: behind one that always matches, none can.
fn live(node: &Node) -> impl Iterator<Item = &Edge> {
    let shadowed = match node.routing {
        Routing::First => ways::shadowed(asked(node).into_iter()),
        Routing::All => vec![false; node.edges.len()],
    };
    node.edges.iter().zip(shadowed).filter(|(_, shadowed)| !shadowed).map(|(edge, _)| edge)
}

/// The nodes that can be reached from the entry. A run that enters a loop may leave it by any of its exits: an empty
/// loop runs no member.
pub(super) fn reached(plan: &Plan) -> HashSet<&str> {
    let loops: HashMap<&str, &Loop> =
        plan.loops.iter().map(|(id, region)| (id.as_str(), region)).collect();
    let mut open: Vec<&str> = vec![plan.entry.as_str()];
    let mut reached = HashSet::new();
    while let Some(id) = open.pop() {
        let Some(node) = plan.nodes.get(id).filter(|_| reached.insert(id)) else { continue };
        let ways = live(node).chain(&node.on_failure);
        open.extend(ways.filter_map(|edge| edge.to.as_ref()).map(NodeId::as_str));
        for region in node.loops.iter().filter_map(|id| loops.get(id.as_str())) {
            open.extend(
                region.exits.iter().filter_map(|exit| exit.to.as_ref()).map(NodeId::as_str),
            );
        }
    }
    reached
}
