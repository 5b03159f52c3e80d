//! A project and a profile in a folder of their own.

use std::fs;
use std::path::{Path, PathBuf};

use materia_app::cast::prepare::{self, Asked, Beginning, Origin, Ready};
use materia_app::trust::{Trusted, Untrusted};
use materia_app::{Failure, Project, RunOptions};
use materia_compiler::Sources;

/// A project with a program of its own, which a loadout runs.
pub(crate) const CONFIG: &str = r#"{
  "loadouts": { "L": { "entry": "a", "sockets": {
    "a": { "materia": "Run", "edges": [{ "when": "always", "to": "b" }] },
    "b": { "materia": "Ask", "edges": [{ "when": "always", "to": "end" }] } } } },
  "materia": {
    "Run": { "type": "utility", "command": ["sh", "run.sh"] },
    "Ask": { "type": "agent", "prompt": "go on" } } }"#;

/// Script that answers the agent.
pub(crate) const SCRIPT: &str = r#"{ "turns": { "Ask": [{ "text": "Done." }] } }"#;

pub(crate) struct Bench {
    folder: tempfile::TempDir,
    /// The project.
    pub(crate) project: Project,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project_dir = folder.path().join("project");
        fs::create_dir(&project_dir).unwrap();
        let profile_dir = Some(folder.path().join("profile"));
        let sources = Sources { project_dir, profile_dir, ..Sources::default() };
        let state = folder.path().join("state");
        let bench = Self { project: Project::open(sources, Some(state)).unwrap(), folder };
        bench.write("materia.json", CONFIG);
        bench.write("run.sh", "echo ran");
        bench.write("script.json", SCRIPT);
        bench
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.project.dir.join(name), text).unwrap();
    }

    pub(crate) fn profile(&self) -> PathBuf {
        self.folder.path().join("profile")
    }

    /// Prepares a cast of the active loadout.
    pub(crate) fn prepare(&self, options: &RunOptions) -> Result<Untrusted<Beginning>, Failure> {
        let (loaded, compiled) = self.project.compile(None).sound()?;
        let approvals = self.project.profile_dir().map(Path::to_owned);
        let request = "go".to_owned();
        let asked = Asked { project: &self.project, approvals, request, options };
        prepare::cast(&asked, Ready { loaded, compiled, origin: Origin::default() })
    }
}

/// Answers from the script beside the configuration.
pub(crate) fn scripted() -> RunOptions {
    RunOptions { script: Some("script.json".into()), ..RunOptions::default() }
}

/// Everything is approved.
pub(crate) fn approved<T>(waiting: Untrusted<T>) -> Trusted<T> {
    let mut warnings = Vec::new();
    let trusted = waiting.settle(|_| Ok::<(), ()>(()), &mut warnings).ok().unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    trusted
}
