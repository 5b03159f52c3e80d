//! Loops: regions of a loadout that run once for each work item.
//!
//! They are read before the sockets, because the `exit` of a loop can make one of its members advance, and checked
//! again once the sockets are known.
//!
//! Deliberately absent: how a loop runs. A plan only holds the members of each loop, the source of its list and its
//! exits.

mod check;
mod exit;
mod nest;

use std::collections::{HashMap, HashSet};

use indexmap::{IndexMap, IndexSet};
use materia_contract::{Condition, Exit as PlannedExit, Loop, LoopDoc, NodeId};

pub(super) use check::check;
use exit::Exit;

use super::Place;
use super::loadout::Scope;
use super::socket::Draft;
use crate::fault::{Fault, Faults};

/// The cursor of a loop whose members name none.
const CURSOR_DEFAULT: &str = "workItemIndex";
/// The only output that a loop consumes.
const OUTPUT: &str = "workItems";

/// A loop as far as it could be read.
pub(super) struct Region<'a> {
    pub(super) id: &'a str,
    pub(super) exits: Vec<Exit<'a>>,
    doc: &'a LoopDoc,
    place: Place,
    /// As listed; that they exist has been looked at.
    members: IndexSet<&'a str>,
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

    /// The socket drafts that move each loop, in the order of the loops.
    fn movers<'d, 's>(&self, sockets: &'d [Draft<'s>]) -> Vec<Vec<&'d Draft<'s>>> {
        let mut movers: Vec<Vec<&Draft<'_>>> = self.list.iter().map(|_| Vec::new()).collect();
        for socket in sockets.iter().filter(|socket| socket.advance.is_some()) {
            if let Some(place) = self.around(socket.id).last() {
                movers[*place].push(socket);
            }
        }
        movers
    }

    /// The loops of the plan; `None` if something in them could not be read.
    pub(super) fn planned(&self, sockets: &[Draft<'_>]) -> Option<IndexMap<String, Loop>> {
        let movers = self.movers(sockets);
        let planned = self.list.iter().zip(movers).map(|(region, movers)| {
            let exits = region.exits.iter().map(|exit| planned_exit(region.id, exit));
            let mut advances = movers.iter().filter_map(|socket| socket.advance.as_ref());
            let cursor = advances.clone().find_map(|advance| advance.cursor);
            let planned = Loop {
                members: region.members.iter().map(NodeId::new).collect(),
                consumes: region.doc.consumes.as_ref().map(|one| NodeId::new(&one.from)),
                // The generator's list is what counts where there is one (D39).
                items: if region.consumes() {
                    None
                } else {
                    advances.find_map(|advance| advance.items.clone())
                },
                cursor: cursor.unwrap_or(CURSOR_DEFAULT).to_owned(),
                exits: exits.collect::<Option<_>>()?,
            };
            Some((region.id.to_owned(), planned))
        });
        planned.collect()
    }
}

fn planned_exit(region: &str, exit: &Exit<'_>) -> Option<PlannedExit> {
    let (to, fails) = exit.to.planned()?;
    Some(PlannedExit {
        id: exit.id.clone(),
        edge_id: exit.edge_id(region),
        from: NodeId::new(exit.from),
        condition: exit.condition,
        to,
        fails,
    })
}
