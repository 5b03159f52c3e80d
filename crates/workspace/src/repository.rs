//! Finds the repository of a folder without asking git, which would read the settings in it.

use std::path::{Path, PathBuf};

use materia_safe_fs::Folder;

/// The largest file that points to a repository.
const POINTER_BYTES_MAX: u64 = 8 * 1024;

/// A repository with a work tree.
#[derive(Debug, Clone)]
pub struct Repository {
    /// The top of its work tree.
    pub top: PathBuf,
    /// The git folder of this work tree alone, with its index.
    pub own: PathBuf,
    /// The folder with objects and settings, which several work trees may share.
    pub common: PathBuf,
}

impl Repository {
    /// The repository that contains `folder`, which must be a real path.
    pub fn of(folder: &Path) -> Option<Self> {
        let top = folder.ancestors().find(|at| at.join(".git").symlink_metadata().is_ok())?;
        let dot = top.join(".git");
        let own = if dot.is_dir() { dot } else { top.join(pointer(&dot, "gitdir: ")?) };
        let common = match pointer(&own.join("commondir"), "") {
            Some(path) => own.join(path),
            None => own.clone(),
        };
        common.join("objects").is_dir().then(|| Self { top: top.to_owned(), own, common })
    }
}

/// The path in a file that holds nothing else.
fn pointer(file: &Path, prefix: &str) -> Option<PathBuf> {
    let folder = Folder::at(file.parent()?).ok()?;
    let text = String::from_utf8(folder.read(file.file_name()?, POINTER_BYTES_MAX).ok()?).ok()?;
    let path = text.trim_end_matches(['\n', '\r']).strip_prefix(prefix)?;
    (!path.is_empty()).then(|| PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_further_work_tree_has_its_objects_elsewhere() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at("main/.git/worktrees/w")).unwrap();
        std::fs::create_dir_all(at("main/.git/objects")).unwrap();
        std::fs::create_dir_all(at("w/sub")).unwrap();
        std::fs::write(at("main/.git/worktrees/w/commondir"), "../..\n").unwrap();
        let pointer = format!("gitdir: {}\n", at("main/.git/worktrees/w").display());
        std::fs::write(at("w/.git"), pointer).unwrap();
        let found = Repository::of(&at("w/sub")).unwrap();
        assert_eq!((found.top, found.own), (at("w"), at("main/.git/worktrees/w")));
        assert!(found.common.join("objects").is_dir());
        assert!(Repository::of(Path::new("/")).is_none());
    }
}
