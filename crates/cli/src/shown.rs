//! A plan, drawn as text.

use std::fmt::Write as _;

use materia_contract::{
    Behavior, Condition, END, Edge, Loop, Node, NodeId, NodeMode, Plan, Routing, Test, Trigger,
};

use crate::clean::one_line;

/// The widest line.
pub(crate) const COLUMNS_MAX: usize = 200;

/// Draws a plan: nodes in its order, each with its ways out in the order they are tried.
pub(crate) fn plan(plan: &Plan) -> String {
    let mut text = String::new();
    let mut line = |words: String| {
        text.push_str(one_end(&words).trim_end());
        text.push('\n');
    };
    line(plan.loadout.clone());
    let width = plan.nodes.keys().map(|id| id.as_str().len()).max().unwrap_or(0);
    for (id, node) in &plan.nodes {
        let mark = if *id == plan.entry { "▶" } else { " " };
        line(format!("{mark} {:width$}  {}", id.as_str(), about(node)));
        for (place, edge) in node.edges.iter().enumerate() {
            let branch = if place + 1 == node.edges.len() { "└─" } else { "├─" };
            line(format!("  {branch} {}", way(edge)));
        }
        if node.edges.is_empty() {
            line(format!("  └─ → {END}"));
        }
    }
    for (id, region) in &plan.loops {
        line(format!("↻ {id}  {}", list(region)));
        let members: Vec<&str> = region.members.iter().map(NodeId::as_str).collect();
        let branch = if region.exits.is_empty() { "└─" } else { "├─" };
        line(format!("  {branch} {}", members.join(", ")));
        for (place, exit) in region.exits.iter().enumerate() {
            let branch = if place + 1 == region.exits.len() { "└─" } else { "├─" };
            let to = exit.to.as_ref().map_or(END, |node| node.as_str());
            let when = exit.condition.word();
            line(format!("  {branch} exit → {to}  {when} after {} ({})", exit.from, exit.id));
        }
    }
    text
}

/// What a loop iterates.
fn list(region: &Loop) -> String {
    match (&region.consumes, &region.items) {
        (Some(generator), _) => format!("for each work item of {generator}"),
        (None, Some(items)) => format!("for each of {items}"),
        (None, None) => "without a list".to_owned(),
    }
}

/// Line ends and controls out, and no wider than a line may be.
fn one_end(words: &str) -> String {
    let indent = words.chars().take_while(|c| *c == ' ').count();
    format!("{}{}", " ".repeat(indent), one_line(words, COLUMNS_MAX - indent))
}

fn about(node: &Node) -> String {
    let kind = match &node.behavior {
        Behavior::Agent { .. } => "agent",
        Behavior::Utility { .. } => "utility",
    };
    let mut about = format!("{} ({kind})", node.materia);
    if node.generator {
        about.push_str(", generator");
    }
    if node.multi_turn {
        about.push_str(", talks with a person");
    }
    if let Some(inner) = node.loops.last() {
        let _ = write!(about, ", in {inner}");
    }
    match node.advance {
        Some(Condition::Always) => about.push_str(", then the next item"),
        Some(when) => {
            let _ = write!(about, ", if {} the next item", when.word());
        }
        None => {}
    }
    if let Some(foreach) = &node.foreach {
        let _ = write!(about, ", for each of {}", foreach.items);
    }
    if node.routing == Routing::All {
        about.push_str(", takes every matching edge");
    }
    if node.mode == NodeMode::Interactive || node.trigger == Trigger::ManualOnly {
        about.push_str(", started by a person");
    }
    about
}

fn way(edge: &Edge) -> String {
    let mut way = edge.when.word().to_owned();
    if let Some(guard) = &edge.guard {
        let _ = match &guard.test {
            Test::Equals(value) => write!(way, " where {} = {value}", guard.path),
            Test::NotEquals(value) => write!(way, " where {} ≠ {value}", guard.path),
            Test::Exists(true) => write!(way, " where {} exists", guard.path),
            Test::Exists(false) => write!(way, " where {} is missing", guard.path),
        };
    }
    if let Some(most) = edge.max_traversals {
        let _ = write!(way, " (at most {most} times)");
    }
    // The target comes before what can be long, so that cutting the line does not lose it.
    let to = edge.to.as_ref().map_or(END, |node| node.as_str());
    format!("→ {to}  {way}")
}
