//! Git for the demo, isolated from the user's configuration.
//!
//! The demo must give the same result with any configuration and must run nothing of the user's: no hooks, no
//! templates, no signing, no editor. It never touches a repository around the scratch project.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use materia_contract::search_path;

/// Settings that make a commit possible and quiet on any machine.
const SETTINGS: [&str; 8] = [
    "user.name=Materia demo",
    "user.email=demo@materia.invalid",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.autocrlf=false",
    "commit.gpgSign=false",
    "init.defaultBranch=main",
    "gc.auto=0",
];

/// Git in one folder.
pub(super) struct Git {
    folder: PathBuf,
}

/// Why there is no commit.
#[derive(Debug, thiserror::Error)]
pub(super) enum GitError {
    /// It is not installed, or cannot be started.
    #[error("git cannot be started: {0}")]
    Absent(std::io::Error),
    /// It did not do what it was asked for.
    #[error("`git {command}` failed: {said}")]
    Failed {
        /// Subcommand and its arguments.
        command: String,
        /// Its error output.
        said: String,
    },
}

impl Git {
    /// Git in a folder whose own repository it is, or will be.
    pub(super) fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Whether the folder has a repository of its own.
    pub(super) fn has_repository(&self) -> bool {
        self.folder.join(".git").exists()
    }

    /// Makes the repository.
    pub(super) fn init(&self) -> Result<(), GitError> {
        self.run(&["init", "--quiet", "--template="]).map(drop)
    }

    /// Commits everything, and gives back the short name of the commit.
    pub(super) fn commit_all(&self, message: &str) -> Result<String, GitError> {
        self.run(&["add", "--all"])?;
        self.run(&["commit", "--quiet", "--no-verify", "--allow-empty", "--message", message])?;
        self.run(&["rev-parse", "--short", "HEAD"]).map(|name| name.trim().to_owned())
    }

    /// The commits, newest first, one a line; with `all` those of every branch, which is then named.
    pub(super) fn log(&self, all: bool) -> Result<String, GitError> {
        let which: &[&str] =
            if all { &["--branches", "--decorate=short"] } else { &["--no-decorate"] };
        self.run(&[&["log", "--oneline", "--no-color"], which].concat())
    }

    fn run(&self, words: &[&str]) -> Result<String, GitError> {
        let mut git = Command::new("git");
        // Who calls the demo from within git (a hook, an alias) would hand on its own repository.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GIT_") {
                git.env_remove(name);
            }
        }
        git.env("PATH", search_path(std::env::var_os("PATH").as_deref()))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C")
            .current_dir(&self.folder)
            .stdin(Stdio::null());
        for setting in SETTINGS {
            git.args(["-c", setting]);
        }
        if words.first() != Some(&"init") {
            git.arg("--git-dir").arg(self.folder.join(".git"));
            git.arg("--work-tree").arg(&self.folder);
        }
        let output = git.args(words).output().map_err(GitError::Absent)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(GitError::Failed { command: words.join(" "), said })
    }
}
