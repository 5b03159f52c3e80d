use clap::Args;
use materia_contract::{CastLine, CastStatus};
use materia_engine::blocking;

use crate::args::Global;
use crate::event_text::{self, DrivenBy};
use crate::failure::{Ended, Exit};
use crate::project::Project;
use crate::sanitize::one_line;
use crate::terminal::Terminal;

/// List the casts of this project, newest first
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia casts\n  materia casts --limit 10\n  materia casts --status waiting\n  materia casts --json | head -1"
)]
pub(crate) struct CastsArgs {
    /// Only the newest N
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Only casts with this status: running, waiting, completed, failed, aborted
    #[arg(long, value_name = "STATUS", value_parser = ["running", "waiting", "completed", "failed", "aborted"])]
    status: Option<String>,
    /// Only casts of this loadout
    #[arg(long, value_name = "NAME")]
    loadout: Option<String>,
}

/// Runs `casts`.
pub(crate) fn casts(args: &CastsArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let project = Project::here(global)?;
    let journals = project.journals()?;
    let mut lines = Vec::new();
    for (_, journal) in &journals {
        let listed = blocking(&**journal).list()?;
        lines.extend(listed.lines);
        for what in listed.unreadable {
            terminal.say(format_args!("warning: {}", one_line(&what, 300)));
        }
    }
    if journals.len() > 1 {
        lines.sort_by(|one, other| other.started_at.cmp(&one.started_at));
    }
    let none = lines.is_empty();
    lines.retain(|line| {
        args.status.as_deref().is_none_or(|status| line.status.word() == status)
            && args.loadout.as_deref().is_none_or(|name| line.loadout == name)
    });
    lines.truncate(args.limit.unwrap_or(usize::MAX));
    if terminal.json {
        for line in &lines {
            terminal.data(line)?;
        }
        return Ok(Exit::Done);
    }
    if lines.is_empty() && !none {
        terminal.say("No cast of this project matches these filters.");
        return Ok(Exit::Done);
    }
    if lines.is_empty() {
        terminal.say(format_args!("There are no casts in {} yet.", project.shown_place()));
        return Ok(Exit::Done);
    }
    // It matters only of a cast that runs; its lease is in one of the journals.
    let driven = |line: &CastLine| {
        if line.status != CastStatus::Running {
            return DrivenBy::Process;
        }
        let mut all = journals.iter().map(|(_, journal)| journal.driven_by(&line.cast_id));
        all.find(|by| *by != DrivenBy::Nobody).unwrap_or(DrivenBy::Nobody)
    };
    let statuses: Vec<&str> = lines
        .iter()
        .map(|line| event_text::status(line.status, line.verdict, driven(line)))
        .collect();
    let width = lines.iter().map(|line| line.cast_id.as_str().len()).max().unwrap_or(0).max(4);
    let loadout_width = lines.iter().map(|line| one_line(&line.loadout, 30).chars().count());
    let loadout_width = loadout_width.max().unwrap_or(0).max(7);
    let status_width = statuses.iter().map(|it| it.len()).max().unwrap_or(0).max("completed".len());
    // Only where some cast continues another one is there something to say about it.
    let widths = lines.iter().filter_map(|line| Some(line.from_cast_id.as_ref()?.len()));
    let from_width = widths.max().map(|width| width.max("FROM".len()));
    let from = |id: &str| from_width.map_or(String::new(), |width| format!("{id:width$}  "));
    let head = from("FROM");
    writeln!(
        terminal.out,
        "{:width$}  {:status_width$}  {:24}  {:loadout_width$}  {head}REQUEST",
        "CAST", "STATUS", "STARTED", "LOADOUT"
    )?;
    for (line, status) in lines.iter().zip(&statuses) {
        let from = from(line.from_cast_id.as_deref().unwrap_or_default());
        writeln!(
            terminal.out,
            "{:width$}  {:status_width$}  {:24}  {:loadout_width$}  {from}{}",
            line.cast_id.as_str(),
            status,
            line.started_at,
            one_line(&line.loadout, 30),
            one_line(&line.request, 80)
        )?;
    }
    Ok(Exit::Done)
}
