//! Agents that are usable on this machine, and what is missing for the others.

use std::path::Path;

use materia_compiler::{Layer, LayerKind, Loaded};
use materia_contract::AgentDoc;
use materia_contract::body::{
    AgentHealth, Durable, GitProgram, Health, JournalHealth, NodeRuntime, PlanningSupport, Sandbox,
};
use materia_contract::capability::{Capabilities, Guarded, SchemaSupport};
use materia_runners::agents::{self, AgentRegistry, Examined, Login};

use crate::Result;
use crate::project::Project;
use crate::text::sanitize::one_line;
use crate::trust::Gate;

/// Agents and models that a project asks for.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// Agents whose program or start options come from the project and are not approved.
    withheld: Vec<String>,
    /// The models that the project asks for, by agent.
    models: Vec<(String, String)>,
}

/// Agents and models that a project asks for, and which of the programs are not approved. A project that only asks for
/// another model names no program, so the version check starts the user's own program.
pub fn wishes(gate: &Gate, loaded: &Loaded, warnings: &mut Vec<String>) -> Wishes {
    let mut wishes = Wishes::default();
    for (name, doc) in &loaded.config.agents {
        let of_project = |layer: &Layer| layer.kind == LayerKind::Project;
        if !loaded.agent_layer(name).is_some_and(of_project) {
            continue;
        }
        let model = doc.model.clone().map(|model| (name.clone(), model));
        wishes.models.extend(model);
        if starts_otherwise(doc) && !gate.knows_agent(loaded, name, warnings) {
            wishes.withheld.push(name.clone());
        }
    }
    wishes
}

/// The NATS servers of a project (M3); `monitor` is the address of their monitor. Blocks.
pub fn journal(project: &Project, monitor: Option<&str>) -> Result<Option<JournalHealth>> {
    let Some(options) = project.nats_options()? else { return Ok(None) };
    let mut health = JournalHealth {
        address: options.shown(),
        space: options.space.as_str().to_owned(),
        problem: None,
        version: None,
        replicas: None,
        lease_seconds: None,
        durable: Durable::Unknown,
        because: "the server cannot be used".to_owned(),
    };
    let journal = match project.remote() {
        Ok(journal) => journal,
        Err(error) => {
            health.problem = Some(error.to_string());
            None
        }
    };
    let Some(facts) = journal.map(|journal| journal.facts()) else { return Ok(Some(health)) };
    health.version = Some(facts.version);
    health.replicas = Some(facts.replicas as u64);
    health.lease_seconds = Some(facts.lease.as_secs());
    (health.durable, health.because) = match (facts.replicas, monitor) {
        (3.., _) => (Durable::Yes, "several servers keep every event".to_owned()),
        (_, None) => (Durable::Unknown, "the address of its monitor is not known".to_owned()),
        (_, Some(monitor)) => match materia_nats::syncs_always(monitor) {
            Ok(true) => (Durable::Yes, "the server syncs every event to its disk".to_owned()),
            Ok(false) => {
                (Durable::No, "one server keeps each event and does not sync it at once; set `sync_interval: always`".to_owned())
            }
            Err(why) => (Durable::Unknown, why),
        },
    };
    Ok(Some(health))
}

/// The same in a line.
pub fn journal_line(journal: &JournalHealth) -> String {
    let JournalHealth { address, space, durable, because, .. } = journal;
    let (address, because) = (one_line(address, 200), one_line(because, 200));
    if let Some(problem) = &journal.problem {
        return format!("Journal on NATS, space `{space}`: {}", one_line(problem, 400));
    }
    let word = match durable {
        Durable::Yes => "durable",
        Durable::No => "NOT durable",
        Durable::Unknown => "durability unknown",
    };
    let (version, replicas) =
        (journal.version.as_deref().unwrap_or("?"), journal.replicas.unwrap_or(1));
    format!(
        "Journal on NATS {} at {address}, space `{space}`, replicas {replicas}: {word} ({because})",
        one_line(version, 40)
    )
}

/// Whether a configuration sets the program of an agent, or how it is started.
fn starts_otherwise(doc: &AgentDoc) -> bool {
    let AgentDoc { protocol, command, args, env, .. } = doc;
    protocol.is_some() || command.is_some() || !args.is_empty() || !env.is_empty()
}

/// Examines the programs of this machine, which are started under `supervisor`. No network request is made. If no
/// agent is usable, the reason is included. Unapproved programs of a project are not started.
pub async fn examine(
    supervisor: &Path,
    fleet: &AgentRegistry,
    wishes: &Wishes,
) -> (Health, Option<String>) {
    let Wishes { withheld, models } = wishes;
    let looks = agents::examine(supervisor, fleet, withheld);
    let (found, node) = tokio::join!(looks, agents::node(supervisor));
    let health = |one: Examined| {
        let not_run = withheld.contains(&one.name);
        let asked = models.iter().find(|(name, _)| *name == one.name);
        let model = asked.map(|(_, model)| model.clone());
        AgentHealth { not_run, model, ..health(one) }
    };
    let (uses, nobody) = match fleet.choose(None) {
        Ok(agent) => (Some(agent.name), None),
        Err(why) => (None, Some(why.to_string())),
    };
    let node = node.map(|node| NodeRuntime {
        path: node.path.to_string_lossy().into_owned(),
        version: node.version,
    });
    let sandbox = materia_runners::machine();
    let agents = found.into_iter().map(health).collect();
    let git = tokio::task::spawn_blocking(materia_workspace::git_version).await.ok().flatten();
    let git = git.map(|(version, workspaces)| GitProgram { version, workspaces });
    (Health { agents, uses, sandbox, gaps: gaps(sandbox), node, git, journal: None }, nobody)
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
        model: None,
    }
}

