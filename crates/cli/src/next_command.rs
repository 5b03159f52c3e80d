//! Commands that continue a cast, as a person types them.

use std::fmt::Write as _;

use materia_app::views::next_steps::{Next, NextSteps, NodeBound};
use materia_contract::{CastReport, Do, NodeId, OpenQuestion};
use materia_kernel::Phase;

use crate::project::Project;

/// The commands that bring a cast on, the likeliest first, without the word `materia`.
pub(crate) fn ways(standing: &NextSteps<'_>) -> Vec<String> {
    standing.onward().iter().map(|next| words(next, standing.id().as_str())).collect()
}

/// The commands that answer the open questions of a cast.
pub(crate) fn answers(report: &CastReport) -> Vec<String> {
    let id = &report.cast_id;
    let both = |question: &OpenQuestion| {
        ["approve", "deny"].map(|name| format!("{name} {id} {}", question.socket))
    };
    report.questions.iter().flat_map(both).collect()
}

/// One of them.
fn words(next: &Next, id: &str) -> String {
    match next {
        Next::Say => format!("say {id} \"…\""),
        Next::PutBack { .. } => format!("resume {id} --put-back"),
        Next::NodeBudget { node, bounds } => {
            let name = |bound: &NodeBound| match bound {
                NodeBound::TimeMs => " --max-time-ms …",
                NodeBound::Cost => " --max-cost …",
                NodeBound::Turns => " --max-turns …",
            };
            format!("budget {id} --node {node}{}", bounds.iter().map(name).collect::<String>())
        }
        Next::Do(Do::Budget { budget }) => {
            let mut words = format!("budget {id}");
            let mut bound = |name: &str, most: Option<String>| {
                if let Some(most) = most {
                    let _ = write!(words, " --max-{name} {most}");
                }
            };
            bound("tokens", budget.max_tokens.map(|most| most.to_string()));
            bound("cost", budget.max_cost.map(|most| most.to_string()));
            bound("turns", budget.max_turns.map(|most| most.to_string()));
            bound("storage-mb", budget.max_storage_mb.map(|most| most.to_string()));
            words
        }
        Next::Do(what) => match node(what) {
            Some(node) => format!("{} {id} {node}", what.name()),
            None => format!("{} {id}", what.name()),
        },
    }
}

/// The socket that it is done to.
fn node(what: &Do) -> Option<&NodeId> {
    if let Do::Trigger { node, .. } | Do::Approve { node, .. } | Do::Deny { node, .. } = what {
        return Some(node);
    }
    None
}

/// One sentence: how a cast stands and what can be done.
pub(crate) fn advice(standing: &NextSteps<'_>, project: &Project) -> String {
    let ways: Vec<String> =
        ways(standing).iter().map(|way| format!("`{}`", project.command(way))).collect();
    let show = format!("`{}`", project.command(&format!("show {}", standing.id())));
    let ended = format!("{show} tells how it ended, `materia cast` begins a new one");
    let ways = ways.join(" or ");
    match standing.phase() {
        Phase::New | Phase::Completed => ended,
        Phase::Aborted => format!("it was aborted for good; {ended}"),
        Phase::Failed(_) if ways.is_empty() => ended,
        Phase::Failed(error) => format!("it failed ({}): {ways} goes on", error.code.word()),
        Phase::Running => format!("it was broken off: {ways} goes on"),
        Phase::Waiting(_) => format!("it waits: {ways} goes on"),
    }
}
