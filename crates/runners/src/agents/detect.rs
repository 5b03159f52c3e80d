//! Detects installed agents: version, and whether they are logged in.
//!
//! All evidence is local. Programs are started only to print their version or their login status, without the network,
//! so a revoked login still counts.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use materia_engine::StopSource;
use materia_safe_fs::Temporary;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::process::{self, Course, Order, Reply, StreamReader};
use super::registry::{Agent, AgentRegistry, find_program};
use super::watchdog::Limits;
use super::{Capabilities, Polite, Probe, environment};
use crate::raw_path::RawPath;
use crate::supervise::mark::Mark;
use crate::supervise::protocol::Writable;

/// How long a program may take to print its version.
const PATIENCE: Duration = Duration::from_secs(15);
/// Maximum bytes of its output that are read.
const HEARD_BYTES_MAX: usize = 4 * 1024;
/// The longest version that is believed to be one.
const VERSION_CHARS_MAX: usize = 40;

/// Keeps programs from looking for news of themselves while they print their version.
const QUIET: [(&str, &str); 6] = [
    ("DISABLE_AUTOUPDATER", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("GEMINI_CLI_NO_RELAUNCH", "true"),
    ("NO_UPDATE_NOTIFIER", "1"),
    ("PI_OFFLINE", "1"),
    ("PI_TELEMETRY", "0"),
];

/// Whether an agent holds a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Login {
    /// It does, by this evidence.
    Yes(String),
    /// Nothing says that it does.
    No,
    /// It cannot be determined without a request to the agent.
    Unknown,
}

/// Result of examining one agent.
#[derive(Debug, Clone)]
pub struct Examined {
    /// Its name, as authors write it.
    pub name: String,
    /// The program that was looked for.
    pub program: String,
    /// Where it is, if it is anywhere.
    pub path: Option<PathBuf>,
    /// Version, as the program prints it.
    pub version: Option<String>,
    /// Whether it holds a login.
    pub login: Login,
    /// Its capabilities.
    pub capabilities: &'static Capabilities,
    /// How to get it, and what it was tested with.
    pub probe: Probe,
}

/// A program that some agents need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    /// Where it is.
    pub path: PathBuf,
    /// Version, as the program prints it.
    pub version: Option<String>,
}

/// Examines all known agents concurrently; the results are in the order of preference. Programs of `withheld` agents
/// are not started.
pub async fn examine(
    supervisor: &Path,
    fleet: &AgentRegistry,
    withheld: &[String],
) -> Vec<Examined> {
    let mut looks = JoinSet::new();
    for (place, name) in fleet.names().into_iter().enumerate() {
        // One that the configuration leaves without a command was reported there.
        let Ok(agent) = fleet.named(&name) else { continue };
        let path = fleet.find(&agent);
        if withheld.contains(&name) {
            looks.spawn(async move { (place, unasked(agent, path)) });
            continue;
        }
        let (supervisor, home) = (supervisor.to_owned(), fleet.home().map(Path::to_owned));
        looks.spawn(async move { (place, look(&supervisor, agent, path, home.as_deref()).await) });
    }
    let mut found = looks.join_all().await;
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, examined)| examined).collect()
}

/// Versions of the agents' programs, read in parallel. Agents whose program cannot run are left out.
pub async fn versions(supervisor: &Path, agents: &[Agent]) -> Vec<(String, String)> {
    let mut looks = JoinSet::new();
    for agent in agents.iter().filter(|agent| !agent.adapter().dialogue()) {
        let (supervisor, name) = (supervisor.to_owned(), agent.name.clone());
        let mut command = agent.settings.program.clone().unwrap_or_else(|| vec![agent.program()]);
        command.extend(agent.adapter().probe().version.iter().map(|word| (*word).to_owned()));
        let moved = agent.adapter().home().map(|home| home.variable);
        looks.spawn(async move {
            let said = run(&supervisor, command, moved).await;
            said.and_then(|(_, said)| version_in(&said)).map(|version| (name, version))
        });
    }
    let mut found: Vec<_> = looks.join_all().await.into_iter().flatten().collect();
    found.sort();
    found
}

/// Looks for Node, which some agents run on.
pub async fn node(supervisor: &Path) -> Option<Runtime> {
    let path = find_program("node", env::var_os("PATH").as_deref())?;
    let version = run(supervisor, vec![shown(&path), "--version".to_owned()], None).await;
    Some(Runtime { version: version.and_then(|(_, said)| version_in(&said)), path })
}

/// Result for an agent whose program may not be started.
fn unasked(agent: Agent, path: Option<PathBuf>) -> Examined {
    let (capabilities, probe) = (agent.adapter().capabilities(), agent.adapter().probe());
    let program = agent.program();
    let (name, version, login) = (agent.name, None, Login::Unknown);
    Examined { name, program, path, version, login, capabilities, probe }
}

