use materia_contract::{Behavior, Condition, Edge, EdgeId, Node, Parse};
use serde_json::{Map, Value, json};

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
        delivery: materia_contract::Delivery::default(),
    }];
    assert_eq!(required(&node), json!(["workItems", "satisfied"]));
}

#[test]
fn the_least_answer_has_all_that_is_read() {
    assert_eq!(node(Parse::Text).least_answer(), "ok");
    assert_eq!(node(Parse::Json).least_answer(), "{}");
    let mut node = Node { generator: true, ..node(Parse::Json) };
    node.advance = Some(Condition::Satisfied);
    for (target, source) in
        [("a", "$.plan.steps.1.name"), ("b", "$"), ("c", "$.context"), ("d", "$.workItems.0.title")]
    {
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
