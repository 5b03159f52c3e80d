//! Attacks by repositories, journals and turns, and a stage to observe them.
//!
//! A [`Stage`] is a project, a profile, a state folder and a home in a folder of their own, with a sentinel outside of
//! the project. Commands run there under `strace` if it is installed; the result includes the programs executed and
//! the files changed outside of the project.
//!
//! Files of this folder: `escapes` (printed text), `repositories` (configuration), `changing` (changes after the
//! approval), `asked` and `reading` (questions before a start), `files` (links, second names, `PATH`), `swapping`
//! (changes right before a start), `steering` (turns that control casts), `journals` (a shipped `.materia`), `forging`
//! and `verifying` (recomputed hashes), `memory` (journals that claim too much), `turns` (approved programs that do
//! harm), `agents` and `homes` (agents that do), `secrets` (how they are written), `sessions` (how they are named),
//! `calls` (system calls), `outliving` (processes that stay), `neighbours` (other users beside a server), `system`
//! (limits), `work` (honest programs still run). A stage can belong to an [ordinary user](people).

#![allow(dead_code, reason = "each kind of attack uses what it needs of the stage")]

mod agents;
mod asked;
mod calls;
mod changing;
mod escapes;
mod files;
mod forging;
mod homes;
mod journals;
mod memory;
mod neighbours;
mod outliving;
mod people;
mod reading;
mod repositories;
mod secrets;
mod sessions;
mod steering;
mod swapping;
mod system;
mod turns;
mod verifying;
mod work;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;

use self::people::Who;
use crate::bench::Ran;

/// A place for one attack.
pub(crate) struct Stage {
    folder: TempDir,
    /// The user who runs commands there.
    who: Who,
}

/// Result of a command, and its side effects.
#[derive(Debug)]
pub(crate) struct Seen {
    /// How it ended and what it said.
    pub(crate) ran: Ran,
    /// Every program that was executed but `materia` itself, as `strace` tells; `None` without it.
    pub(crate) executed: Option<Vec<String>>,
    /// Files and folders that came, went or changed outside of project, profile and state folder.
    pub(crate) outside: Vec<String>,
    /// The same within the project.
    pub(crate) inside: Vec<String>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        // As it really is: a link on the way to the temporary folder is not what is tested here.
        let temporary = std::env::temp_dir().canonicalize().unwrap();
        let folder = tempfile::tempdir_in(temporary).unwrap();
        let stage = Self { folder, who: Who::Me };
        for name in ["project", "profile", "state", "home/.ssh", "outside"] {
            fs::create_dir_all(stage.path(name)).unwrap();
        }
        fs::write(stage.path("home/.bashrc"), "# mine\n").unwrap();
        fs::write(stage.path("outside/kept"), "kept\n").unwrap();
        stage
    }

    /// A path on the stage: `project/…`, `home/…`, `outside/…`, `profile/…`, `state/…`.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// Writes a file on the stage, with the folders on the way.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// The same for a file that can be executed.
    pub(crate) fn program(&self, path: &str, content: &str) {
        self.write(path, content);
        let runs = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(self.path(path), runs).unwrap();
    }

    /// The environment of every command here.
    fn dress<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .current_dir(self.project())
            .env("HOME", self.path("home"))
            .env("MATERIA_PROFILE_DIR", self.path("profile"))
            .env("MATERIA_STATE_DIR", self.path("state"))
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_STATE_HOME")
            .env_remove("MATERIA_CONFIG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
    }

    /// Runs `materia` without watching: to prepare something.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, &[])
    }

    /// The same with further variables in its environment.
    pub(crate) fn run_with(&self, args: &[&str], env: &[(&str, &str)]) -> Ran {
        let mut command = self.command(&[]);
        command.args(args).envs(env.iter().copied()).output().unwrap().into()
    }

    /// The same, started by another program, whose last argument it becomes.
    pub(crate) fn run_by(&self, program: &[&str], args: &[&str]) -> Ran {
        self.command(program).args(args).output().unwrap().into()
    }

    /// The same in another folder.
    pub(crate) fn run_in(&self, folder: &Path, args: &[&str]) -> Ran {
        self.command(&[]).args(args).current_dir(folder).output().unwrap().into()
    }

    /// Runs `materia` and watches what it does.
    pub(crate) fn watch(&self, args: &[&str]) -> Seen {
        let (before, project) = (self.tree(false), self.tree(true));
        let trace = tempfile::NamedTempFile::new().unwrap();
        self.who.own([trace.path()]);
        let to = trace.path().to_str().unwrap();
        let strace = ["strace", "-f", "-qq", "-s", "256", "-e", "trace=execve,execveat", "-o", to];
        let ran = self.run_by(if has_strace() { &strace } else { &[] }, args);
        let executed = has_strace()
            .then(|| executed(&fs::read_to_string(trace.path()).unwrap(), &self.materia()));
        let outside = difference(&before, &self.tree(false));
        let inside = difference(&project, &self.tree(true));
        Seen { ran, executed, outside, inside }
    }

    /// Files in the project, or in the home and the folder outside of it, each with a fingerprint.
    fn tree(&self, project: bool) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut left = if project {
            vec![self.project()]
        } else {
            vec![self.path("home"), self.path("outside")]
        };
        while let Some(path) = left.pop() {
            let Ok(meta) = path.symlink_metadata() else { continue };
            let content = if meta.is_dir() {
                let entries = fs::read_dir(&path).into_iter().flatten().flatten();
                left.extend(entries.map(|entry| entry.path()));
                String::new()
            } else if meta.is_symlink() {
                format!("{:?}", fs::read_link(&path).ok())
            } else if !meta.is_file() {
                "neither file nor folder".to_owned()
            } else {
                fs::read(&path).map_or_else(|_| "?".into(), |bytes| fingerprint(&bytes))
            };
            let kept = path.strip_prefix(self.folder.path()).unwrap().to_owned();
            found.insert(kept, format!("{:o} {content}", meta.mode()));
        }
        found
    }
}

