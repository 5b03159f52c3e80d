//! A user's repository for tests.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use materia_workspace::{Base, Look, Place, Workspace, create, examine};

/// Paths, each with its mode and a short text for its content.
pub(crate) type Snapshot = BTreeMap<PathBuf, (u32, String)>;

/// A user's repository with a commit, and a state folder.
pub(crate) struct House {
    pub(crate) dir: tempfile::TempDir,
}

impl House {
    pub(crate) fn new() -> Self {
        let house = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(house.project()).unwrap();
        house.git(["init", "-q", "-b", "main"]);
        house.git(["config", "user.name", "Ada"]);
        house.git(["config", "user.email", "ada@example.org"]);
        house.write("a.txt", "one\n");
        house.write("src/b.txt", "two\n");
        house.write(".gitignore", "ignored/\n*.log\n");
        house.git(["add", "-A"]);
        house.git(["commit", "-q", "-m", "first"]);
        house
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("project")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("state")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        write(&self.project().join(path), text);
    }

    /// Runs the user's git.
    pub(crate) fn git<const N: usize>(&self, words: [&str; N]) -> String {
        git(&self.project(), &words)
    }

    pub(crate) fn place(&self, cast_id: &str) -> Place {
        let cast_id = cast_id.to_owned();
        Place { state_dir: self.state(), project_dir: self.project(), cast_id }
    }

    pub(crate) fn base(&self) -> Base {
        examine(&self.project(), &self.state()).unwrap()
    }

    pub(crate) fn make(&self, cast_id: &str) -> (Workspace, Look) {
        create(&self.place(cast_id), &self.base(), false).unwrap()
    }
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Runs git as a person or an agent does, with the settings that the folder has.
pub(crate) fn git(folder: &Path, words: &[&str]) -> String {
    let (out, ok) = try_git(folder, words);
    assert!(ok, "git {words:?}: {out}");
    out.trim_end().to_owned()
}

pub(crate) fn try_git(folder: &Path, words: &[&str]) -> (String, bool) {
    let mut git = Command::new("git");
    for (name, _) in
        std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_"))
    {
        git.env_remove(name);
    }
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    git.env("GIT_EDITOR", "true").env("GIT_AUTHOR_DATE", "1700000000 +0000");
    git.env("GIT_COMMITTER_DATE", "1700000000 +0000");
    let said = git.args(words).current_dir(folder).output().unwrap();
    let text = [said.stdout, said.stderr].concat();
    (String::from_utf8_lossy(&text).into_owned(), said.status.success())
}

/// Every file beneath a folder: its kind, mode and content. Links are not followed.
pub(crate) fn snapshot(folder: &Path) -> Snapshot {
    let mut all = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            let found = path.symlink_metadata().unwrap();
            let content = if found.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if found.is_file() {
                fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            if found.is_dir() {
                open.push(path.clone());
            }
            let name = path.strip_prefix(folder).unwrap().to_owned();
            let text = String::from_utf8_lossy(&content);
            let text = if text.len() > 60 {
                format!("{} bytes, {}", content.len(), blake3::hash(&content))
            } else {
                text.into_owned()
            };
            all.insert(name, (found.permissions().mode(), text));
        }
    }
    all
}

/// The same of a git folder, without what belongs to Materia: its refs, their logs, and objects.
pub(crate) fn snapshot_of_git(folder: &Path) -> Snapshot {
    let mut all = snapshot(folder);
    let ours = [
        "refs/materia",
        "refs/heads/materia",
        "logs/refs/materia",
        "logs/refs/heads/materia",
        "objects",
    ];
    all.retain(|path, _| !ours.iter().any(|ours| path.starts_with(ours)));
    all
}

pub(crate) fn fsck(folder: &Path) {
    let (said, ok) = try_git(folder, &["fsck", "--full", "--strict", "--no-dangling"]);
    assert!(ok && !said.contains("error") && !said.contains("missing"), "{said}");
}
