//! Checks of the whole graph: duplicate ids, unreachable sockets.

use std::collections::{HashMap, HashSet};

use materia_contract::{EdgeId, Trigger};

use super::region::Regions;
use super::socket::Draft;
use super::target::Target;
use crate::fault::{Fault, Faults};

/// Gives every edge of a socket its id: the written one, or `FROM->TO`, with `#2`, `#3` for further ones
/// that are not named either. The lists are in the order of the sockets and their edges. The
/// edges that stand for exits of loops have fixed ids, which nothing else may have.
pub(super) fn edge_ids(
    sockets: &[Draft<'_>],
    regions: &Regions<'_>,
    faults: &mut Faults,
) -> Vec<Vec<EdgeId>> {
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
                faults.push(place.mark(duplicate(&id)));
            }
            of_socket.push(EdgeId::new(id));
        }
        ids.push(of_socket);
    }
    for socket in sockets.iter().filter(|socket| socket.on_failure.is_some()) {
        let id = materia_contract::on_failure_edge(socket.id);
        if !taken.insert(id.to_string()) {
            faults.push(socket.place.child("onFailure").mark(duplicate(id.as_str())));
        }
    }
    for region in &regions.list {
        for exit in &region.exits {
            let id = exit.edge_id(region.id);
            if !taken.insert(id.to_string()) {
                faults.push(exit.place.mark(duplicate(id.as_str())));
            }
        }
    }
    ids
}

fn duplicate(id: &str) -> Fault {
    let fault = Fault::error("graph::duplicate-edge-id", format!("two edges have the id `{id}`"));
    fault.help("ids are unique in a loadout; rename one")
}

/// Reports sockets that are unreachable from the entry, except those that a person or a clock starts. Silent if an
/// edge or a loop could not be read. Entering a loop makes all its exits reachable: an empty loop runs no member.
pub(super) fn find_unreachable(
    entry: &str,
    sockets: &[Draft<'_>],
    regions: &Regions<'_>,
    faults: &mut Faults,
) {
    let whole = |socket: &Draft<'_>| {
        socket.edges.iter().all(|edge| edge.whole) && socket.on_failure != Some(Target::Unknown)
    };
    if !sockets.iter().all(whole) || !regions.list.iter().all(|region| region.whole) {
        return;
    }
    let by_id: HashMap<&str, &Draft<'_>> = sockets.iter().map(|one| (one.id, one)).collect();
    let by_themselves = sockets.iter().filter(|socket| match socket.doc.trigger {
        Some(Trigger::ManualOnly | Trigger::Scheduled) => true,
        Some(Trigger::OnAnyInput) | None => false,
    });
    let mut open: Vec<&str> = vec![entry];
    open.extend(by_themselves.map(|socket| socket.id));
    let mut reached: HashSet<&str> = HashSet::new();
    let mut entered: HashSet<usize> = HashSet::new();
    while let Some(id) = open.pop() {
        let Some(socket) = by_id.get(id).filter(|_| reached.insert(id)) else { continue };
        let edges = socket.edges.iter().filter(|edge| !edge.shadowed).map(|edge| &edge.to);
        open.extend(edges.chain(&socket.on_failure).filter_map(Target::socket));
        for at in regions.around(id).iter().filter(|at| entered.insert(**at)) {
            let exits = regions.list[*at].exits.iter().map(|exit| &exit.to);
            open.extend(exits.filter_map(Target::socket));
        }
    }
    for socket in sockets.iter().filter(|socket| !reached.contains(socket.id)) {
        let message = format!("no way leads from the entry `{entry}` to socket `{}`", socket.id);
        let fault = Fault::warning("graph::unreachable-socket", message);
        faults.push(socket.place.mark(fault).help("lead an edge to it, or remove it"));
    }
}
