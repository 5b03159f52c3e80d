//! Histories that `explore` finds, played by `cast`.

use serde_json::{Value, json};

use crate::bench::Bench;

fn config() -> Value {
    json!({
        "activeLoadout": "L",
        "loadouts": { "L": {
            "entry": "plan",
            "sockets": {
                "plan": { "materia": "Plan", "edges": [{ "to": "one" }, { "to": "two" }], "routing": "all" },
                "one": { "materia": "Judge", "routing": "all", "assign": { "verdict": "$.satisfied" },
                    "edges": [{ "when": "satisfied", "to": "ship", "deliveryMode": "drop_if_busy" }] },
                "two": { "materia": "Test", "routing": "all",
                    "edges": [{ "when": "satisfied", "to": "ship", "deliveryMode": "drop_if_busy" }] },
                "ship": { "materia": "Ship", "routing": "all", "approval": "before",
                    "edges": [{ "when": "not_satisfied", "to": "tell" }] },
                "tell": { "materia": "Plan", "routing": "all" }
            },
        } },
        "materia": {
            "Plan": { "prompt": "P." },
            "Judge": { "prompt": "J.", "parse": "json" },
            "Test": { "type": "utility", "command": ["true"], "verdict": "exitCode", "retries": { "max": 1, "delayMs": 5000 } },
            "Ship": { "prompt": "S.", "parse": "json" },
        },
    })
}

/// V4: each finding has a history as a script that `cast --virtual-time --script` plays to exactly its end.
#[test]
fn what_explore_finds_is_played_by_cast() {
    let bench = Bench::with(&config());
    let body = bench.run(&["explore", "--json"]).exits(0).json();
    assert_eq!(body["complete"], json!(true));
    let findings = body["findings"].as_array().unwrap();
    let kinds: Vec<&str> = findings.iter().filter_map(|it| it["kind"].as_str()).collect();
    for kind in ["fails", "waits", "race"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    for (number, finding) in findings.iter().enumerate() {
        let history = &finding["history"];
        assert_eq!(history["plays"], json!(true), "{finding}");
        bench.write("script.json", &history["script"].to_string());
        let id = format!("play-{number}");
        let played = bench.run(&[
            "cast",
            "--trust",
            "--virtual-time",
            "--script",
            "script.json",
            "--cast-id",
            &id,
            "--json",
            "go",
        ]);
        let report = played.json();
        let visits: Vec<&Value> =
            report["visits"].as_array().unwrap().iter().map(|visit| &visit["socket"]).collect();
        let expected: Vec<&Value> = history["visits"].as_array().unwrap().iter().collect();
        assert_eq!(visits, expected, "{finding}");
        let mut end = vec![report["status"].as_str().unwrap().to_owned()];
        if let Some(error) = report["error"].as_object() {
            end.extend([
                error["code"].as_str().unwrap().to_owned(),
                error["socket"].as_str().unwrap().to_owned(),
            ]);
        }
        if let Some(waiting) = report["waiting"].as_object() {
            end.extend([
                waiting["reason"].as_str().unwrap().to_owned(),
                waiting["node"].as_str().unwrap_or_default().to_owned(),
            ]);
        }
        assert_eq!(end.join(" ").trim(), history["end"].as_str().unwrap(), "{finding}");
    }
}

/// V1: the list of loadouts says how many turns each can take.
#[test]
fn the_list_of_loadouts_has_their_bounds() {
    let mut config = config();
    config["loadouts"]["Ticks"] = json!({ "entry": "a", "sockets": {
        "a": { "materia": "Plan", "trigger": "scheduled", "cron": "30 6 * * *" } } });
    config["loadouts"]["Wrong"] =
        json!({ "entry": "a", "sockets": { "a": { "materia": "Nobody" } } });
    let bench = Bench::with(&config);
    let listed = bench.run(&["loadout", "--json"]).exits(0).json();
    let bound = |name: &str| {
        let all = listed["loadouts"].as_array().unwrap();
        all.iter().find(|it| it["name"] == name).unwrap()["bound"].clone()
    };
    assert_eq!(bound("Ticks"), json!({ "bounded": false, "turns": {} }));
    assert_eq!(bound("Wrong"), Value::Null);
    let own = bench.run(&["bounds", "--json"]).exits(0).json();
    assert_eq!(bound("L"), json!({ "bounded": true, "turns": own["cast"]["turns"] }));
    let text = bench.run(&["loadout"]).exits(0).out;
    let line = |name: &str| text.lines().find(|line| line.contains(name)).unwrap().to_owned();
    let formula = own["cast"]["turns"]["formula"].as_str().unwrap();
    assert!(line("* L ").contains(&format!("≤ {formula} turns")), "{text}");
    assert!(line("Ticks").contains("no bound"), "{text}");
    assert!(line("Wrong").contains("has errors"), "{text}");
    assert!(line("Full-Auto").contains("n(Auto-Plan)"), "{text}");
}
