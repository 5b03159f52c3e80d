//! The scratch folder of a case, and commands that run in it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use materia_contract::EdgeId;
use materia_contract::case::Case;
use serde_json::Value;
use tempfile::TempDir;

use super::{BaseFile, Place, Taken};

/// How long one command may take.
const COMMAND_TIME_MAX: Duration = Duration::from_mins(1);
/// Interval at which its end is polled: the standard library waits for a child without a deadline only.
const POLL_INTERVAL: Duration = Duration::from_millis(4);
/// Prefix of files that are in the profile, not in the project.
const PROFILE: &str = "profile/";
/// Prefix of files that are in the configuration folder of all programs.
const CONFIG_HOME: &str = "config-home/";

/// A folder with a project, a profile and a script; removed when dropped.
pub(super) struct Scratch {
    folder: TempDir,
    binary: PathBuf,
    /// Where casts are kept, if not in a file.
    journal: Option<String>,
    has_script: bool,
    trusts: bool,
    /// The cast that was made last.
    cast: Option<String>,
}

/// Result of a command.
pub(super) struct Ran {
    /// Its exit status; absent where a signal ended it.
    pub(super) exit: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// The one JSON value on standard output, if it is one.
    pub(super) report: Option<Value>,
}

impl Scratch {
    /// Lays out what a case asks for.
    pub(super) fn set_up(
        case: &Case,
        base: &[BaseFile],
        place: &Place<'_>,
    ) -> Result<Self, String> {
        let failed = |error: io::Error| format!("the scratch folder cannot be used: {error}");
        // It must be a new folder that no other user can read.
        let private = fs::Permissions::from_mode(0o700);
        let fresh = tempfile::Builder::new()
            .prefix("materia-conformance-")
            .permissions(private)
            .tempdir_in(place.scratch);
        let folder = fresh.map_err(failed)?;
        let scratch = Self {
            folder,
            binary: place.binary.to_owned(),
            journal: place.journal.map(str::to_owned),
            has_script: case.script.is_some(),
            trusts: !case.requirements.iter().any(|requirement| requirement == "D35"),
            cast: None,
        };
        for folder in [scratch.project(), scratch.profile()] {
            fs::create_dir(folder).map_err(failed)?;
        }
        if let Some(config) = &case.config {
            write(&scratch.project().join("materia.json"), &text(config)).map_err(failed)?;
        }
        for file in base.iter().filter(|_| case.config.is_none()) {
            let path = scratch.path(&file.path)?;
            path.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
            fs::write(&path, &file.bytes).map_err(failed)?;
            let mode = if file.executable { 0o700 } else { 0o600 };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).map_err(failed)?;
        }
        if let Some(script) = &case.script {
            write(&scratch.script(), &text(script)).map_err(failed)?;
        }
        for (path, content) in &case.files {
            write(&scratch.path(path)?, &text(content)).map_err(failed)?;
        }
        if case.git {
            scratch.commit()?;
        }
        Ok(scratch)
    }

    /// Makes the project a git repository with one commit. Settings of the user's count for nothing.
    fn commit(&self) -> Result<(), String> {
        let author = ["-c", "user.name=Case", "-c", "user.email=case@localhost"];
        for words in
            [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-q", "-m", "first"]]
        {
            let mut git = Command::new("git");
            git.current_dir(self.project()).args(author).args(words);
            git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
            let ran = git.output().map_err(|error| format!("git cannot be started: {error}"))?;
            if !ran.status.success() {
                let said = String::from_utf8_lossy(&ran.stderr);
                return Err(format!("`git {}` failed: {said}", words.join(" ")));
            }
        }
        Ok(())
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn profile(&self) -> PathBuf {
        self.folder.path().join("profile")
    }

    fn script(&self) -> PathBuf {
        self.folder.path().join("script.json")
    }

    /// The path of a file of a case. A path outside the project is refused.
    pub(super) fn path(&self, path: &str) -> Result<PathBuf, String> {
        let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        if !plain || path.is_empty() {
            return Err(format!("`{path}` is not a path inside the project"));
        }
        let outside = path.starts_with(PROFILE) || path.starts_with(CONFIG_HOME);
        Ok(if outside { self.folder.path().join(path) } else { self.project().join(path) })
    }

    /// All folders in the project.
    pub(super) fn folders(&self) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let mut left = vec![self.project()];
        while let Some(folder) = left.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    left.push(entry.path());
                }
            }
            found.insert(folder);
        }
        found
    }

    /// Runs `materia` with these arguments and those that go without saying.
    pub(super) fn run(&mut self, args: &[String], input: Option<&Value>) -> Result<Ran, String> {
        let ran = self.call(&self.complete(args), input)?;
        let named = ran.report.as_ref().and_then(|report| report["castId"].as_str());
        let given = args.iter().position(|arg| arg == "--cast-id").and_then(|at| args.get(at + 1));
        if let Some(cast) = named.or(given.map(String::as_str)) {
            self.cast = Some(cast.to_owned());
        }
        Ok(ran)
    }

    /// The events of the cast that was made last.
    pub(super) fn events(&self) -> Result<Vec<Value>, String> {
        let Some(cast) = &self.cast else {
            return Err("there is no cast whose events could be read".to_owned());
        };
        self.events_of(cast)
    }

    /// The ways that every cast of the case took.
    pub(super) fn taken(&self) -> Result<Vec<Taken>, String> {
        let mut taken = Vec::new();
        for id in self.casts()? {
            let events = self.events_of(&id)?;
            let Some(first) = events.first() else { continue };
            let plan = serde_json::from_value(first["data"]["plan"].clone())
                .map_err(|error| format!("the plan of `{id}` cannot be read: {error}"))?;
            let routes = events.iter().filter(|event| event["type"] == "route.selected");
            let edges = routes.filter_map(|event| event["data"]["edgeId"].as_str());
            taken.push(Taken { plan, edges: edges.map(EdgeId::new).collect() });
        }
        Ok(taken)
    }

    /// The ids of the casts that the case has made.
    fn casts(&self) -> Result<Vec<String>, String> {
        let listed = self.call(&["--json", "casts"].map(str::to_owned), None)?;
        let lines =
            listed.stdout.lines().map(|line| serde_json::from_str(line).unwrap_or_default());
        Ok(lines.filter_map(|cast: Value| cast["castId"].as_str().map(str::to_owned)).collect())
    }

    fn events_of(&self, cast: &str) -> Result<Vec<Value>, String> {
        let args = ["--json", "events", cast].map(str::to_owned);
        let ran = self.call(&args, None)?;
        if ran.exit != Some(0) {
            return Err(format!("the events of `{cast}` cannot be read: {}", ran.stderr));
        }
        let lines = ran.stdout.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().map_err(|error| format!("an event is no JSON: {error}"))
    }

    /// Replays every cast that the case has made; gives what does not verify.
    pub(super) fn unverified(&self) -> Result<Vec<String>, String> {
        let mut failures = Vec::new();
        for id in self.casts()? {
            let ran = self.call(&["replay", &id].map(str::to_owned), None)?;
            if ran.exit != Some(0) {
                failures.push(format!("cast `{id}` does not replay: {}", ran.stderr.trim()));
            }
        }
        Ok(failures)
    }

    /// The arguments of a case, with the script, simulated time, trust and JSON where missing.
    fn complete(&self, args: &[String]) -> Vec<String> {
        let mut all: Vec<String> = args.to_vec();
        if let Some(cast) = &self.cast {
            for arg in &mut all {
                *arg = arg.replace("{castId}", cast);
            }
        }
        let has = |name: &str| {
            let named = |arg: &String| {
                arg.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
            };
            args.iter().take_while(|arg| *arg != "--").any(named)
        };
        let starts = |arg: &String| ["cast", "link", "resume"].contains(&arg.as_str());
        let before = all.iter().take_while(|arg| *arg != "--").position(starts);
        if let Some(command) = before {
            let mut more = Vec::new();
            let script = self.script().to_string_lossy().into_owned();
            if self.has_script && !has("--script") {
                more.extend(["--script".to_owned(), script]);
            }
            if self.has_script && !has("--virtual-time") {
                more.push("--virtual-time".to_owned());
            }
            if self.trusts && !has("--trust") {
                more.push("--trust".to_owned());
            }
            let rest = all.split_off(command + 1);
            all.extend(more.into_iter().chain(rest));
        }
        if !has("--json") {
            all.insert(0, "--json".to_owned());
        }
        all
    }

    fn call(&self, args: &[String], input: Option<&Value>) -> Result<Ran, String> {
        let failed = |error: io::Error| format!("the command cannot be run: {error}");
        let [stdin, stdout, stderr] =
            ["stdin", "stdout", "stderr"].map(|name| self.folder.path().join(name));
        // Files, not pipes: no thread has to read them, and a pipe that a child keeps open cannot block.
        fs::write(&stdin, input.map(text).unwrap_or_default()).map_err(failed)?;
        let mut command = Command::new(&self.binary);
        // Without a name, the space is that of the folder.
        command.env_remove("MATERIA_JOURNAL").env_remove("MATERIA_SPACE");
        command.envs(self.journal.as_ref().map(|journal| ("MATERIA_JOURNAL", journal)));
        let mut child = command
            .args(args)
            .current_dir(self.project())
            .env("MATERIA_PROFILE_DIR", self.profile())
            .env("MATERIA_STATE_DIR", self.folder.path().join("state"))
            .env("XDG_CONFIG_HOME", self.folder.path().join(CONFIG_HOME))
            .env("NO_COLOR", "1")
            .env_remove("MATERIA_CONFIG")
            .stdin(Stdio::from(File::open(&stdin).map_err(failed)?))
            .stdout(Stdio::from(File::create(&stdout).map_err(failed)?))
            .stderr(Stdio::from(File::create(&stderr).map_err(failed)?))
            .spawn()
            .map_err(failed)?;
        let begun = Instant::now();
        let status = loop {
            match child.try_wait().map_err(failed)? {
                Some(status) => break status,
                None if begun.elapsed() > COMMAND_TIME_MAX => {
                    child.kill().and_then(|()| child.wait()).map_err(failed)?;
                    let seconds = COMMAND_TIME_MAX.as_secs();
                    return Err(format!("`{}` did not end within {seconds} s", args.join(" ")));
                }
                None => std::thread::sleep(POLL_INTERVAL),
            }
        };
        let read = |path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let stdout = read(&stdout).map_err(failed)?;
        let report = serde_json::from_str(&stdout).ok();
        let stderr = read(&stderr).map_err(failed)?;
        Ok(Ran { exit: status.code(), stdout, stderr, report })
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}

/// A string stands for itself, anything else for its JSON.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| format!("{value:#}"), str::to_owned)
}
