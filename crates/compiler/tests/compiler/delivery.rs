//! How payloads wait on an edge, when a socket starts, and what its turns may write.

use serde_json::{Value, json};

use crate::support::{Project, assert_found, loadout, render};

/// A loadout whose edge from `a` to `b` has these fields besides.
fn edge(fields: &str) -> String {
    loadout(&format!(
        "\"a\": {{\"materia\": \"text\", \"edges\": [{{\"to\": \"b\", {fields}}}]}},\n\
         \"b\": {{\"materia\": \"text\"}}"
    ))
}

/// How payloads wait on that edge, as the plan says it.
fn delivery(fields: &str) -> Value {
    let (compiled, findings) = Project::with(edge(fields)).compile(None);
    let plan = compiled.unwrap_or_else(|| panic!("{fields}: {}", render(&findings))).plan;
    json!(plan.nodes["a"].edges[0].delivery)
}

#[test]
fn every_mode_has_its_own_room_and_nothing_else_by_itself() {
    for (mode, room) in
        [("queue", 256), ("latest", 1), ("drop_if_busy", 1), ("debounce\", \"debounceMs\": \"5", 1)]
    {
        let fields = format!("\"deliveryMode\": \"{mode}\"").replace("\"5\"", "5");
        let word = mode.split('"').next().unwrap();
        let found = delivery(&fields);
        assert_eq!(
            (&found["mode"], &found["maxBuffered"], &found["dedupeBy"], &found["transform"]),
            (&json!(word), &json!(room), &json!("none"), &Value::Null),
        );
        assert_eq!(found["overflow"], "drop_newest");
    }
}

#[test]
fn what_is_said_of_an_edge_is_in_the_plan() {
    let found = delivery(
        r#""deliveryMode": "debounce", "debounceMs": 7, "maxBuffered": 3, "dedupeBy": "contentHash", "dedupeWindowMs": 9,
           "transform": {"where": {"path": "$.status.ok", "equals": false}, "map": {"message": "$.structured.diff"}}"#,
    );
    assert_eq!(found["debounceMs"], 7);
    assert_eq!((&found["maxBuffered"], &found["dedupeWindowMs"]), (&json!(3), &json!(9)));
    assert_eq!(found["dedupeBy"], "contentHash");
    assert_eq!(found["transform"]["map"], json!({ "message": "$.structured.diff" }));
}

#[test]
fn a_quiet_period_has_a_length() {
    assert_found(
        &edge(r#""deliveryMode": "debounce""#),
        "error delivery::no-quiet-period 2:64 /loadouts/L/sockets/a/edges/0/deliveryMode: this edge debounces for no time",
    );
}

#[test]
fn fields_that_change_nothing_are_reported_and_stop_nothing() {
    assert_found(
        &edge(
            r#""deliveryMode": "latest", "overflow": "drop_oldest", "debounceMs": 5, "dedupeWindowMs": 5"#,
        ),
        "warning delivery::no-effect 2:86 /loadouts/L/sockets/a/edges/0/overflow: `overflow` says nothing where a newer payload replaces an older one (`latest`)
         warning delivery::no-effect 2:115 /loadouts/L/sockets/a/edges/0/debounceMs: `debounceMs` needs `deliveryMode: debounce`
         warning delivery::no-effect 2:136 /loadouts/L/sockets/a/edges/0/dedupeWindowMs: `dedupeWindowMs` needs `dedupeBy`",
    );
    assert_found(
        &loadout(r#""a": {"materia": "text", "edges": [{"to": "end", "deliveryMode": "latest"}]}"#),
        "warning delivery::no-effect 2:66 /loadouts/L/sockets/a/edges/0/deliveryMode: `deliveryMode` says nothing here: nobody waits at the end",
    );
    assert_found(&edge(r#""deliveryMode": "drop_if_busy", "overflow": "drop_oldest""#), "");
    assert_found(&edge(r#""dedupeBy": "payloadId", "dedupeWindowMs": 5"#), "");
}

#[test]
fn a_transform_sees_the_payload_and_replaces_what_can_be_replaced() {
    assert_found(
        &edge(
            r#""debounceMs": 5, "transform": {"where": {"path": "state.x", "exists": true}, "map": {"payloadId": "$.a", "message": "item.b", "status": "nowhere.a"}}"#,
        ),
        "warning delivery::no-effect 2:62 /loadouts/L/sockets/a/edges/0/debounceMs: `debounceMs` needs `deliveryMode: debounce`
         error delivery::not-the-payload 2:97 /loadouts/L/sockets/a/edges/0/transform/where/path: a transform sees only the payload, `$`, not `state.x`
         error delivery::bad-map 2:146 /loadouts/L/sockets/a/edges/0/transform/map/payloadId: `payloadId` is no part of a payload that can be replaced
         error delivery::not-the-payload 2:164 /loadouts/L/sockets/a/edges/0/transform/map/message: a transform sees only the payload, `$`, not `item.b`
         error path::bad-path 2:184 /loadouts/L/sockets/a/edges/0/transform/map/status: `nowhere.a` is not a path: it starts with none of $, state, item, lastJson, lastOutput",
    );
}

#[test]
fn a_schedule_has_an_interval_and_an_interval_a_schedule() {
    assert_found(
        &loadout(
            r#""a": {"materia": "text", "trigger": "scheduled", "edges": [{"to": "b"}]},
"b": {"materia": "text", "intervalMs": 5}"#,
        ),
        "error trigger::no-interval 2:37 /loadouts/L/sockets/a/trigger: this socket is scheduled at no interval
         warning trigger::no-effect 3:40 /loadouts/L/sockets/b/intervalMs: `intervalMs` needs `trigger: scheduled`",
    );
    let endless = r#""a": {"materia": "text", "trigger": "scheduled", "intervalMs": 1}"#;
    assert_found(
        &loadout(endless),
        "warning graph::no-bound 2:6 /loadouts/L/sockets/a: `a` ticks without end: nothing bounds its turns",
    );
    let fine = r#""a": {"materia": "text", "trigger": "scheduled", "intervalMs": 1, "budgets": {"turns": 9}}"#;
    assert_found(&loadout(fine), "");
}

/// M9: labels are words, in one order and once.
#[test]
fn a_policy_names_labels_of_workers() {
    assert_found(
        &loadout(r#""a": {"materia": "text", "policy": {"labels": ["gpu", "A B", ""]}}"#),
        "error policy::label 2:55 /loadouts/L/sockets/a/policy/labels/1: `A B` cannot be a label
         error policy::label 2:62 /loadouts/L/sockets/a/policy/labels/2: `` cannot be a label",
    );
    let fine = r#""a": {"materia": "text", "policy": {"labels": ["gpu", "big", "gpu"]}}"#;
    assert_found(&loadout(fine), "");
}

#[test]
fn a_policy_stays_inside_the_project() {
    assert_found(
        &loadout(
            r#""a": {"materia": "text", "policy": {"write": ["docs", "../up", "/etc", "a/../..", ""]}}"#,
        ),
        "error policy::outside 2:55 /loadouts/L/sockets/a/policy/write/1: `../up` does not lie inside the project
         error policy::outside 2:64 /loadouts/L/sockets/a/policy/write/2: `/etc` does not lie inside the project
         error policy::outside 2:72 /loadouts/L/sockets/a/policy/write/3: `a/../..` does not lie inside the project
         error policy::outside 2:83 /loadouts/L/sockets/a/policy/write/4: `` does not lie inside the project",
    );
    let fine = r#""a": {"materia": "text", "policy": {"write": ["docs", "./src/gen", "a..b"]}}"#;
    assert_found(&loadout(fine), "");
}
