//! The runner of cases: that it runs them, and that it can fail.

use serde_json::{Value, json};

use crate::bench::{Bench, agents, utilities};

fn case(bench: &Bench, name: &str, expect: &Value) {
    let (config, script) = agents(&["a", "b"]);
    let case = json!({
        "name": "two in a row", "requirements": ["G1", "X4"], "config": config, "script": script,
        "args": ["cast", "go"], "expect": expect,
        "then": [{ "args": ["replay", "{castId}"], "expect": { "exit": 0 } }],
    });
    bench.write(&format!("cases/{name}.json"), &case.to_string());
}

#[test]
fn cases_that_hold_pass() {
    let bench = Bench::new();
    case(
        &bench,
        "deep/good",
        &json!({
            "exit": 0, "status": "completed", "visits": ["a", { "socket": "b", "visit": 1 }],
            "events": ["run.created", { "type": "turn.completed", "nodeId": "b", "output": "done" }],
            "noEvents": ["run.failed"], "report": { "usage": { "turns": 2 } }, "state": {},
            "stdoutContains": "castId", "stderrContains": ["completed"],
            "files": { "materia.json": { "contains": "Do it." }, "other": null },
        }),
    );
    let ran = bench.run(&["conformance", "cases"]).exits(0);
    assert_eq!(ran.out, "1 passed, 0 failed\n");
    let ran = bench.run(&["conformance", "cases", "--coverage"]).exits(0);
    assert!(ran.out.contains("G1        1\nX4        1\n"), "{}", ran.out);
    let lines = bench.run(&["conformance", "cases", "--json"]).exits(0).lines();
    assert_eq!(lines[0]["ok"], true);
    assert_eq!(lines[1], json!({ "passed": 1, "failed": 0 }));
}

#[test]
fn every_kind_of_expectation_can_fail() {
    let wrong = [
        json!({ "exit": 1 }),
        json!({ "status": "failed" }),
        json!({ "visits": ["a"] }),
        json!({ "visits": ["b", "a"] }),
        json!({ "state": { "x": 1 } }),
        json!({ "error": { "code": "no_advance" } }),
        json!({ "error.code": "no_advance" }),
        json!({ "waiting": {} }),
        json!({ "events": ["run.completed", "run.created"] }),
        json!({ "events": [{ "type": "turn.completed", "output": "other" }] }),
        json!({ "events": [] }),
        json!({ "noEvents": ["run.completed"] }),
        json!({ "findings": [{ "code": "x" }] }),
        json!({ "stdoutContains": "nowhere to be seen" }),
        json!({ "stderrContains": ["nowhere to be seen"] }),
        json!({ "files": { "materia.json": "other" } }),
        json!({ "files": { "materia.json": null } }),
        json!({ "files": { "missing": "x" } }),
        json!({ "files": { "materia.json": { "contain": "" } } }),
        json!({ "files": { "../x": null } }),
        json!({ "report": { "loadout": "M" } }),
        json!({ "noCastFolder": true }),
        json!({ "exits": 0 }),
        json!({}),
    ];
    let bench = Bench::new();
    for (index, expect) in wrong.iter().enumerate() {
        case(&bench, &index.to_string(), expect);
    }
    bench.write("cases/no-case.json", "{}");
    let ran = bench.run(&["conformance", "cases", "--json"]).exits(1);
    let lines = ran.lines();
    for line in &lines[..=wrong.len()] {
        assert_eq!(line["ok"], false, "{line}");
    }
    assert_eq!(lines.last().unwrap(), &json!({ "passed": 0, "failed": wrong.len() + 1 }));
}

#[test]
fn cases_about_trust_are_not_trusted_for_them() {
    let bench = Bench::new();
    let config = utilities(&[("a", "pass")]);
    for (requirement, exit) in [("D35", 2), ("U1", 0)] {
        let case = json!({
            "name": "trust", "requirements": [requirement], "config": config,
            "args": ["cast", "go"], "expect": { "exit": exit },
        });
        bench.write(&format!("cases/{requirement}.json"), &case.to_string());
    }
    assert_eq!(bench.run(&["conformance", "cases"]).exits(0).out, "2 passed, 0 failed\n");
}

#[test]
fn no_case_is_no_success() {
    let bench = Bench::new();
    bench.run(&["conformance"]).exits(2);
    bench.write("empty/readme.txt", "");
    bench.run(&["conformance", "empty"]).exits(2);
}
