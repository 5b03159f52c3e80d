//! The JSON Schema of the answer that a node needs.
//!
//! Agents that take a schema enforce it themselves; for all others the prompt describes the same fields, and the
//! object is searched in the text. The kernel checks every answer: the schema makes a good one likelier and decides
//! nothing.

use serde_json::{Map, Value, json};

use crate::{Behavior, Condition, Node, Parse, Root};

/// The text with which a mock answers where nothing else is asked for.
const LEAST_TEXT: &str = "ok";

impl Node {
    /// The least that keeps the contract of this node: `satisfied: true`, one work item, `null` for other
    /// fields that the graph reads, else the text `ok` (D54).
    pub fn least_answer(&self) -> String {
        if self.parse == Parse::Text {
            return LEAST_TEXT.to_owned();
        }
        let mut answer = Map::new();
        let guarded = |when: Condition| when != Condition::Always;
        if self.generator {
            answer.insert("workItems".to_owned(), least("workItems"));
        }
        if self.advance.is_some_and(guarded) || self.edges.iter().any(|edge| guarded(edge.when)) {
            answer.insert("satisfied".to_owned(), least("satisfied"));
        }
        for source in self.assign.values().filter(|source| source.root == Root::Output) {
            let Some((name, within)) = source.steps.split_first() else { continue };
            let value = answer.entry(name.clone()).or_insert_with(|| least(name));
            make_room(value, within);
        }
        Value::Object(answer).to_string()
    }

    /// The schema of the answer that an agent is to give here; nothing where the answer is text.
    pub fn answer_schema(&self) -> Option<Value> {
        let Behavior::Agent { .. } = self.behavior else { return None };
        // A conversation is held in text until a person ends it.
        if self.parse == Parse::Text || self.multi_turn {
            return None;
        }
        let guarded = |when: Condition| when != Condition::Always;
        let mut fields = Map::new();
        let mut required: Vec<&str> = Vec::new();
        if self.generator {
            fields.insert("workItems".to_owned(), work_items());
            required.push("workItems");
        }
        if self.advance.is_some_and(guarded) || self.edges.iter().any(|edge| guarded(edge.when)) {
            fields.insert("satisfied".to_owned(), json!({ "type": "boolean" }));
            required.push("satisfied");
        }
        fields.insert("context".to_owned(), json!({ "type": "string" }));
        for source in self.assign.values().filter(|source| source.root == Root::Output) {
            let Some(name) = source.steps.first() else { continue };
            // Nothing says of which type it is, only that it is read.
            fields.entry(name.clone()).or_insert_with(|| json!({}));
            if !required.contains(&name.as_str()) {
                required.push(name);
            }
        }
        Some(json!({ "type": "object", "properties": fields, "required": required }))
    }
}

/// The least value of a field.
fn least(name: &str) -> Value {
    match name {
        "workItems" => json!([{ "title": "Mock item", "context": LEAST_TEXT }]),
        "satisfied" => Value::Bool(true),
        "context" => LEAST_TEXT.into(),
        _ => Value::Null,
    }
}

/// Makes a path lead somewhere, to `null` at the least.
fn make_room(value: &mut Value, path: &[String]) {
    /// The most elements that a list is made of for the sake of one of them.
    const PLACES_MAX: usize = 1_000;
    let Some((step, rest)) = path.split_first() else { return };
    let place = step.parse::<usize>().ok().filter(|place| *place < PLACES_MAX);
    if value.is_null() {
        *value = if place.is_some() { json!([]) } else { json!({}) };
    }
    match (value, place) {
        (Value::Array(list), Some(place)) => {
            while list.len() <= place {
                list.push(Value::Null);
            }
            make_room(&mut list[place], rest);
        }
        (Value::Object(object), _) => {
            make_room(object.entry(step.clone()).or_insert(Value::Null), rest);
        }
        _ => {}
    }
}

fn work_items() -> Value {
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": { "title": { "type": "string" }, "context": { "type": "string" } },
            "required": ["title", "context"]
        }
    })
}
