//! Effects of real turns: their diffs are delivered, and a cycle that repeats the same change is stopped.

use std::process::Command;

use serde_json::{Value, json};

use crate::bench::Bench;

/// A project under git in which `a` writes a line and `b` takes it away again, in a circle.
fn circle(bound: u32) -> Bench {
    let bench = Bench::with(&json!({
        "activeLoadout": "L",
        "budget": { "maxTurns": bound },
        "loadouts": { "L": { "entry": "a", "sockets": {
            "a": {
                "materia": "Write", "routing": "all", "outputSelector": "composite", "artifacts": ["diff"],
                "edges": [{ "to": "b" }]
            },
            "b": { "materia": "Undo", "routing": "all", "edges": [{ "to": "a" }] }
        } } },
        "materia": {
            // What they say differs each time: only the change is the same.
            "Write": { "type": "utility", "command": ["sh", "-c", "echo done >> work.txt; date +%N"] },
            "Undo": { "type": "utility", "command": ["sh", "-c", "rm -f work.txt; date +%N"] }
        }
    }));
    let git = |words: &[&str]| {
        let status = Command::new("git").current_dir(bench.project()).args(words).status().unwrap();
        assert!(status.success());
    };
    git(&["init", "--quiet"]);
    bench
}

#[test]
fn the_same_change_twice_stops_a_cycle_and_is_the_evidence() {
    let bench = circle(40);
    let ran = bench.run(&["cast", "--cast-id", "c1", "--trust", "--json", "go"]).exits(3);
    let waiting = &ran.json()["waiting"];
    assert_eq!((&waiting["reason"], &waiting["node"]), (&json!("stall"), &json!("a")));
    let events = bench.run(&["events", "c1", "--json"]).exits(0).lines();
    let diffs: Vec<_> = events
        .iter()
        .filter(|event| event["type"] == "turn.completed" && event["nodeId"] == "a")
        .map(|event| event["data"]["artifacts"][0]["content"].as_str().unwrap())
        .collect();
    assert_eq!(diffs.len(), 2, "two unchanged diffs are enough: {diffs:?}");
    assert!(diffs[0].contains("+++ b/work.txt") && diffs[0] == diffs[1], "{diffs:?}");
    let stalled = events.iter().find(|event| event["type"] == "mode.changed").unwrap();
    assert_eq!(stalled["data"]["evidence"].as_array().unwrap().len(), 2, "{stalled}");
}

#[test]
fn what_a_turn_changed_travels_on_to_the_next() {
    let bench = circle(2);
    bench.run(&["cast", "--cast-id", "c1", "--trust", "go"]).exits(3);
    let input = bench.read(".materia/c1/sockets/b/1-1.input.json");
    let input: Value = serde_json::from_str(&input).unwrap();
    let sent = &input["inputs"][0]["artifacts"][0];
    assert_eq!((&sent["kind"], &sent["name"]), (&json!("diff"), &json!("sockets/a/1-1.diff")));
    assert!(bench.read(".materia/c1/sockets/a/1-1.diff").contains("+done"));
    assert!(!bench.has(".materia/c1/tmp"), "nothing private is left");
}
