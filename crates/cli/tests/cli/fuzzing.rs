//! Histories by chance (V7).

use serde_json::{Value, json};

use crate::bench::Bench;

/// A judge sends work back, a program tests it, and a person is asked before it ships.
fn config(properties: &Value) -> Value {
    json!({
        "activeLoadout": "L",
        "loadouts": { "L": {
            "entry": "build",
            "properties": properties,
            "sockets": {
                "build": { "materia": "Work", "edges": [{ "to": "judge" }] },
                "judge": { "materia": "Judge", "edges": [
                    { "when": "satisfied", "to": "test" },
                    { "when": "not_satisfied", "to": "build", "maxTraversals": 3 },
                ] },
                "test": { "materia": "Test", "edges": [{ "to": "ship" }] },
                "ship": { "materia": "Work", "approval": "before" },
            },
        } },
        "materia": {
            "Work": { "prompt": "W." },
            "Judge": { "prompt": "J.", "parse": "json" },
            "Test": { "type": "utility", "command": ["touch", "ran"], "retries": { "max": 1, "delayMs": 5000 } },
        },
    })
}

/// V7: one seed is one history, and nothing is found where nothing is wrong. No program runs.
#[test]
fn the_same_seed_is_the_same_history_and_a_sound_loadout_has_no_findings() {
    let bench = Bench::with(&config(&json!(["always judge before ship", "at-most 4 build"])));
    let run =
        || bench.run(&["fuzz", "--histories", "150", "--seed", "7", "--json"]).exits(0).json();
    let body = run();
    assert_eq!(body, run());
    assert_eq!((&body["histories"], &body["findings"]), (&json!(150), &json!([])));
    let ends = body["ends"].as_object().unwrap();
    for end in ["completed", "failed provider_failed", "failed contract_error", "waiting approval"]
    {
        assert!(ends.contains_key(end), "{end}: {body:#}");
    }
    assert!(body["refused"].as_u64().unwrap() < 30, "{body:#}");
    assert!(!bench.has("ran") && !bench.has(".materia"));
}

/// V7: a property that does not hold is found; its history is small, and `cast` plays it to the same end.
#[test]
fn a_failing_history_is_shrunk_to_a_script_that_cast_plays() {
    let bench = Bench::with(&config(&json!(["at-most 1 build"])));
    let body = bench.run(&["fuzz", "--histories", "100", "--json"]).exits(1).json();
    let findings = body["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "each fault is told once: {body:#}");
    let finding = &findings[0];
    assert_eq!(finding["judge"], "property");
    assert_eq!(finding["message"], "`at-most 1 build` does not hold");
    // The shortest way to a second visit, and on to an end.
    let visits = finding["visits"].as_array().unwrap();
    assert!(visits.starts_with(&[json!("build"), json!("judge"), json!("build")]), "{finding:#}");
    assert!(visits.len() <= 8, "{finding:#}");
    let seed = finding["seed"].to_string();
    let again = bench.run(&["fuzz", "--histories", "1", "--seed", &seed, "--json"]).exits(1).json();
    assert_eq!(again["findings"][0]["script"], finding["script"]);
    bench.write("script.json", &finding["script"].to_string());
    let played = bench.run(&[
        "cast",
        "--virtual-time",
        "--script",
        "script.json",
        "--cast-id",
        "c1",
        "--json",
        "go",
    ]);
    let report = played.json();
    let ran: Vec<&Value> =
        report["visits"].as_array().unwrap().iter().map(|visit| &visit["socket"]).collect();
    assert_eq!(ran, visits.iter().collect::<Vec<_>>());
    assert!(finding["end"].as_str().unwrap().starts_with(report["status"].as_str().unwrap()));
    let told = bench.run(&["fuzz", "--histories", "100"]).exits(1).out;
    assert!(
        told.contains("`at-most 1 build` does not hold") && told.contains("\"turns\""),
        "{told}"
    );
}

#[test]
fn bad_input_is_refused() {
    let bench = Bench::with(&config(&json!(["never nobody"])));
    bench.run(&["fuzz"]).exits(2);
    bench.run(&["fuzz", "Nowhere", "--histories", "1"]).exits(2);
    bench.run(&["fuzz", "--histories", "0"]).exits(2);
    bench.run(&["fuzz", "--seconds", "0"]).exits(2);
    let refused = bench.run(&["fuzz", "--histories", "1"]).exits(2).err;
    assert!(refused.contains("nobody"), "{refused}");
}
