use std::path::PathBuf;
use std::sync::Arc;

use super::order::TurnOrder;

/// Knows which files the user approved, and checks the files of a turn again before it starts.
pub trait Approves: Send + Sync {
    /// The files that the program of this turn runs, if each of them is as it was approved. Otherwise a sentence
    /// that says which is not.
    fn look(&self, order: &TurnOrder) -> Result<Vec<Pinned>, String>;
}

/// A file as it was approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// Its absolute path, as a program finds it.
    pub path: PathBuf,
    /// Where that leads, links followed.
    pub leads: PathBuf,
    /// Its name in the project, under which it was approved.
    pub name: String,
    /// The hash of its content; absent for a file outside of the project, where only the path was approved.
    pub hash: Option<String>,
}

/// The check right before a turn starts a program. The default allows everything.
#[derive(Clone, Default)]
pub struct Approval(Option<Arc<dyn Approves>>);

impl Approval {
    /// Asks `who`.
    #[must_use]
    pub fn by(who: Arc<dyn Approves>) -> Self {
        Self(Some(who))
    }

    /// As [`Approves::look`]. It reads files: do not call it where blocking is not allowed.
    pub fn look(&self, order: &TurnOrder) -> Result<Vec<Pinned>, String> {
        self.0.as_ref().map_or_else(|| Ok(Vec::new()), |who| who.look(order))
    }
}

impl std::fmt::Debug for Approval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Approval")
    }
}
