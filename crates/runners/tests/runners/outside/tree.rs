//! A project to protect, and everything about it that must stay as it is.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use crate::stage::Stage;

/// Fills a project, and the folder around it; with a repository if `git` is needed.
pub(super) fn project(stage: &Stage, git: bool) {
    let (cwd, around) = (stage.cwd(), stage.outside());
    for folder in ["src/deep", "src/7", "empty", "docs/deep", ".materia/earlier"] {
        fs::create_dir_all(cwd.join(folder)).unwrap();
    }
    fs::create_dir(around.join("far")).unwrap();
    fs::write(around.join("far.txt"), "precious\n").unwrap();
    for file in ["code.txt", "src/main.rs", "src/deep/a.rs", "src/7/kept", ".materia/materia.json"]
    {
        fs::write(cwd.join(file), "precious\n").unwrap();
    }
    fs::write(cwd.join("src/module.py"), "x = 1\n").unwrap();
    for note in ["docs/note.md", "docs/deep/note.md"] {
        fs::write(cwd.join(note), "a note\n").unwrap();
    }
    fs::write(cwd.join(".materia/earlier/events.jsonl"), "{}\n").unwrap();
    // An empty file is an empty SQLite database.
    fs::write(cwd.join(".materia/journal.db"), "").unwrap();
    for (name, target) in [
        ("link", "../src/main.rs"),
        ("dir", "../src"),
        ("far", "../../far.txt"),
        ("nowhere", "../src/nowhere.rs"),
    ] {
        symlink(target, cwd.join("docs").join(name)).unwrap();
    }
    if git {
        let commit = "git init -q . && git add code.txt src && \
                      git -c user.name=x -c user.email=x commit -q -m x && touch new";
        let done = Command::new("sh").args(["-c", commit]).current_dir(cwd).status().unwrap();
        assert!(done.success());
    } else {
        fs::create_dir_all(cwd.join(".git/info")).unwrap();
    }
}

/// Everything that must stay: names, kinds and contents, without what a turn may write.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tree(BTreeMap<PathBuf, String>);

impl Tree {
    /// Looks at everything around the project and in it.
    pub(super) fn of(stage: &Stage) -> Self {
        let skip = [stage.cwd().join("docs"), stage.job.run_dir.clone()];
        let mut tree = BTreeMap::new();
        let mut open = vec![stage.outside().to_owned()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let found = fs::symlink_metadata(&path).unwrap();
                if found.is_dir() && !skip.contains(&path) {
                    open.push(path.clone());
                }
                let content = match found.file_type() {
                    kind if kind.is_file() => format!("{:?}", fs::read(&path).unwrap()),
                    kind if kind.is_symlink() => {
                        fs::read_link(&path).unwrap().display().to_string()
                    }
                    kind => format!("{kind:?}"),
                };
                tree.insert(path, content);
            }
        }
        Self(tree)
    }

    /// The names that differ.
    pub(super) fn differences(&self, after: &Self) -> Vec<PathBuf> {
        let (before, after) = (&self.0, &after.0);
        let changed = before.iter().filter(|(path, content)| after.get(*path) != Some(content));
        let new = after.iter().filter(|(path, _)| !before.contains_key(*path));
        changed.chain(new).map(|(path, _)| path.clone()).collect()
    }
}
