//! Which agents could be asked on this machine, and what is missing.

use std::path::Path;

use materia_compiler::Loaded;
use materia_contract::body::{AgentHealth, Health, NodeRuntime, PlanningSupport, Sandbox};
use materia_contract::capability::{Capabilities, Guarded, SchemaSupport};
use materia_runners::agents::{self, Examined, Fleet, Login};
use materia_runners::{landlock_version, planning_support};

use crate::clean::one_line;
use crate::trust::Gate;

/// The agents that a project names and nobody has approved, as far as this is known.
#[must_use]
pub fn withheld(gate: &Gate, loaded: &Loaded, warnings: &mut Vec<String>) -> Vec<String> {
    let names = loaded.config.agents.keys();
    names.filter(|name| !gate.knows_agent(loaded, name, warnings)).cloned().collect()
}

/// Looks at the programs of this machine, which are started under `supervisor`. Nobody is asked over the
/// network. Where no agent could be asked, the reason comes along. Those that are `withheld` are named by a
/// project and nobody has approved that: their programs are not started.
pub async fn examine(
    supervisor: &Path,
    fleet: &Fleet,
    withheld: &[String],
) -> (Health, Option<String>) {
    let looks = agents::examine(supervisor, fleet, withheld);
    let (found, node) = tokio::join!(looks, agents::node(supervisor));
    let health = |one: Examined| {
        let not_run = withheld.contains(&one.name);
        AgentHealth { not_run, ..health(one) }
    };
    let (uses, nobody) = match fleet.choose(None) {
        Ok(agent) => (Some(agent.name), None),
        Err(why) => (None, Some(why.to_string())),
    };
    let node = node.map(|node| NodeRuntime {
        path: node.path.to_string_lossy().into_owned(),
        version: node.version,
    });
    let sandbox = Sandbox { landlock: landlock_version(), planning: planning_support() };
    (Health { agents: found.into_iter().map(health).collect(), uses, sandbox, node }, nobody)
}

fn health(one: Examined) -> AgentHealth {
    let missing = missing(&one);
    let (logged_in, evidence) = match one.login {
        Login::Yes(evidence) => (Some(true), Some(evidence)),
        Login::No => (Some(false), None),
        Login::Unknown => (None, None),
    };
    AgentHealth {
        name: one.name,
        label: one.capabilities.label.to_owned(),
        installed: one.path.is_some(),
        logged_in: logged_in.filter(|_| one.path.is_some()),
        path: one.path.map(|path| path.to_string_lossy().into_owned()),
        version: one.version,
        tested_with: one.probe.tested.to_owned(),
        evidence,
        capabilities: *one.capabilities,
        missing,
        not_run: false,
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

/// Whether an agent could be asked now, as far as can be told.
#[must_use]
pub fn is_usable(one: &AgentHealth) -> bool {
    one.installed && !one.not_run && one.logged_in != Some(false)
}

/// How an agent stands, in a few words.
#[must_use]
pub fn state(one: &AgentHealth) -> &'static str {
    match (one.installed, one.logged_in) {
        _ if one.not_run => "named by this project, not run",
        (false, _) => "not installed",
        (true, Some(true)) => "ready",
        (true, Some(false)) => "installed, no login found",
        (true, None) => "installed",
    }
}

/// What works with an agent, in words.
#[must_use]
pub fn can(row: &Capabilities) -> Vec<&'static str> {
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

/// What holds turns to Planning mode, in a sentence.
#[must_use]
pub fn sandbox(sandbox: Sandbox) -> String {
    let version = sandbox.landlock;
    match sandbox.planning {
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