/// Missing part of an agent, and how to get it.
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

/// Whether an agent is usable now, as far as is known.
pub fn is_usable(one: &AgentHealth) -> bool {
    one.installed && !one.not_run && one.logged_in != Some(false)
}

/// How an agent stands, in a few words.
pub fn state(one: &AgentHealth) -> &'static str {
    match (one.installed, one.logged_in) {
        _ if one.not_run => "named by this project, not run",
        (false, _) => "not installed",
        (true, Some(true)) => "ready",
        (true, Some(false)) => "installed, no login found",
        (true, None) => "installed",
    }
}

/// Capabilities of an agent, in words.
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

/// Sandbox mechanisms of this machine, in one line.
pub fn mechanisms(sandbox: Sandbox) -> String {
    let Sandbox { landlock, filter, cgroup, user_namespaces, .. } = sandbox;
    let landlock = match landlock {
        0 => "no Landlock".to_owned(),
        version => format!("Landlock version {version}"),
    };
    let has = |name: &str, has: bool| format!("{}{name}", if has { "" } else { "no " });
    let spaces = if user_namespaces { "open to everybody" } else { "closed to ordinary users" };
    format!(
        "This machine has {landlock}, {}, {}; user namespaces are {spaces}.",
        has("system-call filter", filter),
        has("cgroup for turns", cgroup)
    )
}

/// Restrictions that are enforced, if all mechanisms are available.
pub fn holds(sandbox: Sandbox) -> Option<&'static str> {
    (sandbox.planning == PlanningSupport::Enforced).then_some(
        "Planning mode, `policy.write`, `policy.network: false` and read-only agents are held by the kernel.",
    )
}

/// Restrictions that this machine cannot enforce on a confined turn, a sentence each.
pub fn confinement_gaps(sandbox: Sandbox) -> Vec<String> {
    let Sandbox { landlock, filter, .. } = sandbox;
    let older = |version| landlock > 0 && landlock < version;
    let gaps = [
        (
            landlock == 0,
            "this kernel has no Landlock and cannot hold turns to Planning mode, `policy.write` or reading: a program can write \
             anywhere; if it does within the project under Planning, its turn fails afterwards",
        ),
        (
            older(3),
            "this kernel holds turns to Planning mode only in part: files that exist can still be truncated (Linux 6.2 does more)",
        ),
        (
            older(5),
            "a confined turn can still control devices that it can read (Linux 6.10 does more)",
        ),
        (
            older(6),
            "a confined turn can still send signals to other processes of yours (Linux 6.12 does more)",
        ),
        (
            !filter,
            "this kernel takes no system-call filter: a confined turn can use mounts and namespaces, where it has the rights, to \
             get around its bounds",
        ),
        (!filter && landlock >= 4, "without the filter `policy.network: false` holds TCP alone"),
        (!filter && landlock < 4, "`policy.network: false` is not held"),
    ];
    let gaps = gaps.into_iter().filter(|(is_open, _)| *is_open);
    gaps.map(|(_, gap)| gap.to_owned()).collect()
}

/// The same, and what no turn is held to.
fn gaps(sandbox: Sandbox) -> Vec<String> {
    let mut gaps = confinement_gaps(sandbox);
    if !sandbox.cgroup {
        gaps.push(
            "turns get no cgroup, because this process may not make one: a program that clears its environment, leaves its \
             session and ends both materia and its supervisor is not found again"
                .to_owned(),
        );
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(landlock: u32, filter: bool, planning: PlanningSupport) -> Sandbox {
        Sandbox { landlock, planning, filter, cgroup: false, user_namespaces: true }
    }

    #[test]
    fn each_thing_that_a_machine_lacks_is_told_with_what_follows() {
        let whole = machine(7, true, PlanningSupport::Enforced);
        assert_eq!(confinement_gaps(whole), [] as [String; 0]);
        assert!(holds(whole).is_some());
        assert_eq!(gaps(whole).len(), 1, "there is no cgroup");
        assert!(mechanisms(whole).contains("Landlock version 7, system-call filter, no cgroup"));
        for (landlock, filter, count, words) in [
            (6, false, 2, "holds TCP alone"),
            (3, true, 2, "send signals"),
            (2, true, 3, "truncated"),
            (0, true, 1, "a program can write"),
            (0, false, 3, "`policy.network: false` is not held"),
        ] {
            let lacking = machine(landlock, filter, PlanningSupport::Partial);
            let told = confinement_gaps(lacking);
            assert_eq!(told.len(), count, "{told:?}");
            assert!(told.iter().any(|gap| gap.contains(words)), "{told:?}");
            assert_eq!(holds(lacking), None);
        }
    }
}
