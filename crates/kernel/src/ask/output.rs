//! Parsing of a turn's output: checks it against the contract of its node and finds its changes of the variables.

use indexmap::IndexMap;
use materia_contract::number;
use materia_contract::{
    Behavior, Condition, ErrorCode, Node, Parse, Root, TurnOutput, VerdictFrom,
};
use serde_json::{Map, Value, json};

use crate::ask::items;
use crate::ask::scope::{self, Scope};
use crate::handoff::{self, Found, Needs};
use crate::shorten::kind_of;
use crate::state::{Run, Turn};

/// Fields that steer the graph. They are read at the top of an output and nowhere else.
const CONTROL_FIELDS: [&str; 2] = ["workItems", "satisfied"];

/// Fields that an agent's handoff may have.
const HANDOFF_FIELDS: [&str; 3] = ["workItems", "satisfied", "context"];

/// A parsed and checked output.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Reading {
    /// The verdict, if there is one.
    pub(crate) verdict: Option<bool>,
    /// Whole variables that a utility's `state` sets.
    pub(crate) merged: IndexMap<String, Value>,
    /// Values that `assign` copies, by dotted target.
    pub(crate) assigned: IndexMap<String, Value>,
    /// Fields without a meaning there, as paths, and why.
    pub(crate) ignored: Vec<(Vec<String>, &'static str)>,
    /// Where the object stands in the output, where one was asked for.
    pub(crate) object: Option<(usize, usize)>,
    /// Why, where the verdict comes from the exit code.
    pub(crate) context: Option<String>,
    /// The work items, where the node is a generator.
    pub(crate) items: Option<Vec<Value>>,
}

/// Reads an output, or says every way in which it breaks its contract.
pub(crate) fn read(
    run: &Run,
    turn: &Turn,
    node: &Node,
    report: &TurnOutput,
) -> Result<Reading, String> {
    let text = report.json_text();
    let mut reading = Reading::default();
    let mut faults = Vec::new();
    let parsed = match (node.verdict, node.parse) {
        (Some(VerdictFrom::ExitCode), _) => {
            reading.verdict = Some(report.exit_code == Some(0));
            let context = ends_of(report);
            let said = said(reading.verdict, &context);
            reading.context = Some(context);
            Some(said)
        }
        (None, Parse::Text) => None,
        (None, Parse::Json) => {
            Some(Value::Object(read_object(node, text, &mut reading, &mut faults)?))
        }
    };
    copy_assigned(run, turn, node, report, parsed.as_ref(), &mut reading, &mut faults);
    if faults.is_empty() { Ok(reading) } else { Err(faults.join("; ")) }
}

/// The most of a stream's end that a `context` has, in characters.
const END_CHARS_MAX: usize = 2_000;

/// How the output of a program and then its standard error end (D48).
fn ends_of(report: &TurnOutput) -> String {
    let end = |text: &str| {
        let text = text.trim();
        let surplus = text.chars().count().saturating_sub(END_CHARS_MAX);
        text.chars().skip(surplus).collect::<String>()
    };
    let ends = [end(&report.output), end(&report.stderr)];
    let said: Vec<String> = ends.into_iter().filter(|end| !end.is_empty()).collect();
    said.join("\n")
}

/// The object for which the exit code of a program stands.
pub(crate) fn said(verdict: Option<bool>, context: &str) -> Value {
    json!({ "satisfied": verdict == Some(true), "context": context })
}

/// The object of a JSON node, held to its contract; items have lost their extra fields.
fn read_object(
    node: &Node,
    text: &str,
    reading: &mut Reading,
    faults: &mut Vec<String>,
) -> Result<Map<String, Value>, String> {
    let needs = needs(node);
    let Found { mut object, place } = find_object(node, text)?;
    reading.object = Some(place);
    match handoff::check(&object, needs) {
        Ok(checked) => {
            reading.verdict = checked.verdict;
            if node.generator {
                reading.items = Some(checked.items.clone().unwrap_or_default());
            }
            if let Some(items) = checked.items {
                object.insert("workItems".to_owned(), Value::Array(items));
            }
            if !checked.item_extras.is_empty() {
                reading.ignored.push((checked.item_extras, "a work item is title and context"));
            }
        }
        Err(mut broken) => faults.append(&mut broken),
    }
    if is_utility(node) {
        merge_state(&object, reading, faults);
    } else {
        reading.ignored.extend(ignored_by_agents(&object, node));
    }
    Ok(object)
}

