//! One node after the other, each with its ways out in the order they are tried.

use materia_contract::{END, Edge, Node, NodeId, Plan};

use super::{COLUMNS_MAX, labels, width};

/// A plan as a list.
pub(super) fn text(plan: &Plan) -> String {
    let mut text = line(&plan.loadout);
    let columns = plan.nodes.keys().map(|id| id.as_str().len()).max().unwrap_or(0);
    for (id, node) in &plan.nodes {
        let mark = if *id == plan.entry { "▶" } else { " " };
        text.push_str(&line(&format!("{mark} {:columns$}  {}", id.as_str(), about(node))));
        let mut ways: Vec<String> = node.edges.iter().map(way).collect();
        if ways.is_empty() {
            ways.push(format!("→ {END}"));
        }
        ways.extend(
            node.on_failure
                .iter()
                .map(|edge| format!("→ {}  {}", edge.target(), labels::failure(edge))),
        );
        for (place, way) in ways.iter().enumerate() {
            let branch = if place + 1 == ways.len() { "└─" } else { "├─" };
            text.push_str(&line(&format!("  {branch} {way}")));
        }
    }
    text.push_str(&loops(plan));
    text
}

/// The loops of a plan, with what they iterate, their members and their ways out.
pub(super) fn loops(plan: &Plan) -> String {
    let mut text = String::new();
    for (id, region) in &plan.loops {
        text.push_str(&line(&format!("↻ {id}  {}", labels::iterates(region))));
        let members: Vec<&str> = region.members.iter().map(NodeId::as_str).collect();
        let branch = if region.exits.is_empty() { "└─" } else { "├─" };
        text.push_str(&line(&format!("  {branch} {}", members.join(", "))));
        for (place, exit) in region.exits.iter().enumerate() {
            let branch = if place + 1 == region.exits.len() { "└─" } else { "├─" };
            let to = exit.target();
            let (when, from) = (exit.condition.word(), &exit.from);
            text.push_str(&line(&format!(
                "  {branch} exit → {to}  {when} after {from} ({})",
                exit.id
            )));
        }
    }
    text
}

/// One line, no wider than a line may be, with its end.
pub(super) fn line(words: &str) -> String {
    let mut line = width::fit(words, COLUMNS_MAX);
    line.push('\n');
    line
}

fn about(node: &Node) -> String {
    let mut about = format!("{} ({})", node.materia, labels::kind(node));
    for feature in labels::features(node) {
        about.push_str(", ");
        about.push_str(&feature);
    }
    about
}

fn way(edge: &Edge) -> String {
    // The target comes before what can be long, so that cutting the line does not lose it.
    format!("→ {}  {}", edge.target(), labels::way(edge))
}
