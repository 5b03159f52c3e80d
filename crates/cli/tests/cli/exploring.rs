//! Histories that `explore` finds, played by `cast`, and the bounds that `bounds` gives.

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

/// A judge that sends work back, and a program.
fn review() -> Value {
    json!({
        "activeLoadout": "Review",
        "loadouts": { "Review": { "entry": "write", "properties": ["always test before judge"], "sockets": {
            "write": { "materia": "Writer", "edges": [{ "to": "judge" }] },
            "judge": { "materia": "Judge", "parse": "json", "edges": [
                { "when": "satisfied", "to": "test" },
                { "when": "not_satisfied", "to": "write", "maxTraversals": 3 },
            ] },
            "test": { "materia": "Test" },
        } } },
        "materia": {
            "Writer": { "prompt": "W." }, "Judge": { "prompt": "J." },
            "Test": { "type": "utility", "command": ["true"] },
        },
    })
}

/// V3: answers that are for no socket, or are none, would silently change what is explored.
#[test]
fn answers_that_mean_nothing_are_refused_all_at_once() {
    let bench = Bench::with(&review());
    let refused = |answers: &Value| {
        bench.write("answers.json", &answers.to_string());
        bench.run(&["explore", "--answers", "answers.json"]).exits(2).err
    };
    let told = refused(&json!({
        "turns": { "Wirter": [{ "text": "x" }], "Judge": [] },
        "utilities": { "Judge": [], "judge": [{}], "Test": [] },
        "timeline": [{ "atMs": 3, "do": "pause" }],
    }));
    for fault in [
        "the answers in answers.json",
        "`Wirter` under `turns` is neither a socket nor a materia",
        "`Judge` under `turns` has no answer",
        "`judge` under `utilities` asks an agent",
        "`Test` under `utilities` has no answer",
        "leave `timeline` and `runForMs` out",
    ] {
        assert!(told.contains(fault), "{fault}: {told}");
    }
    assert!(refused(&json!([])).contains("an object is needed here, not a list"));
    let cast = ["cast", "--virtual-time", "--script", "answers.json", "go"];
    assert!(bench.run(&cast).exits(2).err.contains("not a list"), "no script for a cast either");
}

/// V4: where it stopped, it does not say that no history reaches a socket.
#[test]
fn an_exploration_that_stopped_claims_nothing_about_the_rest() {
    let bench = Bench::with(&review());
    let some = bench.run(&["explore", "--max-states", "1"]).exits(4).out;
    assert!(some.contains("not all: there are more than 1 states"), "{some}");
    assert!(some.contains("So far no history reaches socket `test`."), "{some}");
    assert!(!some.contains("\nNo history"), "{some}");
}

/// V5: `check --prove` shows how a property fails.
#[test]
fn check_shows_the_history_that_refutes_a_property() {
    let bench = Bench::with(&review());
    let told = bench.run(&["check", "--prove"]).exits(1).err;
    assert!(told.contains("Review: always test before judge: refuted\n  by "), "{told}");
    assert!(told.contains("steps: write judge"), "{told}");
    let body = bench.run(&["check", "--prove", "--json"]).exits(1).json();
    let shown = &body["proofs"][0]["properties"][0]["counterexample"];
    assert_eq!(shown["plays"], json!(true), "{body}");
}

/// V1: what turns took in past casts, and a sum only where that of every agent is known.
#[test]
fn bounds_tell_what_past_turns_took_and_how_many_they_were() {
    let mut config = review();
    config["limits"] = json!({ "maxRepairs": 0, "maxRetries": 0 });
    config["loadouts"]["Draft"] =
        json!({ "entry": "write", "sockets": { "write": { "materia": "Writer" } } });
    let bench = Bench::with(&config);
    for (cast, tokens) in (1..=10).zip([9, 2, 3, 4, 5, 6, 7, 8, 1, 1_000]) {
        let usage = json!({ "inputTokens": tokens, "outputTokens": 0, "cost": 0.5 });
        let script = json!({ "turns": { "Writer": [{ "text": "w", "usage": usage }] } });
        bench.write("script.json", &script.to_string());
        let id = format!("c{cast}");
        let args = ["cast", "--loadout", "Draft", "--virtual-time", "--script", "script.json"];
        bench.run(&[&args[..], &["--cast-id", &id, "go"]].concat()).exits(0);
    }
    let body = bench.run(&["bounds", "--json"]).exits(0).json();
    let past = &body["sockets"][0]["past"];
    assert_eq!(past["turns"], 10);
    assert_eq!(past["tokens"], json!({ "p50": 5, "p90": 9, "largest": 1_000 }));
    assert_eq!(past["cost"], json!({ "p50": 0.5, "p90": 0.5, "largest": 0.5 }));
    // Four visits, each with one more attempt for a lost session.
    assert_eq!(body["sockets"][0]["turns"]["most"], 8);
    assert_eq!(
        body["sockets"][0]["cost"],
        json!({ "tokens": 8_000, "cost": 4, "enforced": false })
    );
    assert_eq!(body["cast"].get("cost"), None, "nobody knows what the judge takes: {body}");
    let told = bench.run(&["bounds"]).exits(0).out;
    let line =
        "a turn: 5 tokens (p50), 9 (p90), 1000 at most; cost 0.5, 0.5, 0.5; from 10 past turns";
    assert!(told.contains(line), "{told}");
    let draft = bench.run(&["bounds", "Draft", "--json"]).exits(0).json();
    assert_eq!(draft["cast"]["cost"], json!({ "tokens": 2_000, "cost": 1, "enforced": false }));
    // A budget holds whatever a turn takes.
    config["budget"] = json!({ "maxTokens": 77 });
    bench.write("materia.json", &config.to_string());
    let body = bench.run(&["bounds", "--json"]).exits(0).json();
    assert_eq!(body["cast"]["cost"], json!({ "tokens": 77, "enforced": true }));
}

/// V1: a socket that ticks without end has no bound; one that only has no formula is not called so.
#[test]
fn a_socket_without_a_bound_is_told_from_one_without_a_formula() {
    let mut config = review();
    config["loadouts"]["Ticks"] = json!({ "entry": "a", "sockets": {
        "a": { "materia": "Writer", "trigger": "scheduled", "cron": "30 6 * * *", "edges": [{ "to": "b" }] },
        "b": { "materia": "Writer" } } });
    let told = Bench::with(&config).run(&["bounds", "Ticks"]).exits(1).out;
    assert!(told.contains("a (Writer) has no bound\n"), "{told}");
    assert!(told.contains("The cast has no bound of turns"), "{told}");
    assert!(told.contains("`budgets.turns` of `a`, or `budget.maxTurns`"), "{told}");
}