fn is_utility(node: &Node) -> bool {
    matches!(node.behavior, Behavior::Utility { .. })
}

/// Whether an answer of this node breaks its contract where it has no verdict (H11).
#[must_use]
pub fn needs_verdict(node: &Node) -> bool {
    needs(node).verdict
}

/// The fields that the graph reads from a node's output.
///
/// An agent must give the verdict that an edge or `advance` reads (H11). A utility may leave it out: its `always`
/// edge is then taken.
pub(crate) fn needs(node: &Node) -> Needs {
    let guarded = |when: Condition| when != Condition::Always;
    let guarded_advance = node.advance.is_some_and(guarded);
    let guarded_edge = node.edges.iter().any(|edge| guarded(edge.when));
    let fallback =
        node.edges.iter().any(|edge| edge.when == Condition::Always && edge.guard.is_none());
    let verdict = if is_utility(node) {
        guarded_advance || (guarded_edge && !fallback)
    } else {
        guarded_advance || guarded_edge
    };
    Needs { work_items: node.generator, verdict }
}

/// The object in an output: anywhere by the rule for agents, the whole text for utilities (D26).
pub(crate) fn find_object(node: &Node, text: &str) -> Result<Found, String> {
    if is_utility(node) {
        return parse_object(text);
    }
    let needs = needs(node);
    let found = handoff::find(text, |object| handoff::check(object, needs).is_ok())?;
    held(&text[found.place.0..found.place.1])?;
    Ok(found)
}

/// Where the object of an output stands, where its node reads one.
#[must_use]
pub fn object_place(node: &Node, output: &str) -> Option<(usize, usize)> {
    let found = || find_object(node, output).map(|found| found.place);
    (node.parse == Parse::Json).then(|| found().unwrap_or((0, output.len())))
}

/// An integer that the reader would round breaks the contract (D55).
fn held(json: &str) -> Result<(), String> {
    match number::too_wide(json) {
        Some(wide) => Err(format!("{wide}; write it as a string")),
        None => Ok(()),
    }
}

/// The work items of an output that has passed its check.
pub(crate) fn items_in(text: &str) -> Vec<Value> {
    if !may_have_field(text, "workItems") {
        return Vec::new();
    }
    let object: Map<String, Value> = serde_json::from_str(text.trim()).unwrap_or_default();
    handoff::check(&object, Needs::default()).ok().and_then(|found| found.items).unwrap_or_default()
}

/// Whether JSON text may have a field of this name, which has no characters that JSON must escape. Says yes where only
/// reading it would show.
pub(crate) fn may_have_field(text: &str, name: &str) -> bool {
    text.contains(name) || text.contains("\\u")
}

/// The `context` of an output, if it has one.
pub(crate) fn context_in(text: &str) -> Option<String> {
    /// The one field that is asked for; the others are passed over.
    #[derive(serde::Deserialize)]
    struct Context {
        context: Option<String>,
    }
    let text = text.trim();
    if !text.starts_with('{') {
        return None;
    }
    if let Ok(Context { context }) = serde_json::from_str(text) {
        return context;
    }
    // It is no text, or named twice: then the last one counts.
    let object: Map<String, Value> = serde_json::from_str(text).ok()?;
    object.get("context").and_then(Value::as_str).map(str::to_owned)
}

fn parse_object(text: &str) -> Result<Found, String> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err("the output is empty; this socket must put out one JSON object".to_owned());
    }
    match serde_json::from_str::<Value>(trimmed) {
        Ok(Value::Object(object)) => {
            held(trimmed)?;
            Ok(Found { object, place: handoff::place_of(text, trimmed) })
        }
        Ok(other) => Err(format!("the output must be a JSON object, not {}", kind_of(&other))),
        Err(error) => Err(format!("the output is not valid JSON: {error}")),
    }
}

/// A utility's `state` sets whole variables; what steers the graph is not taken from there (H7).
fn merge_state(object: &Map<String, Value>, reading: &mut Reading, faults: &mut Vec<String>) {
    match object.get("state") {
        None => {}
        Some(Value::Object(patch)) => {
            let (control, merged): (Vec<_>, Vec<_>) =
                patch.iter().partition(|(name, _)| CONTROL_FIELDS.contains(&name.as_str()));
            reading.merged =
                merged.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect();
            if !control.is_empty() {
                let fields = control.iter().map(|(name, _)| format!("$.state.{name}")).collect();
                reading.ignored.push((fields, "what steers the graph is read at the top level"));
            }
        }
        Some(other) => faults.push(format!("$.state must be an object, not {}", kind_of(other))),
    }
}

