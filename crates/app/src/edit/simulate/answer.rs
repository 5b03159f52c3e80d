//! Output of a turn in a simulation: the minimum that its socket requires, with the chosen end.

use materia_contract::api::{Choice, ChosenEnd};
use materia_contract::script::Answer;
use materia_contract::{
    Behavior, Condition, ErrorCode, Node, NodeId, Parse, Path, Root, TurnOutcome, TurnOutput,
};
use serde_json::{Map, Value, json};

/// Default number of items that a generator puts out.
pub(super) const ITEMS_DEFAULT: u32 = 3;
/// How many it may put out.
pub(super) const ITEMS_MAX: u32 = 100;

/// How turns of a node can end.
pub(super) fn ends(node: &Node) -> Vec<ChosenEnd> {
    let judges = node.verdict.is_some()
        || node.edges.iter().any(|edge| edge.when != Condition::Always)
        || node.advance.is_some_and(|when| when != Condition::Always);
    let verdicts = || [ChosenEnd::Satisfied, ChosenEnd::NotSatisfied];
    let mut ends = Vec::new();
    if node.generator {
        ends.push(ChosenEnd::Items);
    }
    if judges && (node.parse == Parse::Json || node.verdict.is_some()) {
        ends.extend(verdicts());
    }
    let needs_verdict = judges && matches!(node.behavior, Behavior::Agent { .. });
    if ends.is_empty() || !(needs_verdict || node.verdict.is_some() || node.generator) {
        ends.push(ChosenEnd::Done);
    }
    ends.push(ChosenEnd::Fails);
    ends
}

/// How a turn ends, as its runner would report it.
pub(super) fn outcome(id: &NodeId, node: &Node, choice: &Choice) -> TurnOutcome {
    if choice.outcome == ChosenEnd::Fails {
        let code = match node.behavior {
            Behavior::Agent { .. } => ErrorCode::ProviderFailed,
            Behavior::Utility { .. } => ErrorCode::UtilityFailed,
        };
        let message = format!("`{id}` fails in this walk");
        return TurnOutcome::Faulted { code, message, report: TurnOutput::default() };
    }
    let exit_code = node.verdict.map(|_| i32::from(choice.outcome == ChosenEnd::NotSatisfied));
    TurnOutcome::Ended(TurnOutput {
        output: output(id, node, choice),
        exit_code,
        ..TurnOutput::default()
    })
}

/// The same as the answer of a script.
pub(super) fn scripted(id: &NodeId, node: &Node, choice: &Choice) -> Answer {
    if choice.outcome == ChosenEnd::Fails {
        let error = Some(format!("`{id}` fails in this walk"));
        return Answer { error, ..Answer::default() };
    }
    match (&choice.text, node.parse) {
        (None, Parse::Json) => {
            Answer { json: Some(Value::Object(object(id, node, choice))), ..Answer::default() }
        }
        (Some(_), _) | (None, Parse::Text) => {
            Answer { text: Some(output(id, node, choice)), ..Answer::default() }
        }
    }
}

fn output(id: &NodeId, node: &Node, choice: &Choice) -> String {
    match (&choice.text, node.parse) {
        (Some(text), _) => text.clone(),
        (None, Parse::Text) => format!("The output of {id}."),
        (None, Parse::Json) => Value::Object(object(id, node, choice)).to_string(),
    }
}

fn object(id: &NodeId, node: &Node, choice: &Choice) -> Map<String, Value> {
    let mut object = Map::new();
    for path in node.assign.values().filter(|path| path.root == Root::Output) {
        put(&mut object, path);
    }
    let verdict = match choice.outcome {
        ChosenEnd::Satisfied => Some(true),
        ChosenEnd::NotSatisfied => Some(false),
        ChosenEnd::Done | ChosenEnd::Items | ChosenEnd::Fails => None,
    };
    if let Some(verdict) = verdict {
        object.insert("satisfied".to_owned(), verdict.into());
        let context = if verdict { "It is as asked." } else { "Something is still missing." };
        object.insert("context".to_owned(), context.into());
    }
    if node.generator {
        let count = choice.items.unwrap_or(ITEMS_DEFAULT).min(ITEMS_MAX);
        let item = |number: u32| json!({ "title": format!("Item {number}"), "context": format!("Found by {id}.") });
        object.insert("workItems".to_owned(), (1..=count).map(item).collect());
    }
    object
}

/// Puts something where a path leads, so that what reads it finds something.
fn put(object: &mut Map<String, Value>, path: &Path) {
    let Some((last, before)) = path.steps.split_last() else { return };
    let mut inside = object;
    for step in before {
        let next = inside.entry(step.clone()).or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(next) = next else { return };
        inside = next;
    }
    inside.entry(last.clone()).or_insert_with(|| "made up".into());
}
