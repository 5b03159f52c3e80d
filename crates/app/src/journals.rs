//! Journals of a project: their ownership, and the check before one is written to.
//!
//! A journal is evidence, never instructions. One that this user's materia did not create in this place is *foreign*:
//! it came with a repository, or was copied, restored, or written by an older version. It can be read, replayed and
//! verified. Any other command needs the user's approval, which makes it the user's own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use materia_journal::{JOURNAL_FILE, Options, SqliteJournal};

use crate::failure::{Failure, Hint};
use crate::project::{Found, Project};

impl Project {
    /// How journals are opened here.
    pub(crate) fn journal_options(&self) -> Options {
        Options { state: self.state_dir.clone(), ..Options::default() }
    }

    /// The same, to write to one: that needs a folder in which it is noted.
    pub(crate) fn options_to_write(&self) -> Result<Options, Failure> {
        if self.state_dir.is_none() {
            let message = "the state folder is not known, and a cast cannot run without it";
            return Err(Failure::storage(message).hint(Hint::NameState));
        }
        Ok(self.journal_options())
    }

    /// Opens the journal in a folder to look at it, if there is one.
    pub fn look(&self, root: &Path) -> Result<Option<SqliteJournal>, Failure> {
        self.refuse_links(root)?;
        Ok(SqliteJournal::look(root, self.journal_options())?)
    }

    /// Refuses a folder for casts that a link leads to: what is kept there would be written somewhere else.
    /// Outside of the project, where only its user can have meant it, links on the way are the user's own.
    pub(crate) fn refuse_links(&self, root: &Path) -> Result<(), Failure> {
        let Ok(below) = root.strip_prefix(&self.dir) else { return Ok(()) };
        let mut path = self.dir.clone();
        for part in below.components() {
            path.push(part);
            if path.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
                return Err(Failure::storage(format!(
                    "`{}` is a symbolic link, and Materia does not store casts behind links: replace the link by a folder, or name another folder in your own profile (`artifactDir`)",
                    self.shown(&path)
                )));
            }
        }
        Ok(())
    }

    /// Whether the journal in a folder is noted as foreign: the user must trust it before it is written to.
    pub fn has_foreign_journal(&self, root: &Path) -> Result<bool, Failure> {
        self.refuse_links(root)?;
        Ok(SqliteJournal::is_foreign_in(root, &self.journal_options())?)
    }

    /// The user vouches for the journal in a folder: it is the user's own from now on.
    pub fn adopt(&self, root: &Path, warnings: &mut Vec<String>) -> Result<(), Failure> {
        self.refuse_links(root)?;
        let adopted = SqliteJournal::adopt(root, &self.options_to_write()?)?;
        if let Some(commands) = adopted.map(|adopted| adopted.commands).filter(|count| *count > 0) {
            warnings.push(format!(
                "removed {commands} waiting commands from `{}`, because their sender is not known",
                self.shown(&root.join(JOURNAL_FILE))
            ));
        }
        Ok(())
    }

    /// The same cast in a journal that the user has just vouched for.
    pub fn adopt_found(&self, found: Found, warnings: &mut Vec<String>) -> Result<Found, Failure> {
        let Found { root, journal, id } = found;
        // Nothing in this process has it open while it changes.
        drop(journal);
        self.adopt(&root, warnings)?;
        let gone = || Failure::storage(format!("`{}` is gone", self.shown(&root)));
        let journal = Arc::new(self.look(&root)?.ok_or_else(gone)?);
        Ok(Found { root, journal, id })
    }

    /// The journal in a folder as people know it.
    #[must_use]
    pub fn journal_file(&self, root: &Path) -> PathBuf {
        root.join(JOURNAL_FILE)
    }
}

impl Found {
    /// Whether the user must trust its journal before a command is applied to it.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        self.journal.is_foreign()
    }
}
