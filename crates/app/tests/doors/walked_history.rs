use materia_app::edit::simulate::choices;
use materia_contract::api::ChosenEnd;
use materia_contract::{Event, EventBody, Limits, Node, NodeId, Plan};
use serde_json::json;

fn event(seq: u64, kind: &str, data: &serde_json::Value) -> Event {
    let body = EventBody::parse(kind, &data.to_string()).unwrap();
    let at = i64::try_from(seq).unwrap();
    Event { seq, ts: at, wall: at, node: Some(NodeId::new("a")), body }
}

#[test]
fn what_a_script_answers_is_a_choice_and_what_the_runtime_answers_is_none() {
    let behavior = serde_json::from_value(json!({ "type": "agent", "prompt": "A." })).unwrap();
    let plan = Plan {
        loadout: "L".to_owned(),
        entry: NodeId::new("a"),
        nodes: [(NodeId::new("a"), Node::new("A", behavior))].into_iter().collect(),
        loops: indexmap::IndexMap::new(),
        limits: Limits::default(),
        budget: materia_contract::Budget::default(),
        doc_root: "docs".to_owned(),
    };
    let started = |script: serde_json::Value| json!({ "visit": 1, "attempt": 1, "item": null, "cause": { "kind": "input" }, "consumed": [], "script": script });
    let ended = |turn: u64| json!({ "turn": turn, "visit": 1, "attempt": 1, "satisfied": false, "output": "no" });
    let entry = json!({ "key": "a", "index": 0 });
    let events = [
        event(1, "turn.started", &started(entry)),
        event(2, "turn.completed", &ended(1)),
        event(3, "turn.started", &started(serde_json::Value::Null)),
        event(4, "turn.completed", &ended(3)),
    ];
    let found = choices(&plan, &events);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].outcome, ChosenEnd::NotSatisfied);
}
