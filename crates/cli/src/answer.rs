//! Prints the last answer of a cast when it stops.

use materia_contract::{CastReport, CastStatus, WaitReason};

use crate::project::Project;
use crate::sanitize::one_line;
use crate::terminal::Terminal;

/// How many lines of it are shown.
const LINES_MAX: usize = 12;
/// How much of a line is shown.
const LINE_CHARS_MAX: usize = 400;

/// Prints the last answer if the user needs it: for a cast that completed, or one that waits for a reply to it.
pub(crate) fn tell(report: &CastReport, project: &Project, terminal: &Terminal) {
    let asks = report.waiting.as_ref().is_some_and(|it| it.reason == WaitReason::MultiTurn);
    if !asks && report.status != CastStatus::Completed {
        return;
    }
    let Some(said) = report.answer.as_ref().filter(|said| !said.text.trim().is_empty()) else {
        return;
    };
    let lines: Vec<&str> = said.text.trim().lines().collect();
    for (place, line) in lines.iter().take(LINES_MAX).enumerate() {
        let margin = if place == 0 { "said" } else { "" };
        terminal.say(format_args!("  {margin:6}  {}", one_line(line, LINE_CHARS_MAX)));
    }
    if lines.len() > LINES_MAX {
        let more = lines.len() - LINES_MAX;
        let all = project.command(&format!("output {} {}", report.cast_id, said.socket));
        terminal.say(format_args!("          … {more} more lines: `{all}`"));
    }
}
