//! A materia as it was built, and the context in which the parts of a loadout are built.

use std::collections::HashMap;

use materia_contract::{Behavior, Loadout, Materia, Path};

use super::Place;
use super::paths::Assignment;
use crate::layers::Loaded;
use crate::suggest::did_you_mean;

/// A materia and the result of its compilation.
pub(super) struct Built<'a> {
    pub(super) doc: &'a Materia,
    pub(super) place: Place,
    /// Absent if it cannot run; that has been reported.
    pub(super) behavior: Option<Behavior>,
    pub(super) assign: Vec<Assignment>,
    /// The paths that must be present before it is asked.
    pub(super) requires: Vec<Path>,
    /// The paths that it is shown where they are present.
    pub(super) reads: Vec<Path>,
}

impl Built<'_> {
    /// Whether it produces `workItems` (G9).
    pub(super) fn generator(&self) -> bool {
        self.doc.generator.unwrap_or(false)
    }
}

/// Context for building the parts of a loadout.
pub(super) struct Scope<'a> {
    pub(super) loaded: &'a Loaded,
    pub(super) name: &'a str,
    pub(super) loadout: &'a Loadout,
    pub(super) place: Place,
    pub(super) built: &'a HashMap<&'a str, Built<'a>>,
}

impl Scope<'_> {
    /// Helps an author who named a socket that does not exist. The one where that is written is hardly meant.
    pub(super) fn socket_help(&self, name: &str, written_at: Option<&str>) -> String {
        let mut placed = self.loadout.sockets.iter();
        if let Some((id, _)) = placed.find(|(_, one)| one.materia.as_deref() == Some(name)) {
            return format!("`{name}` is a materia; the socket that runs it is `{id}`");
        }
        let others = self.loadout.sockets.keys().map(String::as_str);
        let others = others.filter(|id| Some(*id) != written_at);
        did_you_mean(name, others, "sockets")
    }
}
