//! Exits of a loop (G13), and the short form of the original system.

use std::collections::HashSet;

use indexmap::IndexSet;
use materia_contract::{Condition, EdgeId, ExitDoc, ExitShorthandDoc, LoopDoc};

use crate::build::Place;
use crate::build::built::Scope;
use crate::build::target::{Target, target};
use crate::fault::{Fault, Faults};
use crate::suggest::did_you_mean;

/// An exit as far as it could be read.
pub(in crate::build) struct Exit<'a> {
    pub(in crate::build) id: String,
    pub(in crate::build) from: &'a str,
    pub(in crate::build) condition: Condition,
    pub(in crate::build) to: Target,
    pub(in crate::build) place: Place,
}

impl Exit<'_> {
    /// The id of the edge that is drawn for it (G19).
    pub(in crate::build) fn edge_id(&self, region: &str) -> EdgeId {
        EdgeId::new(format!("loop-exit:{region}:{}", self.id))
    }
}

/// Loop of an exit.
struct Owner<'a, 'o> {
    scope: &'o Scope<'a>,
    region: &'o str,
    members: &'o IndexSet<&'a str>,
}

/// Reads the exits of a loop.
pub(super) fn read<'a>(
    scope: &Scope<'a>,
    region: &str,
    doc: &'a LoopDoc,
    members: &IndexSet<&'a str>,
    place: &Place,
    faults: &mut Faults,
) -> Vec<Exit<'a>> {
    let owner = Owner { scope, region, members };
    let list = place.child("exits");
    let mut ids = HashSet::new();
    let mut exits = Vec::new();
    for (index, doc) in doc.exits.iter().enumerate() {
        let place = list.child(&index.to_string());
        let new = is_new_id(&owner, &doc.id, &place.child("id"), &mut ids, faults);
        let exit = written(&owner, doc, place, faults);
        if new {
            exits.push(exit);
        }
    }
    let short = doc.exit.as_ref();
    exits
        .extend(short.and_then(|doc| short_form(&owner, doc, place.child("exit"), &exits, faults)));
    exits
}

fn is_new_id<'a>(
    owner: &Owner<'_, '_>,
    id: &'a str,
    place: &Place,
    ids: &mut HashSet<&'a str>,
    faults: &mut Faults,
) -> bool {
    if place.is_mended(owner.scope.loaded) {
        return false;
    }
    if id.is_empty() {
        let fault = Fault::error("graph::bad-id", "the id of an exit cannot be empty");
        faults.push(place.mark(fault).help("name it, for example `exit:SOCKET:always`"));
        return false;
    }
    if !ids.insert(id) {
        faults.push(duplicate(owner, id, place));
        return false;
    }
    true
}

fn duplicate(owner: &Owner<'_, '_>, id: &str, place: &Place) -> Fault {
    let message = format!("loop `{}` has two exits with the id `{id}`", owner.region);
    let fault = Fault::error("loop::duplicate-exit", message);
    place.mark(fault).help("ids are unique in a loop; rename or remove one")
}

fn written<'a>(
    owner: &Owner<'a, '_>,
    doc: &'a ExitDoc,
    place: Place,
    faults: &mut Faults,
) -> Exit<'a> {
    check_from(owner, &doc.from, &place.child("from"), faults);
    let (to, field) = (&doc.target_socket_id, place.child("targetSocketId"));
    let to = target(owner.scope, "loop::exit-target", to, &field, faults);
    Exit { id: doc.id.clone(), from: &doc.from, condition: doc.condition, to, place }
}

/// The exit that the short form stands for; none where it leads to the end, where a loop ends
/// without one.
fn short_form<'a>(
    owner: &Owner<'a, '_>,
    doc: &'a ExitShorthandDoc,
    place: Place,
    exits: &[Exit<'a>],
    faults: &mut Faults,
) -> Option<Exit<'a>> {
    check_from(owner, &doc.from, &place.child("from"), faults);
    let condition = doc.when.unwrap_or(Condition::Always);
    let field = place.child("to");
    let to = match &doc.to {
        Some(to) => target(owner.scope, "loop::exit-target", to, &field, faults),
        None => Target::End,
    };
    if to == Target::End {
        return None;
    }
    let id = format!("exit:{}:{}", doc.from, condition.word());
    let exit = Exit { id, from: &doc.from, condition, to, place };
    match exits.iter().find(|other| other.id == exit.id) {
        None => Some(exit),
        Some(same)
            if (same.from, same.condition) == (exit.from, condition) && same.to == exit.to =>
        {
            None
        }
        Some(_) => {
            faults.push(duplicate(owner, &exit.id, &exit.place));
            None
        }
    }
}

fn check_from(owner: &Owner<'_, '_>, from: &str, place: &Place, faults: &mut Faults) {
    if owner.members.contains(from) || place.is_mended(owner.scope.loaded) {
        return;
    }
    let message = format!("the exit leaves from `{from}`, which is not in loop `{}`", owner.region);
    let fault = place.mark(Fault::error("loop::exit-from", message));
    faults.push_with(fault, |fault| {
        let sockets = &owner.scope.loadout.sockets;
        let runs =
            |id: &&&str| sockets.get(**id).is_some_and(|one| one.materia.as_deref() == Some(from));
        if sockets.contains_key(from) {
            fault.help(format!("add `{from}` to the loop's `sockets`, or leave from a member"))
        } else if let Some(id) = owner.members.iter().find(runs) {
            fault.help(format!("`{from}` is a materia; the socket that runs it is `{id}`"))
        } else {
            fault.help(did_you_mean(from, owner.members.iter().copied(), "members"))
        }
    });
}