impl Seen {
    /// Panics unless the command ended so.
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.ran.exit, code, "{self:?}");
        self
    }

    /// Panics unless it told people this.
    pub(crate) fn says(self, words: &str) -> Self {
        assert!(self.ran.err.contains(words), "`{words}` was not said: {self:?}");
        self
    }

    /// Panics if anything was executed but `materia` itself.
    pub(crate) fn executed_nothing(self) -> Self {
        assert!(self.executed.as_ref().is_none_or(Vec::is_empty), "{self:?}");
        self
    }

    /// Panics if anything outside of the project changed.
    pub(crate) fn changed_nothing_outside(self) -> Self {
        assert!(self.outside.is_empty(), "{self:?}");
        self
    }

    /// Panics if anything changed in the project either.
    pub(crate) fn wrote_nothing(self) -> Self {
        assert!(self.inside.is_empty(), "{self:?}");
        self.changed_nothing_outside()
    }
}

/// Whether commands can be watched here. Says so once where they cannot.
fn has_strace() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let tried = Command::new("strace").args(["-f", "-o", "/dev/null", "true"]).output();
        let works = tried.is_ok_and(|tried| tried.status.success());
        if !works {
            eprintln!("no strace here: what was executed is not looked at");
        }
        works
    })
}

/// The programs in a trace, but for `materia` itself and its supervisors.
fn executed(trace: &str, materia: &Path) -> Vec<String> {
    let calls = trace.lines().filter(|line| line.contains("exec") && !line.contains("= -1 "));
    let paths = calls.filter_map(|line| line.split('"').nth(1));
    let others = paths.filter(|path| Path::new(path) != materia && *path != "/proc/self/exe");
    others.map(str::to_owned).collect()
}

fn difference(
    before: &BTreeMap<PathBuf, String>,
    after: &BTreeMap<PathBuf, String>,
) -> Vec<String> {
    let mut told = Vec::new();
    for (path, was) in before {
        match after.get(path) {
            None => told.push(format!("{} went", path.display())),
            Some(is) if is != was => told.push(format!("{} changed: {was} → {is}", path.display())),
            Some(_) => {}
        }
    }
    let came = after.keys().filter(|path| !before.contains_key(*path));
    told.extend(came.map(|path| format!("{} came", path.display())));
    told
}

/// Enough of a file to tell whether it changed.
fn fingerprint(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:x} {}", bytes.len())
}

/// Makes a symbolic link.
pub(crate) fn link(from: &Path, to: impl AsRef<Path>) {
    fs::create_dir_all(from.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(to, from).unwrap();
}

#[test]
fn what_is_executed_and_what_changes_is_seen() {
    let stage = Stage::new();
    stage.program("project/x", "#!/bin/sh\necho owned > ../outside/new\n");
    let config = serde_json::json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "a", "sockets": { "a": { "materia": "M" } } } },
        "materia": { "M": { "type": "utility", "command": ["./x"] } },
    });
    stage.write("project/materia.json", config.to_string());
    let seen = stage.watch(&["cast", "go"]).exits(2).executed_nothing().wrote_nothing();
    drop(seen);
    let seen = stage.watch(&["cast", "--trust", "go"]).exits(0);
    assert_eq!(seen.outside, ["outside/new came"], "{seen:?}");
    assert!(!seen.inside.is_empty());
    if let Some(executed) = &seen.executed {
        assert!(executed.iter().any(|path| path.ends_with("/x")), "{executed:?}");
    }
}
