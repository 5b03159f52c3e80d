//! Sockets that the editor of the original system leaves behind: marked `empty`, with nothing placed.

use materia_contract::{Loadout, Socket};
use serde_json::Value;

/// Whether a socket is such a place and nothing leads there, so that it is no part of the graph. One
/// that something leads to needs a materia like any other.
pub(super) fn is_vacant(loadout: &Loadout, id: &str, doc: &Socket) -> bool {
    let empty = doc.materia.is_none() && doc.extra.get("empty") == Some(&Value::Bool(true));
    empty && !is_wanted(loadout, id)
}

fn is_wanted(loadout: &Loadout, id: &str) -> bool {
    let mut placed = loadout.sockets.values().filter(|socket| socket.materia.is_some());
    let mut loops = loadout.loops.values();
    loadout.entry.as_deref() == Some(id)
        || placed.any(|socket| socket.edges.iter().any(|edge| edge.to == id))
        || loops.any(|region| {
            region.sockets.iter().any(|member| member == id)
                || region.exits.iter().any(|exit| exit.target_socket_id == id)
                || region.exit.as_ref().is_some_and(|exit| exit.to.as_deref() == Some(id))
        })
}
