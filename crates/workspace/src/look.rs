//! The ids of what a workspace holds at one moment.

use crate::fault::Fault;
use crate::ref_list::is_id;

/// The files of a workspace at one moment, by the ids of three objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// The tree of all files that are in HEAD or not ignored.
    pub tree: String,
    /// The commit of HEAD; zeros on a branch that has none yet.
    pub head: String,
    /// A blob that lists where HEAD and all refs of the workspace lead.
    pub refs: String,
}

impl Look {
    /// Refuses words that are no object ids: journals name looks, and anything can stand in a journal.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        [&self.tree, &self.head, &self.refs].into_iter().try_for_each(|id| check_object(id))
    }
}

/// Refuses a word that is no object id: git would take it for an option or a name.
pub(crate) fn check_object(id: &str) -> Result<(), Fault> {
    if is_id(id) {
        return Ok(());
    }
    let shown: String = id.chars().take(80).collect();
    Err(Fault::Unusable(format!("`{}` is no id of a git object", shown.escape_debug())))
}
