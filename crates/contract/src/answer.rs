//! The form of the answer that a node needs, as a JSON Schema.
//!
//! Agents that take a schema are held to it by their own program; for all others the same is said
//! in the prompt and looked for in the text. Either way the kernel checks what comes back: the
//! schema makes a good answer likelier and decides nothing.

use serde_json::{Map, Value, json};

use crate::{Behavior, Condition, Node, Parse, Root};

impl Node {
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
            max_traversals: None,
            delivery: crate::Delivery::default(),
        }];
        assert_eq!(required(&node), json!(["workItems", "satisfied"]));
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
