use std::io::Write as _;

use clap::Args;
use materia_app::{cast::agents, project::health};
use materia_contract::body::Health;
use tokio::runtime::Builder;

use crate::args::Global;
use crate::failure::{Ended, Exit, Failure};
use crate::project::Project;
use crate::run;
use crate::sanitize::one_line;
use crate::terminal::Terminal;

/// Show which agents are installed and usable, and what is missing
///
/// Looks at this machine only: programs, their versions, and the files that a login leaves. It uses
/// no network. A program that this project names is started only if that was approved. Exits with 0
/// if an agent is ready to use, else with 1.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  materia doctor\n  materia doctor --json")]
pub(crate) struct DoctorArgs {}

/// Runs `doctor`.
pub(crate) fn doctor(_args: &DoctorArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let project = Project::here(global)?;
    let (loaded, _) = materia_compiler::load(&project.sources);
    let fleet = agents::fleet(&loaded, None);
    let supervisor = run::supervisor()?;
    let runtime = run::runtime(Builder::new_current_thread())?;
    let wishes = terminal.warned(|warnings| health::wishes(&project.gate(), &loaded, warnings));
    let (health, nobody) = runtime.block_on(health::examine(&supervisor, &fleet, &wishes));
    let monitor = std::env::var("MATERIA_NATS_MONITOR").ok().filter(|it| !it.is_empty());
    let health = Health { journal: health::journal(&project, monitor.as_deref())?, ..health };
    if terminal.json {
        terminal.data(&health)?;
    } else {
        show(&health, nobody.as_deref(), terminal)?;
    }
    let usable = health.agents.iter().any(health::is_usable);
    Ok(if usable { Exit::Done } else { Exit::Failed })
}

/// The same for people; `nobody` says why no agent can be asked.
fn show(health: &Health, nobody: Option<&str>, terminal: &mut Terminal) -> Result<(), Failure> {
    let agents = &health.agents;
    let name_width = agents.iter().map(|one| one.name.len()).max().unwrap_or(0).max(5);
    let out = &mut terminal.out;
    writeln!(out, "{:name_width$}  {:30}  {:12}  PROGRAM", "AGENT", "STATE", "VERSION")?;
    for one in agents {
        writeln!(
            out,
            "{:name_width$}  {:30}  {:12}  {}",
            one_line(&one.name, 60),
            health::state(one),
            one_line(one.version.as_deref().unwrap_or("-"), 40),
            one_line(one.path.as_deref().unwrap_or("-"), 200)
        )?;
    }
    writeln!(out)?;
    for one in agents.iter().filter(|one| one.installed) {
        let name = one_line(&one.name, 60);
        writeln!(out, "{name:name_width$}  {}", health::can(&one.capabilities).join("; "))?;
    }
    for one in agents {
        if let Some(model) = &one.model {
            let (name, model) = (one_line(&one.name, 60), one_line(model, 60));
            writeln!(out, "{name:name_width$}  this project asks for its model `{model}`")?;
        }
    }
    match (&health.uses, nobody) {
        (Some(name), _) => writeln!(
            out,
            "\nSockets that name no agent ask {}; `--provider NAME` or `provider` in the \
             configuration chooses another.",
            one_line(name, 60)
        )?,
        (None, why) => {
            writeln!(
                out,
                "\nNo socket can ask an agent: {}.",
                one_line(why.unwrap_or_default(), 600)
            )?;
        }
    }
    if let Some(journal) = &health.journal {
        writeln!(out, "{}", health::journal_line(journal))?;
    }
    writeln!(out, "{}", health::mechanisms(health.sandbox))?;
    if let Some(line) = health::holds(health.sandbox) {
        writeln!(out, "{line}")?;
    }
    for gap in &health.gaps {
        writeln!(out, "Not held here: {gap}.")?;
    }
    match &health.node {
        Some(node) => writeln!(
            out,
            "Node {} is at {}; Gemini needs 20 or newer, Pi 22.19.",
            one_line(node.version.as_deref().unwrap_or("(version unknown)"), 40),
            one_line(&node.path, 200)
        )?,
        None => {
            writeln!(out, "Node is not installed; Gemini (20 or newer) and Pi (22.19) need it.")?;
        }
    }
    match &health.git {
        Some(git) if git.workspaces => writeln!(
            out,
            "git {} is new enough for `--workspace own`.",
            one_line(&git.version, 40)
        )?,
        Some(git) => writeln!(
            out,
            "git {} is too old for `--workspace own`, which needs 2.41 or newer.",
            one_line(&git.version, 40)
        )?,
        None => writeln!(out, "git is not installed; `--workspace own` needs 2.41 or newer.")?,
    }
    let to_do = agents.iter().filter_map(|one| Some((one.name.as_str(), one.missing.as_ref()?)));
    let to_do: Vec<(&str, &String)> = to_do.collect();
    if !to_do.is_empty() {
        writeln!(out, "\nTo get more:")?;
    }
    for (name, what) in to_do {
        writeln!(out, "  {:name_width$}  {}", one_line(name, 60), one_line(what, 600))?;
    }
    if health.uses.is_none() {
        writeln!(out, "\n`materia demo` shows a whole workflow without any agent.")?;
    }
    Ok(())
}
