//! Labels of nodes and edges.

use std::fmt::Write as _;

use materia_contract::{
    Behavior, Condition, Control, Edge, Exit, Loop, Node, NodeMode, Routing, Test, Trigger,
};
use serde_json::Value;

/// Kind of a node.
pub(super) fn kind(node: &Node) -> &'static str {
    match &node.behavior {
        Behavior::Agent { .. } => "agent",
        Behavior::Utility { .. } => "utility",
    }
}

/// Special settings of a node, in a few words each.
///
/// It reads the newest fields from the published JSON and not from the type, so that the picture of an older cast does
/// not depend on which of them it has.
pub(super) fn features(node: &Node) -> Vec<String> {
    let mut features = Vec::new();
    if node.generator {
        features.push("generator".to_owned());
    }
    if node.multi_turn {
        features.push("talks with a person".to_owned());
    }
    if let Some(inner) = node.loops.last() {
        features.push(format!("in {inner}"));
    }
    match node.advance {
        Some(Condition::Always) => features.push("then the next item".to_owned()),
        Some(when) => features.push(format!("if {} the next item", when.word())),
        None => {}
    }
    if let Some(foreach) = &node.foreach {
        features.push(format!("for each of {}", foreach.items));
    }
    if node.routing == Routing::All {
        features.push("takes every matching edge".to_owned());
    }
    if by_hand(node) {
        features.push("started by a person".to_owned());
    }
    features.extend(by_the_clock(node));
    if let Some(retries) = node.retries {
        features.push(format!("tried again up to {}×", retries.max));
    }
    if node.verdict.is_some() {
        features.push("decides by its exit code".to_owned());
    }
    let published = serde_json::to_value(node).unwrap_or_default();
    if published.get("approval").is_some_and(Value::is_string) {
        features.push("asks for approval".to_owned());
    }
    if let Some(Value::Array(others)) = published.get("dependsOn") {
        let others: Vec<&str> = others.iter().filter_map(Value::as_str).collect();
        features.push(format!("after {}", others.join(", ")));
    }
    features
}

/// Conditions for the start of a node, besides its inputs. Shown even if there is little room.
pub(super) fn starts(node: &Node) -> Vec<String> {
    let mut starts = Vec::new();
    if by_hand(node) {
        starts.push("by hand".to_owned());
    }
    starts.extend(by_the_clock(node));
    if node.approval.is_some() {
        starts.push("asks first".to_owned());
    }
    starts
}

fn by_hand(node: &Node) -> bool {
    let held = match node.control {
        Some(Control::Manual) => true,
        Some(Control::Automatic) => false,
        None => node.mode == NodeMode::Interactive,
    };
    held || node.trigger == Trigger::ManualOnly
}

fn by_the_clock(node: &Node) -> Option<String> {
    if let Some(cron) = &node.cron {
        return Some(format!("at {} {}", cron.expression, cron.timezone));
    }
    node.interval_ms.map(|interval| format!("every {}", span(interval)))
}

/// A span of time in its largest whole unit.
fn span(ms: u64) -> String {
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s")];
    match units.into_iter().find(|(unit, _)| ms > 0 && ms.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{} {name}", ms / unit),
        None => format!("{ms} ms"),
    }
}

/// When an edge is taken and how it delivers; empty where nothing is special about it.
pub(super) fn label(edge: &Edge) -> String {
    let mut words = Vec::new();
    if edge.when != Condition::Always {
        words.push(edge.when.word().to_owned());
    }
    words.extend(guard(edge));
    words.extend(edge.max_traversals.map(|most| format!("≤{most}×")));
    words.extend(delivery(edge));
    words.join(" ")
}

/// When an edge is taken and how it delivers, `always` included.
pub(super) fn way(edge: &Edge) -> String {
    let mut words = vec![edge.when.word().to_owned()];
    words.extend(guard(edge));
    words.extend(edge.max_traversals.map(|most| format!("(at most {most} times)")));
    words.extend(delivery(edge));
    words.join(" ")
}

fn guard(edge: &Edge) -> Option<String> {
    edge.guard.as_ref().map(|guard| match &guard.test {
        Test::Equals(value) => format!("where {} = {value}", guard.path),
        Test::NotEquals(value) => format!("where {} ≠ {value}", guard.path),
        Test::Exists(true) => format!("where {} exists", guard.path),
        Test::Exists(false) => format!("where {} is missing", guard.path),
    })
}

/// How an edge delivers, where it is no plain queue.
fn delivery(edge: &Edge) -> Option<String> {
    let published = serde_json::to_value(edge).ok()?;
    let delivery = published.get("delivery")?;
    let mode = delivery.get("mode")?.as_str().filter(|mode| *mode != "queue")?;
    let mut words = mode.to_owned();
    if let Some(quiet) = delivery.get("debounceMs").and_then(Value::as_u64) {
        let _ = write!(words, " {quiet} ms");
    }
    Some(words)
}

/// A way out of a loop.
pub(super) fn exit(exit: &Exit) -> String {
    match exit.condition {
        Condition::Always => "exit".to_owned(),
        Condition::Satisfied | Condition::NotSatisfied => {
            format!("exit {}", exit.condition.word())
        }
    }
}

/// The way out of a failed turn.
pub(super) fn failure(edge: &Edge) -> String {
    let most = edge.max_traversals.map(|most| format!(" ≤{most}×"));
    format!("on failure{}", most.unwrap_or_default())
}

/// List that a loop iterates over.
pub(super) fn iterates(region: &Loop) -> String {
    match (&region.consumes, &region.items) {
        (Some(generator), _) => format!("for each work item of {generator}"),
        (None, Some(items)) => format!("for each of {items}"),
        (None, None) => "without a list".to_owned(),
    }
}
