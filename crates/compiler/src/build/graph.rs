//! What only the whole graph shows: ids that clash, sockets nobody leads to.

use std::collections::{HashMap, HashSet};

use materia_contract::{EdgeId, Trigger};

use super::edge::Target;
use super::loadout::Scope;
use super::socket::Draft;
use crate::fault::{Fault, Faults};

/// Gives every edge its id: the written one, or `FROM->TO`, with `#2`, `#3` for further ones
/// that are not named either. The lists are in the order of the sockets and their edges.
pub(super) fn edge_ids(sockets: &[Draft<'_>], faults: &mut Faults) -> Vec<Vec<EdgeId>> {
    let mut ids = Vec::new();
    let mut taken: HashSet<String> = HashSet::new();
    let mut unnamed: HashMap<String, u32> = HashMap::new();
    for socket in sockets {
        let mut of_socket = Vec::new();
        for edge in &socket.edges {
            let id = edge.doc.id.clone().unwrap_or_else(|| {
                let base = format!("{}->{}", socket.id, edge.to.word());
                let count = unnamed.entry(base.clone()).or_default();
                *count += 1;
                if *count == 1 { base } else { format!("{base}#{count}") }
            });
            let place =
                if edge.doc.id.is_some() { edge.place.child("id") } else { edge.place.clone() };
            if id.is_empty() {
                let fault = Fault::error("graph::bad-id", "an edge id cannot be empty");
                faults.push(place.mark(fault).help("name it, or leave `id` out"));
            } else if edge.to != Target::Unknown && !taken.insert(id.clone()) {
                let message = format!("two edges have the id `{id}`");
                let fault = Fault::error("graph::duplicate-edge-id", message);
                faults.push(place.mark(fault).help("ids are unique in a loadout; rename one"));
            }
            of_socket.push(EdgeId::new(id));
        }
        ids.push(of_socket);
    }
    ids
}

/// Reports sockets that no way leads to from the entry.
///
/// Says nothing where an edge could not be read: it might be the one that leads there. Sockets
/// that a person or a clock starts need no way.
pub(super) fn find_unreachable(
    scope: &Scope<'_>,
    entry: &str,
    sockets: &[Draft<'_>],
    faults: &mut Faults,
) {
    if sockets.iter().any(|socket| socket.edges.iter().any(|edge| !edge.whole)) {
        return;
    }
    let by_id: HashMap<&str, &Draft<'_>> = sockets.iter().map(|one| (one.id, one)).collect();
    let by_themselves = sockets.iter().filter(|socket| match socket.doc.trigger {
        Some(Trigger::ManualOnly | Trigger::Scheduled) => true,
        Some(Trigger::OnAnyInput) | None => false,
    });
    let exits = scope.loadout.loops.values().flat_map(|region| &region.exits);
    let mut open: Vec<&str> = vec![entry];
    open.extend(by_themselves.map(|socket| socket.id));
    open.extend(exits.map(|exit| exit.target_socket_id.as_str()));
    let mut reached: HashSet<&str> = HashSet::new();
    while let Some(id) = open.pop() {
        let Some(socket) = by_id.get(id).filter(|_| reached.insert(id)) else { continue };
        for edge in socket.edges.iter().filter(|edge| !edge.shadowed) {
            if let Target::Socket(next) = &edge.to
                && let Some((next, _)) = by_id.get_key_value(next.as_str())
            {
                open.push(next);
            }
        }
    }
    for socket in sockets.iter().filter(|socket| !reached.contains(socket.id)) {
        let message = format!("no way leads from the entry `{entry}` to socket `{}`", socket.id);
        let fault = Fault::warning("graph::unreachable-socket", message);
        faults.push(socket.place.mark(fault).help("lead an edge to it, or remove it"));
    }
}