async fn look(
    supervisor: &Path,
    agent: Agent,
    path: Option<PathBuf>,
    home: Option<&Path>,
) -> Examined {
    let probe = agent.adapter().probe();
    let (mut version, mut login) = (None, Login::No);
    if agent.adapter().dialogue() {
        // An unknown program must not be started with arguments it may not know.
        login = Login::Unknown;
    } else if path.is_some() {
        let command = agent.settings.program.clone().unwrap_or_else(|| vec![agent.program()]);
        let with = |more: &[&str]| {
            command.iter().cloned().chain(more.iter().map(|word| (*word).to_owned())).collect()
        };
        let moved = agent.adapter().home().map(|home| home.variable);
        let said = run(supervisor, with(probe.version), moved).await;
        version = said.and_then(|(_, said)| version_in(&said));
        login = evidence(&agent, home);
        if login == Login::No
            && let Some(question) = probe.login
            && let Some((Some(0), _)) = run(supervisor, with(question), None).await
        {
            login = Login::Yes(format!("`{} {}` says so", probe.program, question.join(" ")));
        }
    }
    let capabilities = agent.adapter().capabilities();
    let program = agent.program();
    Examined { name: agent.name, program, path, version, login, capabilities, probe }
}

/// Evidence of a login: a variable, or a file.
fn evidence(agent: &Agent, home: Option<&Path>) -> Login {
    let (probe, own) = (agent.adapter().probe(), agent.adapter().home());
    let set = |name: &&&str| env::var_os(name).is_some_and(|value| !value.is_empty());
    if let Some(name) = probe.keys.iter().find(set) {
        return Login::Yes(format!("{name} is set"));
    }
    for file in probe.credentials {
        let usual = home.map(|home| home.join(file));
        let moved = own.and_then(|own| {
            let inside = Path::new(file).strip_prefix(own.usual).ok()?;
            Some(own.place(&agent.settings)?.join(inside))
        });
        if let Some(place) = [moved, usual].into_iter().flatten().find(|place| place.is_file()) {
            return Login::Yes(format!("`{}` is there", place.display()));
        }
    }
    Login::No
}

/// Runs a program and returns its exit code and what it printed first. It only has to say something, so the kernel
/// keeps it from writing anywhere but in a temporary folder; `moved` is a variable that leads it there.
async fn run(
    supervisor: &Path,
    argv: Vec<String>,
    moved: Option<&'static str>,
) -> Option<(Option<i32>, String)> {
    let room = Temporary::new("probe").ok()?;
    let names = environment::names(
        &["CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "PI_CODING_AGENT_DIR"],
        &[],
    );
    let passed = environment::passed(&names)
        .filter(|(name, _)| name != "TMPDIR" && Some(name.as_str()) != moved);
    let quiet = QUIET.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value)));
    let here = ["TMPDIR"].into_iter().chain(moved);
    let here = here.map(|name| (name.to_owned(), room.path().as_os_str().to_owned()));
    let order = Order {
        argv,
        cwd: env::current_dir().ok()?,
        env: passed.chain(quiet).chain(here).collect(),
        stdin: Vec::new(),
        dialogue: false,
        writable: Some(Writable {
            folders: vec![RawPath::from(room.path())],
            offline: false,
            only_runs: None,
        }),
        polite: Polite::Terminate,
        lock: None,
        mark: Mark::alone(),
        pinned: Vec::new(),
    };
    let limits = Limits { idle: PATIENCE, ..Limits::default() };
    let (_source, mut stop) = StopSource::new();
    let mut heard = Heard::default();
    let wall = Instant::now() + PATIENCE;
    match process::follow(supervisor, order, limits, wall, &mut stop, &mut heard).await {
        Course::Ran { exit, .. } => {
            Some((exit.code, String::from_utf8_lossy(&heard.0).into_owned()))
        }
        Course::NotStarted { .. } | Course::Withheld(_) | Course::Lost(_) => None,
    }
}

/// The first part of what a program prints.
#[derive(Default)]
struct Heard(Vec<u8>);

impl StreamReader for Heard {
    fn stdout(&mut self, bytes: &[u8]) -> Reply {
        let room = HEARD_BYTES_MAX.saturating_sub(self.0.len());
        self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
        Reply::default()
    }

    fn stderr(&mut self, bytes: &[u8]) {
        self.stdout(bytes);
    }

    fn farewell(&mut self) -> Vec<u8> {
        Vec::new()
    }
}

/// The first word that looks like a version.
fn version_in(said: &str) -> Option<String> {
    let words = said.split_whitespace();
    let mut words = words.map(|word| word.trim_start_matches('v').trim_matches(['(', ')', ',']));
    let version = words.find(|word| {
        word.starts_with(|c: char| c.is_ascii_digit())
            && word.contains('.')
            && word.chars().all(|c| c.is_ascii_alphanumeric() || ".-+".contains(c))
    })?;
    Some(version.chars().take(VERSION_CHARS_MAX).collect())
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_whatever_is_printed() {
        assert_eq!(version_in("2.1.325 (Claude Code)\n").unwrap(), "2.1.325");
        assert_eq!(version_in("codex-cli 0.166.0").unwrap(), "0.166.0");
        assert_eq!(version_in("v22.19.0\n").unwrap(), "22.19.0");
        assert_eq!(version_in("1.0.0-rc.1+x").unwrap(), "1.0.0-rc.1+x");
        assert_eq!(version_in("no version here, not even 5"), None);
    }
}
