use clap::Args;
use materia_contract::time::wall_time;
use materia_contract::{CastReport, CastStatus, EventBody, LinkTarget, Outcome, RunCreated};
use materia_engine::blocking;

use crate::args::Global;
use crate::clean::{clean, one_line};
use crate::failure::{Exit, Failure};
use crate::journals;
use crate::onward;
use crate::project::{self, Found, Project};
use crate::standing::Standing;
use crate::story::Story;
use crate::terminal::Terminal;

/// How many visits are listed; of more, the last ones.
const VISITS_MAX: usize = 100;
/// How much of a variable is shown.
const VALUE_CHARS_MAX: usize = 160;
/// How many variables are shown.
const VARIABLES_MAX: usize = 50;

/// Show one cast: how it stands, what ran, what is known
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  materia show last\n  materia show 20261115T0226 --json")]
pub(crate) struct ShowArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
}

/// Runs `show`.
pub(crate) fn show(
    args: &ShowArgs,
    global: &Global,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let wanted = project::cast_id(&args.id)?;
    let project = Project::here(global)?;
    let found = project.find(&wanted)?;
    journals::tell(&project, &found, terminal);
    let folders = project.folders(&found.root, &found.id);
    let report = materia_engine::report(found.journal(), &found.id, &folders)?;
    if terminal.json {
        terminal.data(&report)?;
        return Ok(Exit::Done);
    }
    let out = &mut terminal.out;
    writeln!(out, "cast      {}", report.cast_id)?;
    writeln!(out, "status    {}", report.status.word())?;
    writeln!(out, "loadout   {}", one_line(&report.loadout, VALUE_CHARS_MAX))?;
    if let Some((created, started)) = beginning(&found)? {
        if let Some(link) = &created.link {
            let targets: Vec<_> = link.targets.iter().map(LinkTarget::reference).collect();
            let targets = one_line(&targets.join(" → "), VALUE_CHARS_MAX);
            writeln!(out, "linked    {targets} ({})", one_line(&link.loadout_id, VALUE_CHARS_MAX))?;
        }
        if let Some(from) = &created.from_cast_id {
            writeln!(out, "from      {}", one_line(from, VALUE_CHARS_MAX))?;
        }
        writeln!(out, "request   {}", one_line(&created.request, VALUE_CHARS_MAX))?;
        writeln!(out, "started   {started}")?;
    }
    let usage = report.usage;
    let cost = usage.cost.map(|cost| format!(", cost {cost}")).unwrap_or_default();
    writeln!(out, "spent     {} turns, {} tokens{cost}", usage.turns, usage.tokens)?;
    writeln!(out, "events    {}", report.last_seq)?;
    let folder = found.root.join(report.cast_id.as_str());
    writeln!(out, "folder    {}", project.shown(&folder))?;
    tell_trouble(&report, out)?;
    tell_visits(&report, &items(&found)?, out)?;
    tell_state(&report, out)?;
    let (run, _) = materia_engine::load(found.journal(), &found.id)?;
    let mut ways = onward::ways(&Standing::of(&run));
    let further: &[&str] = match report.status {
        CastStatus::Completed | CastStatus::Failed | CastStatus::Aborted => &["events", "replay"],
        CastStatus::Waiting | CastStatus::Running => &["abort", "events"],
    };
    ways.extend(further.iter().map(|name| format!("{name} {}", report.cast_id)));
    for (place, next) in ways.iter().enumerate() {
        let margin = if place == 0 { "\nnext  " } else { "      " };
        writeln!(out, "{margin}    {}", project.command(next))?;
    }
    Ok(Exit::Done)
}

fn beginning(found: &Found) -> Result<Option<(RunCreated, String)>, Failure> {
    let first = blocking(found.journal()).records(&found.id, 0, 1)?;
    let Some(event) = first.first().and_then(|record| record.event().ok()) else { return Ok(None) };
    let EventBody::RunCreated(created) = event.body else { return Ok(None) };
    Ok(Some((*created, wall_time(event.wall))))
}

/// The item of each visit, for people, in the order of the visits.
fn items(found: &Found) -> Result<Vec<Option<String>>, Failure> {
    let mut items = Vec::new();
    Story::walk(found.journal(), &found.id, |story, event| {
        if let EventBody::TurnStarted(data) = &event.body {
            items.push(story.item_of(event.node.as_ref(), data));
        }
    })?;
    Ok(items)
}

type Out = Box<dyn std::io::Write>;

fn tell_trouble(report: &CastReport, out: &mut Out) -> Result<(), Failure> {
    if let Some(error) = &report.error {
        writeln!(out, "\nerror     {}: {}", error.code.word(), clean(&error.message))?;
        if let Some(socket) = &error.socket {
            writeln!(out, "at        {socket}")?;
        }
        for artifact in &error.artifacts {
            writeln!(out, "see       {}", one_line(artifact, VALUE_CHARS_MAX))?;
        }
    }
    if let Some(waiting) = &report.waiting {
        writeln!(out, "\nwaits     {}", clean(&waiting.message))?;
    }
    Ok(())
}

fn tell_visits(
    report: &CastReport,
    items: &[Option<String>],
    out: &mut Out,
) -> Result<(), Failure> {
    if report.visits.is_empty() {
        return Ok(());
    }
    let skipped = report.visits.len().saturating_sub(VISITS_MAX);
    let shown = &report.visits[skipped..];
    let width = shown.iter().map(|visit| visit.socket.as_str().len()).max().unwrap_or(0).max(6);
    writeln!(out, "\n{:width$}  VISIT  ATTEMPT  OUTCOME      ITEM", "SOCKET")?;
    if skipped > 0 {
        writeln!(out, "… {skipped} earlier ones")?;
    }
    for (place, visit) in shown.iter().enumerate() {
        let outcome = match visit.outcome {
            Outcome::Completed => "completed",
            Outcome::Rejected => "rejected",
            Outcome::Failed => "failed",
            Outcome::Interrupted => "interrupted",
            Outcome::Running => "running",
        };
        let item = items.get(skipped + place).and_then(Option::as_deref);
        let item = item.or(visit.item.as_deref()).unwrap_or("");
        let item = one_line(item, VALUE_CHARS_MAX);
        let row = format!(
            "{:width$}  {:5}  {:7}  {outcome:11}  {item}",
            visit.socket.as_str(),
            visit.visit,
            visit.attempt
        );
        writeln!(out, "{}", row.trim_end())?;
    }
    Ok(())
}

fn tell_state(report: &CastReport, out: &mut Out) -> Result<(), Failure> {
    if report.state.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nSTATE")?;
    for (name, value) in report.state.iter().take(VARIABLES_MAX) {
        writeln!(out, "{}: {}", one_line(name, 80), one_line(&value.to_string(), VALUE_CHARS_MAX))?;
    }
    if let Some(more) = report.state.len().checked_sub(VARIABLES_MAX).filter(|more| *more > 0) {
        writeln!(out, "… and {more} more; `--json` has all of it")?;
    }
    Ok(())
}