/// Variables that a failed utility sets (D49).
pub(crate) struct Evidence {
    /// Whole variables that its `state` sets.
    pub(crate) merged: IndexMap<String, Value>,
    /// Fields without a meaning there, as paths, and why.
    pub(crate) ignored: Vec<(Vec<String>, &'static str)>,
}

/// The variables that a failed utility sets, where its output is one object.
pub(crate) fn evidence(node: &Node, code: ErrorCode, text: &str) -> Option<Evidence> {
    let failed = matches!(code, ErrorCode::UtilityFailed | ErrorCode::UtilityTimeout);
    if !failed || !is_utility(node) || node.parse != Parse::Json || node.verdict.is_some() {
        return None;
    }
    let found = parse_object(text).ok()?;
    let mut reading = Reading::default();
    merge_state(&found.object, &mut reading, &mut Vec::new());
    Some(Evidence { merged: reading.merged, ignored: reading.ignored })
}

/// Extra fields of an agent's answer mean nothing unless an `assign` reads them by name (D28).
fn ignored_by_agents(
    object: &Map<String, Value>,
    node: &Node,
) -> Option<(Vec<String>, &'static str)> {
    let read_by_name = |field: &String| {
        node.assign
            .values()
            .any(|path| path.root == Root::Output && path.steps.first() == Some(field))
    };
    let fields: Vec<String> = object
        .keys()
        .filter(|field| !HANDOFF_FIELDS.contains(&field.as_str()) && !read_by_name(field))
        .map(|field| format!("$.{field}"))
        .collect();
    (!fields.is_empty()).then_some((fields, "no part of an agent's handoff"))
}

/// Fields of the output that `assign` reads, and that an answer must therefore have, each with the
/// paths that are read.
pub(crate) fn assigned_paths(node: &Node) -> Vec<(&str, Vec<String>)> {
    let mut fields: Vec<(&str, Vec<String>)> = Vec::new();
    for path in node.assign.values().filter(|path| path.root == Root::Output) {
        let Some(field) = path.steps.first() else { continue };
        let told = format!("`{path}`");
        match fields.iter_mut().find(|(known, _)| known == field) {
            Some((_, paths)) if paths.contains(&told) => {}
            Some((_, paths)) => paths.push(told),
            None => fields.push((field, vec![told])),
        }
    }
    fields
}

/// Whether a field is one of the contract between agents.
pub(crate) fn is_of_handoff(field: &str) -> bool {
    HANDOFF_FIELDS.contains(&field)
}

fn copy_assigned(
    run: &Run,
    turn: &Turn,
    node: &Node,
    report: &TurnOutput,
    parsed: Option<&Value>,
    reading: &mut Reading,
    faults: &mut Vec<String>,
) {
    // Variables that have a new value by now, so that a later `state…` source sees it.
    let mut pending: Map<String, Value> =
        reading.merged.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let item = items::current(run, turn.node).map(|item| item.value);
    let said = reading.context.as_ref().and(parsed).map(Value::to_string);
    let object = reading.object.map(|(start, end)| &report.json_text()[start..end]);
    let own_json = object.or(said.as_deref());
    for (target, source) in &node.assign {
        let scope = Scope {
            output: parsed,
            pending: Some(&pending),
            item,
            last_output: Some(&report.output),
            last_json: own_json.or(run.last.json.as_deref()),
            ..Scope::of(run)
        };
        match scope.get(source) {
            Some(value) => {
                let value = value.into_owned();
                let name = target.split('.').next().unwrap_or(target);
                if !pending.contains_key(name)
                    && let Some(old) = run.variables.get(name)
                {
                    pending.insert(name.to_owned(), old.clone());
                }
                scope::assign(&mut pending, target, value.clone());
                reading.assigned.insert(target.clone(), value);
            }
            // The contract check has said so already.
            None if source.root == Root::Output
                && source.steps.first().is_some_and(|field| field == "workItems")
                && node.generator => {}
            None if source.root == Root::Output => {
                faults.push(format!("{source} is missing in the output (assigned to `{target}`)"));
            }
            // Only the output owes its paths; a variable may simply not be there yet.
            None => {}
        }
    }
}
