//! When a socket moves the cursor of the loop around it (G11).

use materia_contract::{Condition, Path, Root, Socket};

use super::Place;
use super::built::Scope;
use super::paths::path;
use super::region::Regions;
use crate::fault::{Fault, Faults};

/// An `advance` as far as it could be read.
pub(super) struct Advance<'a> {
    pub(super) when: Condition,
    pub(super) cursor: Option<&'a str>,
    pub(super) items: Option<Path>,
    /// Whether `items` is there and could not be read.
    pub(super) unread: bool,
    /// Whether the `exit` of the loop stands for it.
    pub(super) implied: bool,
    /// Where it is written.
    pub(super) place: Place,
}

impl Advance<'_> {
    /// The place of what it reads from its socket's output, if it reads any.
    pub(super) fn reads_output(&self) -> Option<(Place, String)> {
        let word = self.when.word();
        let guarded = self.when != Condition::Always;
        guarded.then(|| (self.place.child("when"), format!("`advance` asks for `{word}`")))
    }
}

/// Reads the `advance` of a socket, or takes the one that its loop's `exit` stands for.
pub(super) fn read<'a>(
    scope: &Scope<'a>,
    regions: &Regions<'_>,
    id: &str,
    doc: &'a Socket,
    owner: &Place,
    faults: &mut Faults,
) -> Option<Advance<'a>> {
    let place = owner.child("advance");
    let Some(advance) = &doc.advance else {
        let (when, place) = regions.implied(id).filter(|_| !place.is_mended(scope.loaded))?;
        let (cursor, items) = (None, None);
        return Some(Advance { when, cursor, items, unread: false, implied: true, place });
    };
    if regions.is_outside(id) {
        let message = format!("socket `{id}` advances a loop, but is in none");
        let fault = Fault::error("loop::advance-outside", message);
        let help = "list it in the `sockets` of a loop, or remove `advance`";
        faults.push(place.mark(fault).help(help));
    }
    let cursor = advance.cursor.as_deref();
    if cursor.is_some_and(|name| name.is_empty() || name.contains('.')) {
        let fault = Fault::error("path::bad-target", "`cursor` must be one plain name");
        faults.push(place.child("cursor").mark(fault).help("leave dots out"));
    }
    let field = place.child("items");
    let items = advance.items.as_ref().map(|text| path(text, &field, scope.loaded, faults));
    let consumes = regions.innermost(id).is_some_and(super::region::Region::consumes);
    if let Some(Some(items)) = &items
        && items.root == Root::Output
        && !consumes
    {
        let fault = Fault::warning(
            "path::no-output",
            "`$` is the output of one turn, and a loop walks one list",
        );
        faults.push(
            field.mark(fault).help("name a list that is there before: state.… or lastJson.…"),
        );
    }
    Some(Advance {
        when: advance.when.unwrap_or(Condition::Always),
        cursor,
        unread: matches!(items, Some(None)) || field.is_mended(scope.loaded),
        items: items.flatten(),
        implied: false,
        place,
    })
}
