//! Check of the tree after a Planning turn: everything outside of the doc root must be unchanged.
//!
//! The sandbox keeps a turn's processes from changing names and contents. Two cases remain for this check: modes,
//! owners, times and attributes, for which the sandbox has no handle, and everything if the kernel has no sandbox. So
//! each entry is compared before and after the turn. Only the data of `stat` is compared; that is cheap, and a program
//! cannot set back an inode's time of last change.
//!
//! Skipped on purpose, because others write there while a turn runs, and each false alarm would fail an honest turn:
//! the folders it may write to, the artifact root, folders with a `CACHEDIR.TAG`, and the parts of `.git` that tools
//! refresh in the background.
//!
//! Deliberately absent: undo. The changes of a turn are listed, and the turn fails.

mod list;

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use list::{Folder, Tell};

/// The most entries of a project that are compared. A folder that would exceed this is left out whole, so that the
/// same entries are compared each time.
pub const ENTRIES_MAX: usize = 100_000;
/// The most paths that are collected; a longer list would not help.
const CHANGES_MAX: usize = 1000;
/// The most paths that a message names.
const NAMED_MAX: usize = 5;
/// The file that may be in the artifact root and must not change during a turn.
const CONFIGURATION: &str = "materia.json";

/// A project as it was before a turn.
#[derive(Debug)]
pub struct TreeCheck {
    project: PathBuf,
    /// Real paths whose contents are not compared.
    skip: HashSet<PathBuf>,
    /// Those of them in which only the configuration is compared.
    only_configuration: HashSet<PathBuf>,
    /// Entries of each folder, by its path within the project.
    folders: HashMap<PathBuf, Folder>,
    /// Folders that would have been too much.
    left_out: Vec<PathBuf>,
}

impl TreeCheck {
    /// Looks at the project in `cwd`, except for what a turn may write: the folder `doc_root` and
    /// the folders `ignore` (relative ones are meant within `cwd`).
    pub fn before(cwd: &Path, doc_root: &Path, ignore: &[PathBuf]) -> Self {
        Self::bounded(cwd, doc_root, ignore, ENTRIES_MAX)
    }

    fn bounded(cwd: &Path, doc_root: &Path, ignore: &[PathBuf], most: usize) -> Self {
        let project = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        let real = |path: &Path| {
            let path = project.join(path);
            let path = path.canonicalize().unwrap_or(path);
            // A project inside an ignored folder would otherwise not be looked at at all.
            (!project.starts_with(&path)).then_some(path)
        };
        let docs = real(doc_root);
        let ignored = ignore.iter().filter_map(|path| real(path));
        let ignored = ignored.filter(|path| docs.as_ref() != Some(path));
        let only_configuration: HashSet<PathBuf> = ignored.collect();
        let skip = only_configuration.iter().cloned().chain(docs).collect();
        let (folders, left_out) = Default::default();
        let mut check = Self { project, skip, only_configuration, folders, left_out };
        let mut found = 0;
        let mut open = VecDeque::from([PathBuf::new()]);
        while let Some(at) = open.pop_front() {
            let Some(folder) = check.look(&at, most - found) else {
                check.left_out.push(at);
                continue;
            };
            if folder.is_cache() {
                check.skip.insert(check.project.join(&at));
                continue;
            }
            found += folder.entries.len();
            open.extend(folder.folders().map(|name| at.join(name)));
            check.folders.insert(at, folder);
        }
        check
    }

    /// Paths that were added, removed or changed since, in order.
    ///
    /// Of a folder only its existence, mode and owner count: each changed entry has its own path.
    pub fn changed(&self) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        let mut open = VecDeque::from([PathBuf::new()]);
        while let Some(at) = open.pop_front() {
            let Some(before) = self.folders.get(&at) else { continue };
            let Some(now) = self.look(&at, before.entries.len() + CHANGES_MAX) else {
                // So much is new in it that its own name says enough.
                changed.push(at);
                continue;
            };
            open.extend(now.folders().map(|name| at.join(name)));
            changed.extend(before.differences(&now).map(|name| at.join(name)));
            if changed.len() >= CHANGES_MAX {
                break;
            }
        }
        changed.sort();
        changed.truncate(CHANGES_MAX);
        changed
    }

    /// Error message for a turn that changed something; `None` if nothing changed.
    pub fn complaint(&self, doc_root: &str) -> Option<String> {
        let changed = self.changed();
        if changed.is_empty() {
            return None;
        }
        let mut said = format!(
            "Planning mode allows writing in `{doc_root}` only, and outside it changed meanwhile: {}",
            named(&changed)
        );
        if let Some(limit) = self.limit() {
            let _ = write!(said, "; {limit}");
        }
        Some(said)
    }

    /// A clear word where the project is too large to be looked at as a whole.
    pub fn limit(&self) -> Option<String> {
        (!self.left_out.is_empty()).then(|| {
            format!(
                "the project has more than {ENTRIES_MAX} files; not looked at: {}",
                named(&self.left_out)
            )
        })
    }

    /// A folder's entries without those that do not count; `None` if there are more than `most`.
    fn look(&self, at: &Path, most: usize) -> Option<Folder> {
        let real = self.project.join(at);
        if self.skip.contains(&real) {
            let watched = self.only_configuration.contains(&real);
            return Folder::read(&real, most, |name| {
                if watched && name == CONFIGURATION { Tell::All } else { Tell::Nothing }
            });
        }
        let in_git = at.iter().any(|part| part == ".git");
        Folder::read(&real, most, |name| {
            if in_git && list::is_busy_in_git(name) {
                Tell::Nothing
            } else if self.skip.contains(&real.join(name)) {
                // It may appear with the first turn that uses it, and others change its mode.
                Tell::ThatItIsAFolder
            } else {
                Tell::All
            }
        })
    }
}

/// The first few paths, and how many more there are.
fn named(paths: &[PathBuf]) -> String {
    let first: Vec<String> = paths
        .iter()
        .take(NAMED_MAX)
        .map(|path| {
            if path.as_os_str().is_empty() {
                "the project's own folder".to_owned()
            } else {
                format!("`{}`", path.display().to_string().escape_debug())
            }
        })
        .collect();
    let mut said = first.join(", ");
    if let Some(more) = paths.len().checked_sub(NAMED_MAX + 1) {
        let _ = write!(said, " and {} more", more + 1);
    }
    said
}

#[cfg(test)]
mod tests;
