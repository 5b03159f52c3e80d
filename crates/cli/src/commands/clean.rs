use std::time::Duration;

use clap::Args;
use materia_contract::time::wall_time;
use materia_engine::{Clock as _, SystemClock};

use crate::args::Global;
use crate::failure::{Ended, Exit};
use crate::project::Project;
use crate::sanitize::one_line;
use crate::terminal::Terminal;

const DAY: Duration = Duration::from_hours(24);

/// Remove workspaces and branches that no cast of this project needs any more
///
/// Removed are workspaces, merged branches, refs and transcripts of completed or aborted casts, and temporary folders.
/// A branch that is not merged and a cast that can go on stay.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  materia clean --dry-run\n  materia clean --older-than 7d")]
pub(crate) struct CleanArgs {
    /// Keep casts that ended less than this long ago: 14d, 12h, 30m, 0
    #[arg(long, value_name = "AGE", value_parser = age, default_value = "14d")]
    older_than: Duration,
    /// Only print what would be removed
    #[arg(long)]
    dry_run: bool,
}

fn age(text: &str) -> Result<Duration, String> {
    let wrong = || "an age is a number and d, h or m, such as 14d".to_owned();
    let (number, unit) = match text.strip_suffix(['d', 'h', 'm']) {
        Some(number) => (number, &text[number.len()..]),
        None if text == "0" => ("0", "d"),
        None => return Err(wrong()),
    };
    let number: u32 = number.parse().map_err(|_| wrong())?;
    let unit = match unit {
        "d" => DAY,
        "h" => Duration::from_hours(1),
        _ => Duration::from_mins(1),
    };
    unit.checked_mul(number).ok_or_else(wrong)
}

/// Runs `clean`.
pub(crate) fn clean(args: &CleanArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let project = Project::here(global)?;
    let age = i64::try_from(args.older_than.as_micros()).unwrap_or(i64::MAX);
    let before = SystemClock.now().saturating_sub(age);
    let cleaned = materia_app::cast::workspace::clean(&project, before, args.dry_run)?;
    if terminal.json {
        terminal.data(&cleaned)?;
        return Ok(Exit::Done);
    }
    let out = &mut terminal.out;
    let verb = if cleaned.dry_run { "would remove" } else { "removed" };
    for item in &cleaned.items {
        let size = if item.bytes > 0 {
            format!(" ({} KB)", item.bytes.div_ceil(1024))
        } else {
            String::new()
        };
        writeln!(out, "{verb} {} {}{size}", item.kind, one_line(&item.name, usize::MAX))?;
    }
    match cleaned.items.len() {
        0 => writeln!(out, "nothing to remove of casts that ended before {}", wall_time(before))?,
        count => writeln!(out, "{verb} {count} things, {} KB", cleaned.bytes.div_ceil(1024))?,
    }
    Ok(Exit::Done)
}
