//! Loops: regions of a loadout that run once for each work item.
//!
//! They are read before the sockets, because the `exit` of a loop can make one of its members advance, and checked
//! again once the sockets are known.
//!
//! Deliberately absent: how a loop runs. A plan only holds the members of each loop, the source of its list and its
//! exits.

mod exit;
mod nest;

use std::collections::{HashMap, HashSet};

use indexmap::IndexSet;
use materia_contract::{Condition, LoopDoc};

pub(super) use exit::Exit;

use super::Place;
use super::built::Scope;
use crate::fault::{Fault, Faults};

/// The only output that a loop consumes.
const OUTPUT: &str = "workItems";

/// A loop as far as it could be read.
pub(super) struct Region<'a> {
    pub(super) id: &'a str,
    pub(super) exits: Vec<Exit<'a>>,
    pub(super) doc: &'a LoopDoc,
    pub(super) place: Place,
    /// As listed; that they exist has been looked at.
    pub(super) members: IndexSet<&'a str>,
    /// Whether all of it could be read.
    pub(super) whole: bool,
}

impl Region<'_> {
    /// Whether a generator gives its list.
    pub(super) fn consumes(&self) -> bool {
        self.doc.consumes.is_some()
    }

    /// The member that the author listed first.
    pub(super) fn first(&self) -> &str {
        self.members.first().copied().unwrap_or_default()
    }
}

/// The loops of a loadout.
pub(super) struct Regions<'a> {
    pub(super) list: Vec<Region<'a>>,
    /// For each member the loops around it, the outermost first.
    around: HashMap<&'a str, Vec<usize>>,
    mentioned: HashSet<&'a str>,
    /// Whether the members of all loops could be read.
    clear: bool,
}

/// Reads the loops and reports what is wrong with them by themselves.
pub(super) fn read<'a>(scope: &Scope<'a>, faults: &mut Faults) -> Regions<'a> {
    let owner = scope.place.child("loops");
    let loops = scope.loadout.loops.iter();
    let list: Vec<_> =
        loops.map(|(id, doc)| region(scope, id, doc, owner.child(id), faults)).collect();
    let readable = |one: &Region<'_>| !one.place.child("sockets").is_mended(scope.loaded);
    let clear = !owner.is_replaced(scope.loaded) && list.iter().all(readable);
    let around = nest::around(&list, readable, faults);
    let mentioned = list.iter().flat_map(|region| &region.members).copied().collect();
    Regions { list, around, mentioned, clear }
}

fn region<'a>(
    scope: &Scope<'a>,
    id: &'a str,
    doc: &'a LoopDoc,
    place: Place,
    faults: &mut Faults,
) -> Region<'a> {
    let errors = faults.errors();
    if id.is_empty() {
        let fault = Fault::error("graph::bad-id", "the name of a loop cannot be empty");
        faults.push(place.mark(fault).help("name it after what it repeats"));
    }
    let members = members(scope, id, doc, &place, faults);
    generator(scope, id, doc, &place, faults);
    let exits = exit::read(scope, id, doc, &members, &place, faults);
    let whole = faults.errors() == errors && !place.is_mended(scope.loaded);
    Region { id, exits, doc, place, members, whole }
}

fn members<'a>(
    scope: &Scope<'a>,
    id: &str,
    doc: &'a LoopDoc,
    owner: &Place,
    faults: &mut Faults,
) -> IndexSet<&'a str> {
    let list = owner.child("sockets");
    if doc.sockets.is_empty() && !list.is_mended(scope.loaded) {
        let fault = Fault::error("loop::no-sockets", format!("loop `{id}` has no sockets"));
        let help = "list the sockets that run once for each item in `sockets`";
        faults.push(owner.mark(fault).help(help));
    }
    for (index, name) in doc.sockets.iter().enumerate() {
        let place = list.child(&index.to_string());
        if !scope.loadout.sockets.contains_key(name) && !place.is_mended(scope.loaded) {
            let message =
                format!("loop `{id}` lists `{name}`, which is no socket of `{}`", scope.name);
            let fault = place.mark(Fault::error("loop::unknown-member", message));
            faults.push_with(fault, |fault| fault.help(scope.socket_help(name, None)));
        }
    }
    doc.sockets.iter().map(String::as_str).collect()
}

/// Checks where the list comes from (G8).
fn generator(scope: &Scope<'_>, id: &str, doc: &LoopDoc, owner: &Place, faults: &mut Faults) {
    let Some(consumes) = &doc.consumes else { return };
    let (name, place) = (&consumes.from, owner.child("consumes").child("from"));
    let output = owner.child("consumes").child("output");
    if consumes.output != OUTPUT && !output.is_mended(scope.loaded) {
        let message =
            format!("loop `{id}` consumes `{}`, which no generator gives", consumes.output);
        let fault = output.mark(Fault::error("loop::bad-output", message));
        faults.push(fault.help(format!("write \"{OUTPUT}\"")));
    }
    if place.is_mended(scope.loaded) {
        return;
    }
    let Some(socket) = scope.loadout.sockets.get(name) else {
        let message = format!("loop `{id}` consumes what `{name}` gives, which is no socket here");
        let fault = place.mark(Fault::error("loop::unknown-generator", message));
        faults.push_with(fault, |fault| fault.help(scope.socket_help(name, None)));
        return;
    };
    if doc.sockets.contains(name) {
        let message =
            format!("`{name}` gives loop `{id}` its list and is inside it, so it never runs");
        let fault = Fault::error("loop::generator-inside", message);
        faults.push(place.mark(fault).help("take it out of `sockets`; it runs before the loop"));
    }
    let Some((materia, built)) =
        socket.materia.as_deref().and_then(|name| scope.built.get_key_value(name))
    else {
        return;
    };
    if !built.generator() && !built.place.child("generator").is_mended(scope.loaded) {
        let message = format!("loop `{id}` consumes what `{name}` gives, which is no generator");
        let help = format!("add `\"generator\": true` to materia `{materia}`");
        faults.push(place.mark(Fault::error("loop::not-a-generator", message)).help(help));
    }
}

impl<'a> Regions<'a> {
    /// The places in the list of the loops around a socket, the outermost first.
    pub(super) fn around(&self, id: &str) -> &[usize] {
        self.around.get(id).map_or(&[], Vec::as_slice)
    }

    /// The loop that an `advance` of this socket moves.
    pub(super) fn innermost(&self, id: &str) -> Option<&Region<'a>> {
        self.around(id).last().map(|place| &self.list[*place])
    }

    /// Whether it is certain that a socket is in no loop.
    pub(super) fn is_outside(&self, id: &str) -> bool {
        self.clear && !self.mentioned.contains(id)
    }

    /// When the `exit` of its loop makes a socket advance, and where that is written.
    pub(super) fn implied(&self, id: &str) -> Option<(Condition, Place)> {
        let region = self.innermost(id).filter(|region| region.consumes())?;
        let short = region.doc.exit.as_ref().filter(|short| short.from == id)?;
        Some((short.when.unwrap_or(Condition::Always), region.place.child("exit")))
    }

    /// The names of the loops around a socket, the outermost first.
    pub(super) fn names(&self, id: &str) -> Vec<String> {
        self.around(id).iter().map(|place| self.list[*place].id.to_owned()).collect()
    }
}
