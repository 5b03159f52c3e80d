use std::io::Write as _;

use clap::Args;
use materia_app::agents as answers;
use materia_contract::capability::{Capabilities, Guarded, SchemaSupport};
use materia_runners::agents::{self, Examined, Fleet, Login, Runtime};
use materia_runners::{PlanningSupport, landlock_version, planning_support};
use serde_json::{Value, json};

use crate::args::Global;
use crate::clean::one_line;
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::terminal::Terminal;
use crate::run;

/// Show which agents are installed and usable, and what is missing
///
/// Looks at this machine only: programs, their versions, and what a login leaves behind. Nobody is
/// asked over the network. Exits with 0 if an agent could be asked now, else with 1.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  materia doctor\n  materia doctor --json")]
pub(crate) struct DoctorArgs {}

/// Runs `doctor`.
pub(crate) fn doctor(
    _args: &DoctorArgs,
    global: &Global,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let project = Project::here(global)?;
    let (loaded, _) = materia_compiler::load(&project.sources);
    let fleet = answers::fleet(&loaded, None);
    let supervisor = run::supervisor()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Broken(format!("cannot start: {error}")))?;
    let (found, node) = runtime.block_on(async {
        tokio::join!(agents::examine(&supervisor, &fleet), agents::node(&supervisor))
    });
    let health = Health { found, node, chosen: chosen(&fleet) };
    if terminal.json {
        terminal.data(&health.json())?;
    } else {
        health.show(terminal)?;
    }
    let usable = |one: &Examined| one.path.is_some() && one.login != Login::No;
    Ok(if health.found.iter().any(usable) { Exit::Done } else { Exit::Failed })
}

/// Who would be asked, or why nobody could be.
fn chosen(fleet: &Fleet) -> Result<String, String> {
    fleet.choose(None).map(|agent| agent.name).map_err(|error| error.to_string())
}

/// What was found.
struct Health {
    found: Vec<Examined>,
    node: Option<Runtime>,
    chosen: Result<String, String>,
}

impl Health {
    fn json(&self) -> Value {
        let agents: Vec<Value> = self.found.iter().map(agent_json).collect();
        let node = self
            .node
            .as_ref()
            .map(|node| json!({ "path": node.path.to_string_lossy(), "version": node.version }));
        json!({
            "agents": agents,
            "uses": self.chosen.as_ref().ok(),
            "sandbox": { "landlock": landlock_version(), "planning": planning_support() },
            "node": node,
        })
    }

    fn show(&self, terminal: &mut Terminal) -> Result<(), Failure> {
        let name_width = self.found.iter().map(|one| one.name.len()).max().unwrap_or(0).max(5);
        let out = &mut terminal.out;
        writeln!(out, "{:name_width$}  {:25}  {:12}  PROGRAM", "AGENT", "STATE", "VERSION")?;
        for one in &self.found {
            let path = one.path.as_ref().map(|path| path.to_string_lossy().into_owned());
            writeln!(
                out,
                "{:name_width$}  {:25}  {:12}  {}",
                one.name,
                state(one),
                one.version.as_deref().unwrap_or("-"),
                one_line(path.as_deref().unwrap_or("-"), 200)
            )?;
        }
        writeln!(out)?;
        for one in self.found.iter().filter(|one| one.path.is_some()) {
            writeln!(out, "{:name_width$}  {}", one.name, can(one.capabilities).join("; "))?;
        }
        match &self.chosen {
            Ok(name) => writeln!(
                out,
                "\nSockets that name no agent ask {name}; `--provider NAME` or `provider` in the \
                 configuration chooses another."
            )?,
            Err(why) => writeln!(out, "\nNo socket can ask an agent: {why}.")?,
        }
        writeln!(out, "{}", sandbox())?;
        match &self.node {
            Some(node) => writeln!(
                out,
                "Node {} is at {}; Gemini needs 20 or newer, Pi 22.19.",
                node.version.as_deref().unwrap_or("(version unknown)"),
                one_line(&node.path.to_string_lossy(), 200)
            )?,
            None => writeln!(
                out,
                "Node is not installed; Gemini (20 or newer) and Pi (22.19) need it."
            )?,
        }
        let to_do: Vec<(&str, String)> =
            self.found.iter().filter_map(|one| Some((one.name.as_str(), missing(one)?))).collect();
        if !to_do.is_empty() {
            writeln!(out, "\nTo get more:")?;
        }
        for (name, what) in to_do {
            writeln!(out, "  {name:name_width$}  {what}")?;
        }
        if self.chosen.is_err() {
            writeln!(out, "\n`materia demo` shows a whole workflow without any agent.")?;
        }
        Ok(())
    }
}

fn agent_json(one: &Examined) -> Value {
    let (logged_in, evidence) = match &one.login {
        Login::Yes(evidence) => (Some(true), Some(evidence)),
        Login::No => (Some(false), None),
        Login::Unknown => (None, None),
    };
    json!({
        "name": one.name,
        "label": one.capabilities.label,
        "installed": one.path.is_some(),
        "path": one.path.as_ref().map(|path| path.to_string_lossy()),
        "version": one.version,
        "testedWith": one.probe.tested,
        "loggedIn": logged_in.filter(|_| one.path.is_some()),
        "evidence": evidence,
        "capabilities": one.capabilities,
        "missing": missing(one),
    })
}

fn state(one: &Examined) -> &'static str {
    match (&one.path, &one.login) {
        (None, _) => "not installed",
        (Some(_), Login::Yes(_)) => "ready",
        (Some(_), Login::No) => "installed, no login found",
        (Some(_), Login::Unknown) => "installed",
    }
}

/// What is missing, and how to get it.
fn missing(one: &Examined) -> Option<String> {
    match (&one.path, &one.login) {
        (None, Login::Unknown) => {
            Some(format!("its program `{}` is not there", one_line(&one.program, 200)))
        }
        (None, _) => Some(format!("install it: {}", one.probe.install)),
        (Some(_), Login::No) => Some(format!("log in: {}", one.probe.how_to_log_in)),
        (Some(_), Login::Yes(_) | Login::Unknown) => None,
    }
}

/// What works with an agent, in words.
fn can(row: &Capabilities) -> Vec<&'static str> {
    let mut words = Vec::new();
    words.push(if row.resume { "goes on in its sessions" } else { "sessions if it says so" });
    words.push(match row.schema {
        SchemaSupport::Checked => "checks answers against a schema",
        SchemaSupport::Passed => "gets a schema, unchecked",
        SchemaSupport::Absent => "answers in text",
    });
    words.push(match row.read_only {
        Guarded::Tools => "read-only by its tools",
        Guarded::Sandbox => "read-only by its own sandbox",
        Guarded::Nobody => "read-only by the kernel alone",
    });
    words.push(match (row.tokens, row.cost) {
        (_, true) => "reports tokens and cost",
        (true, false) => "reports tokens",
        (false, false) => "usage if it says so",
    });
    words
}

fn sandbox() -> String {
    let version = landlock_version();
    match planning_support() {
        PlanningSupport::Enforced => {
            format!("Landlock (version {version} or newer) holds turns to Planning mode.")
        }
        PlanningSupport::Partial => format!(
            "Landlock (version {version}) holds turns to Planning mode only in part: files that \
             exist can still be truncated. A kernel from 6.2 on does more."
        ),
        PlanningSupport::Unavailable => {
            "This kernel has no Landlock: Planning mode is asked for, not enforced.".to_owned()
        }
    }
}
