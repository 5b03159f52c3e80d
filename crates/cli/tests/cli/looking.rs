//! Commands that only look.

use serde_json::json;

use crate::bench::{Bench, agents, utilities};

#[test]
fn casts_are_listed_newest_first() {
    let (config, script) = agents(&["a"]);
    let bench = Bench::with(&config);
    assert!(bench.run(&["casts"]).exits(0).err.contains("no casts"));
    assert_eq!(bench.run(&["casts", "--json"]).exits(0).out, "");
    bench.write("s.json", &script.to_string());
    for id in ["one", "two", "three"] {
        bench.run(&["cast", "--script", "s.json", "--cast-id", id, "ask", id]).exits(0);
    }
    let lines = bench.run(&["casts", "--json"]).exits(0).lines();
    let ids: Vec<_> = lines.iter().map(|line| line["castId"].as_str().unwrap()).collect();
    assert_eq!(ids, ["three", "two", "one"]);
    assert_eq!(lines[0]["request"], "ask three");
    assert_eq!(lines[0]["fromCastId"], json!(null));
    let table = bench.run(&["casts"]).exits(0).out;
    assert!(table.starts_with("CAST") && table.contains("ask two"), "{table}");
    bench.run(&["show", "last"]).exits(0);
}

#[test]
fn a_graph_is_drawn_the_same_way_each_time_and_not_too_wide() {
    let mut config = utilities(&[("first", "pass"), ("second", "pass")]);
    config["loadouts"]["L"]["sockets"]["first"]["edges"] = json!([
        { "when": "satisfied", "to": "second", "where": { "path": "state.x", "equals": "y".repeat(500) } },
        { "when": "always", "to": "end" },
    ]);
    config["loadouts"]["L"]["sockets"]["first"]["parse"] = json!("json");
    let bench = Bench::with(&config);
    let picture = bench.run(&["grid"]).exits(0).out;
    assert_eq!(picture, bench.run(&["grid", "L"]).exits(0).out);
    assert!(picture.contains("│ ▶ first           │"), "{picture}");
    assert!(picture.lines().all(|line| line.chars().count() <= 200), "{picture}");
    assert!(bench.run(&["grid", "--ascii"]).exits(0).out.is_ascii());
    let drawn = bench.run(&["grid", "--list"]).exits(0).out;
    let lines: Vec<_> = drawn.lines().collect();
    assert_eq!(lines[0], "L");
    assert_eq!(lines[1], "▶ first   M-first (utility)");
    assert!(lines[2].starts_with("  ├─ → second  satisfied where state.x = \"yyy"), "{drawn}");
    assert_eq!(lines[3], "  └─ → end  always");
    assert_eq!(lines[4], "  second  M-second (utility)");
    assert!(lines.iter().all(|line| line.chars().count() <= 200), "{drawn}");
    let data = bench.run(&["grid", "--json"]).exits(0).json();
    assert_eq!(data["entry"], "first");
    assert_eq!(data["ranks"], json!([["first"], ["second"]]));
    assert_eq!(data["sockets"][1]["rank"], 1);
    assert_eq!(
        data["sockets"][0]["edges"][1],
        json!({ "id": "first->end", "when": "always", "to": "end" })
    );
}

#[test]
fn why_answers_for_what_ran_and_what_did_not() {
    let (mut config, script) = agents(&["a", "b"]);
    config["loadouts"]["L"]["sockets"]["a"]["edges"] = json!([{ "to": "end" }]);
    let bench = Bench::with(&config);
    bench.write("s.json", &script.to_string());
    bench.run(&["cast", "--script", "s.json", "--cast-id", "c1", "go"]).exits(0);
    assert!(bench.run(&["why", "c1", "a"]).exits(0).out.starts_with("`a` ran"));
    assert_eq!(bench.run(&["why", "c1", "b", "--json"]).exits(0).json()["ran"], false);
    let refused = bench.run(&["why", "c1", "zzz", "--json"]).exits(2).json();
    assert_eq!(refused["error"]["code"], "resolution");
    let drawn = bench.run(&["grid", "c1"]).exits(0).out;
    assert!(drawn.contains("▶ a"), "a cast can be drawn too: {drawn}");
}

#[test]
fn replay_gives_the_state_at_any_event() {
    let program = "import json; print(json.dumps({'state': {'x': 1}}))";
    let mut config = utilities(&[("a", program)]);
    config["materia"]["M-a"]["parse"] = json!("json");
    let bench = Bench::with(&config);
    let cast = bench.run(&["cast", "--trust", "--cast-id", "c1", "--json"]).exits(0).json();
    let replay = bench.run(&["replay", "c1", "--json"]).exits(0).json();
    assert_eq!(replay["ok"], true);
    for same in ["state", "status", "lastSeq", "lastHash"] {
        assert_eq!(replay[same], cast[same], "{same}");
    }
    assert_eq!(replay["events"], cast["lastSeq"]);
    let early = bench.run(&["replay", "c1", "--at", "1", "--json"]).exits(0).json();
    assert_eq!((&early["state"], &early["lastSeq"]), (&json!({}), &json!(1)));
    bench.run(&["replay", "c1", "--at", "99"]).exits(2);
}

#[test]
fn nothing_a_program_says_reaches_the_terminal_raw() {
    let program =
        r"import sys; sys.stderr.write('\x1b]0;owned\x07\x1b[2J'); sys.exit('\x1b[31mred')";
    let bench = Bench::with(&utilities(&[("a", program)]));
    let args = ["cast", "--trust", "--cast-id", "c1", "clear\x1b[2J the screen"];
    let raw = |text: &str| text.chars().any(|c| c.is_control() && c != '\n' && c != '\t');
    let ran = bench.run(&args).exits(1);
    assert!(!raw(&ran.err), "{:?}", ran.err);
    for args in [&["show", "c1"][..], &["events", "c1"], &["casts"], &["why", "c1", "a"]] {
        let ran = bench.run(args).exits(0);
        assert!(!raw(&ran.out) && !raw(&ran.err), "{args:?}: {ran:?}");
    }
}
