use std::io::Write;

use clap::Args;
use materia_engine::{Condition, Suggestion, Why, WhyError};

use crate::args::Global;
use crate::failure::{Ended, Exit, Failure};
use crate::journals;
use crate::project::Project;
use crate::sanitize;
use crate::terminal::Terminal;

/// Events that are named for one condition, at the most.
const EVENTS_MAX: usize = 4;

/// Explain why a socket ran, or why it does not run
///
/// Prints why its last turn ran, or why it had none; then each condition that the scheduler checks
/// before it starts a turn, with the events that made it true or false; then the smallest change
/// that would let it run.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia why last Socket-4\n  materia why last Socket-4 --at 12"
)]
pub(crate) struct WhyArgs {
    /// The cast: its id, the beginning of it, or `last`; or an archive, `cast.materia`
    #[arg(value_name = "ID")]
    id: String,
    /// The socket
    #[arg(value_name = "SOCKET")]
    node: String,
    /// As of this event instead of the end
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,
}

/// Runs `why`.
pub(crate) fn why(args: &WhyArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let (project, subject) = journals::open(&args.id, global, terminal)?;
    let why = materia_engine::why(subject.journal(), subject.id(), &args.node, args.at);
    let why = why.map_err(|error| match error {
        WhyError::Load(error) => error.into(),
        WhyError::UnknownNode { .. } | WhyError::NoSuchEvent(_) => {
            Failure::resolution(error.to_string())
        }
    })?;
    if terminal.json {
        terminal.data(&why)?;
        return Ok(Exit::Done);
    }
    let project = subject.archive().is_none().then_some(&project);
    for line in lines(&why, project) {
        writeln!(terminal.out, "{}", sanitize::clean(&line))?;
    }
    Ok(Exit::Done)
}

/// The answer for a person, line by line. Without a project nothing can be done, so nothing is advised.
fn lines(why: &Why, project: Option<&Project>) -> Vec<String> {
    let mut lines = vec![why.sentence.clone(), String::new()];
    lines.push(if why.runnable {
        "It is about to start: every condition holds.".to_owned()
    } else {
        "It does not start by itself:".to_owned()
    });
    let (plain, telling): (Vec<_>, Vec<_>) =
        why.conditions.iter().partition(|condition| is_plain(condition));
    for condition in telling {
        draw(condition, 1, &mut lines);
    }
    if !plain.is_empty() {
        let names: Vec<&str> = plain.iter().map(|condition| condition.name.as_str()).collect();
        lines.push(format!("  ✓ {}", names.join(", ")));
    }
    if let Some(project) = project {
        lines.push(String::new());
        lines.push(advice(why.suggestion.as_ref(), project));
    }
    lines
}

/// Whether a condition holds and nothing has happened to it since the run began.
fn is_plain(condition: &Condition) -> bool {
    let Condition { holds, events, of, .. } = condition;
    *holds && of.is_empty() && events.iter().all(|seq| *seq == 1)
}

/// A condition, and what it consists of, as a tree.
fn draw(condition: &Condition, depth: usize, lines: &mut Vec<String>) {
    let Condition { name, holds, text, events, of } = condition;
    let sign = if *holds { '✓' } else { '✗' };
    let label = if depth == 1 { format!("{name}: ") } else { String::new() };
    let told = if of.is_empty() { named(events) } else { String::new() };
    lines.push(format!("{:indent$}{sign} {label}{text}{told}", "", indent = 2 * depth));
    for part in of {
        draw(part, depth + 1, lines);
    }
}

/// The newest events, in words.
fn named(events: &[u64]) -> String {
    let mut newest: Vec<u64> = events.to_vec();
    newest.sort_unstable();
    newest.dedup();
    let left = newest.len().saturating_sub(EVENTS_MAX);
    let shown: Vec<String> = newest.iter().skip(left).map(ToString::to_string).collect();
    match (shown.as_slice(), left) {
        ([], _) => String::new(),
        ([one], _) => format!(" (event {one})"),
        (several, 0) => format!(" (events {})", several.join(", ")),
        (several, more) => format!(" (events {} and {more} more)", several.join(", ")),
    }
}

/// Advice for the person.
fn advice(suggestion: Option<&Suggestion>, project: &Project) -> String {
    let Some(suggestion) = suggestion else {
        return "Nothing that can be done from here would let it run: its foreach has no list, or \
                the cast was over at once."
            .to_owned();
    };
    let steps: Vec<String> = suggestion
        .steps
        .iter()
        .map(|step| match &step.command {
            Some(command) => {
                // With the options that the project needs.
                let words = command.strip_prefix("materia ").unwrap_or(command);
                format!("  {}", project.command(words))
            }
            None => format!("  {}", step.text),
        })
        .collect();
    if steps.is_empty() {
        return format!("To let it run: {}.", suggestion.sentence);
    }
    format!("To let it run:\n{}", steps.join("\n"))
}
