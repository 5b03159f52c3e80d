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
    #[must_use]
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
    #[must_use]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Edge, EdgeId};

    fn node(parse: Parse) -> Node {
        let behavior = Behavior::Agent {
            prompt: "p".to_owned(),
            origin: String::new(),
            tools: None,
            model: None,
            provider: None,
        };
        Node { parse, ..Node::new("m", behavior) }
    }

    fn required(node: &Node) -> Value {
        node.answer_schema().expect("it answers in JSON")["required"].clone()
    }

    #[test]
    fn text_has_no_schema_and_neither_has_a_utility() {
        assert_eq!(node(Parse::Text).answer_schema(), None);
        let talk = Node { multi_turn: true, ..node(Parse::Json) };
        assert_eq!(talk.answer_schema(), None);
        let behavior = Behavior::Utility { command: vec!["x".to_owned()], params: Map::new() };
        let utility = Node { parse: Parse::Json, ..Node::new("m", behavior) };
        assert_eq!(utility.answer_schema(), None);
    }

    #[test]
    fn only_what_the_graph_needs_is_required() {
        let mut node = node(Parse::Json);
        assert_eq!(required(&node), json!([]));
        node.generator = true;
        assert_eq!(required(&node), json!(["workItems"]));
        node.advance = Some(Condition::Satisfied);
        assert_eq!(required(&node), json!(["workItems", "satisfied"]));
        node.advance = Some(Condition::Always);
        assert_eq!(required(&node), json!(["workItems"]));
        let when = Condition::NotSatisfied;
        let id = EdgeId::new("a->b");
        node.edges = vec![Edge {
            id,
            when,
            guard: None,
            to: None,
            fails: false,
            max_traversals: None,
            delivery: crate::Delivery::default(),
        }];
        assert_eq!(required(&node), json!(["workItems", "satisfied"]));
    }

    #[test]
    fn the_least_answer_has_all_that_is_read() {
        assert_eq!(node(Parse::Text).least_answer(), "ok");
        assert_eq!(node(Parse::Json).least_answer(), "{}");
        let mut node = Node { generator: true, ..node(Parse::Json) };
        node.advance = Some(Condition::Satisfied);
        for (target, source) in [
            ("a", "$.plan.steps.1.name"),
            ("b", "$"),
            ("c", "$.context"),
            ("d", "$.workItems.0.title"),
        ] {
            node.assign.insert(target.to_owned(), source.parse().expect("a path"));
        }
        let least: Value = serde_json::from_str(&node.least_answer()).expect("it is JSON");
        assert_eq!(least["satisfied"], true);
        assert_eq!(least["workItems"][0]["title"], "Mock item");
        assert_eq!(least["context"], "ok");
        assert_eq!(least["plan"], json!({ "steps": [null, { "name": null }] }));
    }

    #[test]
    fn what_is_copied_into_state_is_asked_for_by_name() {
        let mut node = node(Parse::Json);
        node.assign.insert("x".to_owned(), "$.plan.steps.0".parse().expect("a path"));
        node.assign.insert("y".to_owned(), "$".parse().expect("a path"));
        node.assign.insert("z".to_owned(), "state.z".parse().expect("a path"));
        assert_eq!(required(&node), json!(["plan"]));
        let schema = node.answer_schema().expect("it answers in JSON");
        assert_eq!(schema["properties"]["plan"], json!({}));
        assert_eq!(schema["properties"]["context"], json!({ "type": "string" }));
    }
}
