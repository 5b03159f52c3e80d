//! Finds the repository of a project without asking git, which would read the settings in it.

use std::path::{Path, PathBuf};

use materia_beneath::Folder;

/// The largest file that points to a repository.
const POINTER_BYTES_MAX: u64 = 8 * 1024;
/// The largest file of settings that is read.
const SETTINGS_BYTES_MAX: u64 = 1024 * 1024;

/// A repository with a work tree.
pub(super) struct Repository {
    /// The top of its work tree.
    pub(super) top: PathBuf,
    /// Where the index and what belongs to this work tree alone lies.
    pub(super) own: PathBuf,
    /// Where objects and settings lie, which several work trees may share.
    pub(super) common: PathBuf,
}

impl Repository {
    /// The one that `folder`, a real path, lies in.
    pub(super) fn of(folder: &Path) -> Option<Self> {
        let top = folder.ancestors().find(|at| at.join(".git").symlink_metadata().is_ok())?;
        let dot = top.join(".git");
        let own = if dot.is_dir() { dot } else { top.join(pointer(&dot, "gitdir: ")?) };
        let common = match pointer(&own.join("commondir"), "") {
            Some(path) => own.join(path),
            None => own.clone(),
        };
        common.join("objects").is_dir().then(|| Self { top: top.to_owned(), own, common })
    }

    /// The few settings without which git would take files for something else than they are. All of them are words
    /// from a list, and none names a program.
    pub(super) fn settings(&self) -> Vec<String> {
        let bytes = Folder::at(&self.common).and_then(|it| it.read("config", SETTINGS_BYTES_MAX));
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).to_ascii_lowercase();
        let mut section = "";
        let mut settings = Vec::new();
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix('[') {
                section = name.trim_end_matches(']').trim();
                continue;
            }
            let Some((name, value)) = line.split_once('=') else { continue };
            let (name, value) = (name.trim(), value.trim().trim_matches('"'));
            for (known_section, known, values) in SETTINGS {
                if section == *known_section && name == *known && values.contains(&value) {
                    settings.push(format!("{section}.{name}={value}"));
                }
            }
        }
        settings
    }
}

/// A section, a name in it, and the values that count.
const SETTINGS: &[(&str, &str, &[&str])] = &[
    ("core", "autocrlf", &["true", "false", "input"]),
    ("core", "eol", &["lf", "crlf", "native"]),
    ("core", "filemode", &["true", "false"]),
    ("core", "symlinks", &["true", "false"]),
    ("core", "ignorecase", &["true", "false"]),
    ("extensions", "objectformat", &["sha1", "sha256"]),
];

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
    fn only_harmless_settings_are_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join(".git/objects")).unwrap();
        let config = "[core]\n\tautoCRLF = true\n\tfsmonitor = ./evil\n\thooksPath = h\n\
                      [filter \"x\"]\n\tclean = ./evil\n[core]\neol = ./evil\n[include]\npath = e\n";
        std::fs::write(dir.path().join(".git/config"), config).unwrap();
        let found = Repository::of(&dir.path().join(".")).unwrap();
        assert_eq!(found.settings(), ["core.autocrlf=true"]);
    }

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
