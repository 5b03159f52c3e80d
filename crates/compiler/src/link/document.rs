//! A link as a loadout that can be saved: the same graph, written as an author would write it.
//!
//! What is written is compiled once more and must come to the very plan of the link; where it does not, there is none.

use std::sync::{Arc, OnceLock};

use materia_contract::{
    AdvanceDoc, Behavior, ConsumesDoc, EdgeDoc, EdgeId, ExitDoc, Loadout, LoopDoc, Node, NodeId,
    Plan, Socket,
};
use serde_json::Value;

use super::{Linked, resolve};
use crate::build::compile;
use crate::fault::Faults;
use crate::layers::{Loaded, WordFiles};

/// The loadout that does what a link does, where one can be written.
pub fn document(loaded: &Loaded, linked: &Linked) -> Option<Value> {
    let plan = &linked.compiled.plan;
    let mut written = Loadout { entry: Some(plan.entry.to_string()), ..Loadout::default() };
    for (place, target) in linked.link.targets.iter().enumerate() {
        let words = [target.reference()];
        let found = resolve::all(loaded, &words, &mut Faults::default());
        let source = found.into_iter().next()??;
        let names = Names {
            prefix: format!("{}-", place + 1),
            old: source.loadout.sockets.keys().cloned().collect(),
            new: &target.sockets,
        };
        for (old, new) in source.loadout.sockets.iter().zip(names.new) {
            let node = plan.nodes.get(new)?;
            written.sockets.insert(new.to_string(), socket(&names, old.1, node, plan)?);
        }
        for (old, region) in &source.loadout.loops {
            let id = format!("{}{old}", names.prefix);
            written.loops.insert(id.clone(), looped(&names, region, &id, plan)?);
        }
    }
    says_the_same(loaded, &written, plan).then(|| serde_json::to_value(&written).ok())?
}

/// The names of one target.
struct Names<'a> {
    prefix: String,
    old: Vec<String>,
    new: &'a [NodeId],
}

impl Names<'_> {
    fn socket(&self, old: &str) -> String {
        let place = self.old.iter().position(|known| known == old);
        let new = place.and_then(|place| self.new.get(place));
        new.map_or_else(|| old.to_owned(), ToString::to_string)
    }
}

fn socket(names: &Names<'_>, old: &Socket, node: &Node, plan: &Plan) -> Option<Socket> {
    let mut socket = old.clone();
    // Where it was drawn is no place in this graph.
    socket.extra.shift_remove("layout");
    let known = socket.edges.len();
    for (edge, built) in socket.edges.iter_mut().zip(&node.edges) {
        built.target().clone_into(&mut edge.to);
        edge.id = edge.id.take().map(|id| format!("{}{id}", names.prefix));
    }
    let more = node.edges.iter().skip(known).map(|built| EdgeDoc {
        when: Some(built.when),
        to: built.target().to_owned(),
        ..EdgeDoc::default()
    });
    socket.edges.extend(more);
    if let (Some(on_failure), Some(built)) = (&mut socket.on_failure, &node.on_failure) {
        built.target().clone_into(&mut on_failure.to);
    }
    for id in &mut socket.depends_on {
        *id = names.socket(id);
    }
    if let (Some(doc), Some(built)) = (&mut socket.foreach, &node.foreach) {
        doc.cursor = Some(built.cursor.clone());
    }
    if let (Some(advance), Some(region)) = (&mut socket.advance, node.loops.last()) {
        let cursor = Some(plan.loops.get(region)?.cursor.clone());
        *advance = AdvanceDoc { cursor, ..advance.clone() };
    }
    if let Behavior::Utility { params, .. } = &node.behavior {
        let renamed = node.socket_params.iter().filter_map(|name| Some((name, params.get(name)?)));
        for (name, value) in renamed {
            let own = socket.params.get_or_insert_default();
            own.insert(name.clone(), value.clone());
        }
    }
    Some(socket)
}

fn looped(names: &Names<'_>, old: &LoopDoc, id: &str, plan: &Plan) -> Option<LoopDoc> {
    let exits = plan.loops.get(id)?.exits.iter().map(|exit| ExitDoc {
        id: exit.id.clone(),
        from: exit.from.to_string(),
        condition: exit.condition,
        target_socket_id: exit.target().to_owned(),
        extra: materia_contract::Extra::default(),
    });
    let consumes = old
        .consumes
        .as_ref()
        .map(|from| ConsumesDoc { from: names.socket(&from.from), ..from.clone() });
    Some(LoopDoc {
        sockets: old.sockets.iter().map(|id| names.socket(id)).collect(),
        consumes,
        exits: exits.collect(),
        exit: None,
        extra: old.extra.clone(),
    })
}

/// Whether a loadout comes to this plan.
fn says_the_same(loaded: &Loaded, written: &Loadout, plan: &Plan) -> bool {
    let name = plan.loadout.clone();
    let mut config = loaded.config.clone();
    config.loadouts.insert(name.clone(), written.clone());
    let with = Loaded {
        layers: loaded.layers.clone(),
        config,
        settings: loaded.settings.clone(),
        origins: loaded.origins.clone(),
        project_dir: loaded.project_dir.clone(),
        profile_dir: loaded.profile_dir.clone(),
        original_profile_dir: loaded.original_profile_dir.clone(),
        errors: loaded.errors,
        words: WordFiles::default(),
        lowest: Arc::clone(&loaded.lowest),
        parts: OnceLock::new(),
    };
    let (compiled, _) = compile(&with, Some(&name));
    compiled.is_some_and(|compiled| plain(compiled.plan) == plain(plan.clone()))
}

/// A plan without source positions, and with edges named by their targets.
fn plain(mut plan: Plan) -> Plan {
    for node in plan.nodes.values_mut() {
        for (place, edge) in node.edges.iter_mut().enumerate() {
            edge.id = EdgeId::new(format!("{place}"));
        }
        if let Behavior::Agent { origin, .. } = &mut node.behavior {
            origin.clear();
        }
    }
    plan
}
