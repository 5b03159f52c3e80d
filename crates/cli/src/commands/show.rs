use clap::Args;
use materia_app::views::subject::Subject;
use materia_contract::{CastReport, CastStatus, Outcome, Visit};

use crate::args::Global;
use crate::event_text::{self, DrivenBy};
use crate::failure::{Ended, Exit, Failure};
use crate::journals;
use crate::next_command;
use crate::next_steps::NextSteps;
use crate::project::Project;
use crate::sanitize::{clean, one_line};
use crate::terminal::Terminal;

/// How many visits are listed; of more, the last ones.
const VISITS_MAX: usize = 100;
/// How much of a variable is shown.
const VALUE_CHARS_MAX: usize = 160;
/// How many variables are shown.
const VARIABLES_MAX: usize = 50;
/// How much of an answer is shown.
const ANSWER_LINES_MAX: usize = 20;

/// Show one cast: status, turns, last answer, state
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia show last\n  materia show 20261115T0226 --json\n\nMore of what was said: `materia output ID SOCKET`, `materia logs ID SOCKET`."
)]
pub(crate) struct ShowArgs {
    /// The cast: its id, the beginning of it, or `last`; or an archive, `cast.materia`
    #[arg(value_name = "ID")]
    id: String,
}

/// Runs `show`.
pub(crate) fn show(args: &ShowArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let (project, subject) = journals::open(&args.id, global, terminal)?;
    let folders = subject.folders(&project);
    let report = materia_engine::report(subject.journal(), subject.id(), &folders)?;
    if terminal.json {
        terminal.data(&report)?;
        return Ok(Exit::Done);
    }
    let out = &mut terminal.out;
    writeln!(out, "cast      {}", report.cast_id)?;
    let driven = match &subject {
        Subject::Archive(_) => DrivenBy::Nobody,
        Subject::Cast(found) => found.journal.driven_by(&found.id),
    };
    writeln!(out, "status    {}", event_text::status(report.status, report.verdict, driven))?;
    let moved = match &subject {
        Subject::Archive(_) => None,
        Subject::Cast(found) => {
            found.journal.moved(&found.id).map_err(materia_app::Failure::from)?
        }
    };
    if let Some(place) = &moved {
        writeln!(out, "copied    it goes on in {}", one_line(place, VALUE_CHARS_MAX))?;
    }
    writeln!(out, "loadout   {}", one_line(&report.loadout, VALUE_CHARS_MAX))?;
    if !report.linked.is_empty() {
        let targets = one_line(&report.linked.join(" → "), VALUE_CHARS_MAX);
        let id = report.link_id.as_deref().unwrap_or_default();
        writeln!(out, "linked    {targets} ({})", one_line(id, VALUE_CHARS_MAX))?;
    }
    if let Some(from) = &report.from_cast_id {
        writeln!(out, "from      {}", one_line(from, VALUE_CHARS_MAX))?;
    }
    writeln!(out, "request   {}", one_line(&report.request, VALUE_CHARS_MAX))?;
    if let Some(started) = &report.started_at {
        writeln!(out, "started   {started}")?;
    }
    writeln!(out, "spent     {}", event_text::spent(&report))?;
    writeln!(out, "events    {}", report.last_seq)?;
    match &subject {
        Subject::Archive(archive) => writeln!(out, "archive   {}", archive.name())?,
        Subject::Cast(found) => {
            let folder = found.root.join(report.cast_id.as_str());
            writeln!(out, "folder    {}", project.shown(&folder))?;
        }
    }
    if report.workspace.is_some() && subject.archive().is_none() {
        let words = project.command(&format!("workspace {}", report.cast_id));
        writeln!(out, "workspace a copy of the repository: {words}")?;
    }
    tell_trouble(&report, out)?;
    tell_visits(&report, out)?;
    tell_answer(&report, &project, out)?;
    tell_state(&report, out)?;
    let ways = if moved.is_some() { looks(&subject) } else { ways(&report, &subject, driven)? };
    for (place, next) in ways.iter().enumerate() {
        let margin = if place == 0 { "\nnext  " } else { "      " };
        writeln!(out, "{margin}    {}", project.command(next))?;
    }
    Ok(Exit::Done)
}

/// Commands that only look.
fn looks(subject: &Subject) -> Vec<String> {
    ["events", "replay"].iter().map(|name| format!("{name} {}", subject.name())).collect()
}

