//! A scratch project, and functions that run `materia` in it.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How long anything may take before a test gives up on it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Commands that start a run or carry one on.
const DRIVING: [&str; 15] = [
    "cast",
    "link",
    "resume",
    "recast",
    "revive",
    "say",
    "continue",
    "trigger",
    "approve",
    "deny",
    "pause",
    "mode",
    "budget",
    "fork",
    "conformance",
];

/// A project with a profile of its own. What it would run is approved by whoever runs a command there, unless the
/// test is about that.
pub(crate) struct Bench {
    folder: TempDir,
    trusts: bool,
}

/// Result of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// The one JSON value on standard output.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Each line of standard output as JSON.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Panics unless it ended so.
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.exit, code, "{self:?}");
        self
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            exit: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("project")).unwrap();
        Self { folder, trusts: true }
    }

    /// The same, where nothing is approved that nobody has approved.
    pub(crate) fn asking(self) -> Self {
        Self { trusts: false, ..self }
    }

    /// A project with this configuration.
    pub(crate) fn with(config: &Value) -> Self {
        let bench = Self::new();
        bench.write("materia.json", &config.to_string());
        bench
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn profile(&self) -> PathBuf {
        self.folder.path().join("profile")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.project().join(path)).unwrap()
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.project().join(path).exists()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_materia"));
        let tests = args.first().filter(|word| **word == "test").map(|_| 0);
        let drives = tests.or_else(|| args.iter().take(3).position(|word| DRIVING.contains(word)));
        let drives = drives.filter(|_| self.trusts && !args.contains(&"--trust"));
        match drives.map(|place| args.split_at(place + 1)) {
            Some((before, after)) => command.args(before).arg("--trust").args(after),
            None => command.args(args),
        };
        command
            .current_dir(self.project())
            .env("MATERIA_PROFILE_DIR", self.profile())
            .env("MATERIA_STATE_DIR", self.state())
            .env_remove("MATERIA_CONFIG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs to the end.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.command(args).output().unwrap().into()
    }

    /// Starts without waiting.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        self.command(args).spawn().unwrap()
    }

    /// Waits until a file is there.
    pub(crate) fn wait_for(&self, path: &str) {
        until(&format!("{path} exists"), || self.has(path));
    }
}

/// Waits until something holds.
pub(crate) fn until(what: &str, holds: impl FnMut() -> bool) {
    until_within(PATIENCE, what, holds);
}

/// The same for what takes longer.
pub(crate) fn until_within(patience: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < patience, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits for the end of a command; ends it if it does not come.
pub(crate) fn finish(mut child: Child) -> Ran {
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).unwrap();
        text
    });
    let mut said = String::new();
    err.read_to_string(&mut said).unwrap();
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it did not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    Ran { exit: status.code().unwrap_or(-1), out: reader.join().unwrap(), err: said }
}

/// A loadout of utilities in a row; each is a name and a Python program.
pub(crate) fn utilities(programs: &[(&str, &str)]) -> Value {
    let mut sockets = serde_json::Map::new();
    let mut materia = serde_json::Map::new();
    for (index, (name, program)) in programs.iter().enumerate() {
        let to = programs.get(index + 1).map_or("end", |(next, _)| next);
        sockets.insert(
            (*name).into(),
            json!({ "materia": format!("M-{name}"), "edges": [{ "to": to }] }),
        );
        materia.insert(
            format!("M-{name}"),
            json!({ "type": "utility", "command": ["python3", "-c", program] }),
        );
    }
    json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": programs[0].0, "sockets": sockets } },
        "materia": materia,
    })
}

/// A loadout of agents in a row, and a script that answers all of them.
pub(crate) fn agents(names: &[&str]) -> (Value, Value) {
    let mut sockets = serde_json::Map::new();
    for (index, name) in names.iter().enumerate() {
        let to = names.get(index + 1).unwrap_or(&"end");
        sockets.insert((*name).into(), json!({ "materia": "M", "edges": [{ "to": to }] }));
    }
    let config = json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": names[0], "sockets": sockets } },
        "materia": { "M": { "prompt": "Do it." } },
    });
    (config, json!({ "turns": { "M": [{ "text": "done" }] }, "repeatLast": true }))
}

/// Whether there is nothing at a path.
pub(crate) fn absent(path: &Path) -> bool {
    path.symlink_metadata().is_err()
}
