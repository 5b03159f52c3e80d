use std::io::Write as _;

use clap::Args;
use materia_contract::body::WorkerBody;
use materia_engine::wait;

use crate::args::Global;
use crate::failure::{Ended, Exit, Failure};
use crate::project::Project;
use crate::sanitize::one_line;
use crate::terminal::Terminal;

/// List the workers of a space on NATS
///
/// A worker that has given no sign of life for 15 seconds is not listed.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  materia workers\n  materia workers --json")]
pub(crate) struct WorkersArgs {}

/// Runs `workers`.
pub(crate) fn workers(_args: &WorkersArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let project = Project::here(global)?;
    let Some(options) = project.nats_options()? else {
        return Err(Failure::usage(
            "only casts on NATS servers have workers: name the servers with `--journal nats://HOST:PORT`, MATERIA_JOURNAL, or `journal` in your profile",
        ));
    };
    let workers = match project.existing_remote()? {
        Some(journal) => wait(journal.workers()).map_err(materia_app::Failure::from)?,
        None => Vec::new(),
    };
    if terminal.json {
        for worker in &workers {
            terminal.data(worker)?;
        }
        return Ok(Exit::Done);
    }
    let space = options.space.as_str();
    if workers.is_empty() {
        let start = project.command(&format!("worker --trust-space {space}"));
        terminal.say(format_args!("The space `{space}` has no workers; `{start}` starts one."));
    }
    for worker in &workers {
        show(worker, terminal)?;
    }
    Ok(Exit::Done)
}

fn show(worker: &WorkerBody, terminal: &mut Terminal) -> Result<(), Failure> {
    let WorkerBody { name, host, pid, folder, version, slots, seen_at, .. } = worker;
    let (name, host, folder) = (one_line(name, 100), one_line(host, 100), one_line(folder, 300));
    let (version, busy) = (one_line(version, 40), worker.runs.len());
    let ends = if worker.ends { ", takes no more" } else { "" };
    let out = &mut terminal.out;
    writeln!(out, "{name}  {busy} of {slots} slots{ends}  seen {seen_at}")?;
    writeln!(out, "  process {pid} on {host} in {folder}, version {version}")?;
    if !worker.labels.is_empty() {
        writeln!(out, "  labels  {}", one_line(&worker.labels.join(", "), 400))?;
    }
    for run in &worker.runs {
        writeln!(out, "  runs    {run}")?;
    }
    for left in &worker.left_alone {
        writeln!(out, "  leaves  {}: {}", left.cast_id, one_line(&left.why, 400))?;
    }
    Ok(())
}