/// Commands that make sense next. With an archive nothing can be done but to look at it.
fn ways(report: &CastReport, subject: &Subject, driven: DrivenBy) -> Result<Vec<String>, Failure> {
    let named = |name: &&str| format!("{name} {}", subject.name());
    if subject.archive().is_some() {
        return Ok(looks(subject));
    }
    let (run, _) = materia_engine::load(subject.journal(), subject.id())?;
    let mut ways = next_command::answers(report);
    if report.status == CastStatus::Running && driven != DrivenBy::Nobody {
        ways.push(format!("attach {}", report.cast_id));
    } else {
        let further = next_command::ways(&NextSteps::of(&run));
        ways.extend(further.into_iter().filter(|way| !ways.contains(way)).collect::<Vec<_>>());
    }
    let further: &[&str] = match report.status {
        CastStatus::Completed | CastStatus::Failed | CastStatus::Aborted => &["events", "replay"],
        CastStatus::Waiting | CastStatus::Running => &["abort", "events"],
    };
    ways.extend(further.iter().map(named));
    Ok(ways)
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
    for question in &report.questions {
        let refused = match (&question.reason, question.denied) {
            (Some(reason), true) => format!(", refused: {}", one_line(reason, VALUE_CHARS_MAX)),
            (None, true) => ", refused".to_owned(),
            (_, false) => String::new(),
        };
        writeln!(out, "asks      {} (question {}{refused})", question.socket, question.hash)?;
    }
    Ok(())
}

fn tell_visits(report: &CastReport, out: &mut Out) -> Result<(), Failure> {
    if report.visits.is_empty() {
        return Ok(());
    }
    let skipped = report.visits.len().saturating_sub(VISITS_MAX);
    let rows: Vec<[String; 8]> = report.visits[skipped..]
        .iter()
        .map(|visit| {
            let attempt =
                if visit.attempt > 1 { format!(".{}", visit.attempt) } else { String::new() };
            let took = visit.duration_ms.and_then(|ms| i64::try_from(ms).ok());
            let label =
                visit.item_label.as_deref().filter(|label| visit.item.as_deref() != Some(label));
            let item = [visit.item.as_deref(), label].into_iter().flatten().collect::<Vec<_>>();
            let item = item.join(" ");
            let item = item.as_str();
            let why = visit.reason.as_deref().unwrap_or("");
            let parts = [item, why].map(|part| one_line(part, VALUE_CHARS_MAX));
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            [
                visit.socket.to_string(),
                one_line(visit.materia.as_deref().unwrap_or(""), 40),
                format!("{}{attempt}", visit.visit),
                outcome(visit).to_owned(),
                took.map(|ms| event_text::duration(ms * 1_000)).unwrap_or_default(),
                visit.tokens.map(|tokens| tokens.to_string()).unwrap_or_default(),
                visit.cost.map(|cost| cost.to_string()).unwrap_or_default(),
                parts.join(": "),
            ]
        })
        .collect();
    let heads = ["SOCKET", "MATERIA", "VISIT", "OUTCOME", "TIME", "TOKENS", "COST", ""];
    let widths: Vec<usize> = (0..heads.len())
        .map(|column| {
            let cells = rows.iter().map(|row| row[column].chars().count());
            let widest = cells.max().unwrap_or(0);
            if widest == 0 { 0 } else { widest.max(heads[column].len()) }
        })
        .collect();
    let line = |cells: &[String; 8]| {
        let cells = cells.iter().zip(&widths).filter(|(_, width)| **width > 0);
        let line: String = cells.fold(String::new(), |row, (cell, width)| {
            format!("{row}{cell:width$}  ", width = *width)
        });
        line.trim_end().to_owned()
    };
    writeln!(out, "\n{}", line(&heads.map(str::to_owned)))?;
    if skipped > 0 {
        writeln!(out, "… {skipped} earlier ones; `--json` has all of them")?;
    }
    for row in &rows {
        writeln!(out, "{}", line(row))?;
    }
    Ok(())
}

fn outcome(visit: &Visit) -> &'static str {
    let refused = visit.refused && visit.outcome == Outcome::Completed;
    if refused { "refused" } else { visit.outcome.with_verdict(visit.satisfied) }
}

fn tell_answer(report: &CastReport, project: &Project, out: &mut Out) -> Result<(), Failure> {
    let Some(said) = report.answer.as_ref().filter(|said| !said.text.trim().is_empty()) else {
        return Ok(());
    };
    writeln!(out, "\nANSWER of {} (visit {})", said.socket, said.visit)?;
    let lines: Vec<&str> = said.text.trim().lines().collect();
    for line in lines.iter().take(ANSWER_LINES_MAX) {
        writeln!(out, "  {}", one_line(line, 400))?;
    }
    if lines.len() > ANSWER_LINES_MAX {
        let all = project.command(&format!("output {} {}", report.cast_id, said.socket));
        let more = lines.len() - ANSWER_LINES_MAX;
        writeln!(out, "  … {more} more lines; `{all}` has all of it")?;
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
