//! Refusals, which leave nothing behind.

use serde_json::{Value, json};

use crate::bench::{Bench, absent, agents};

fn refusal(bench: &Bench, args: &[&str]) -> Value {
    let mut all = args.to_vec();
    all.push("--json");
    let ran = bench.run(&all).exits(2);
    let report = ran.json();
    assert!(report["error"]["findings"].is_array(), "{report}");
    assert!(!ran.err.is_empty(), "people are told too");
    assert!(absent(&bench.project().join(".materia")), "a refusal leaves nothing behind");
    report["error"].clone()
}

#[test]
fn misuse_is_a_refusal_with_a_code() {
    let bench = Bench::with(&agents(&["a"]).0);
    for args in [
        vec!["juggle"],
        vec!["cast", "--no-such-option"],
        vec!["show"],
        vec!["cast", "--virtual-time", "go"],
        vec!["cast", "--cast-id", "../c1", "go"],
        vec!["show", "../../etc/passwd"],
        vec!["resume", "a/b"],
        vec!["events", "..", "--follow"],
        vec!["cast", "--script", "nowhere.json"],
        vec!["check", "a.json", "--config", "b.json"],
        vec!["-C", "no/such/folder", "casts"],
        vec!["link", "a", "b"],
        vec!["link", "--save", "x", "a"],
    ] {
        assert_eq!(refusal(&bench, &args)["code"], "usage", "{args:?}");
    }
}

#[test]
fn what_is_not_there_is_named_with_the_place() {
    let bench = Bench::with(&agents(&["a"]).0);
    for command in ["show", "events", "replay", "resume", "abort"] {
        let error = refusal(&bench, &[command, "nobody"]);
        assert_eq!(error["code"], "resolution", "{command}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("`nobody`") && message.contains(".materia"), "{message}");
    }
    assert_eq!(refusal(&bench, &["why", "nobody", "a"])["code"], "resolution");
    // The configuration may name another folder for casts.
    for command in [&["casts"][..], &["show", "last"], &["budget", "last"]] {
        let error = refusal(&bench, &[&["--config", "nope.json"], command].concat());
        assert_eq!(error["code"], "resolution", "{command:?}");
        assert!(error["message"].as_str().unwrap().contains("`nope.json`"), "{error}");
    }
    assert_eq!(refusal(&bench, &["grid", "nobody"])["code"], "resolution");
}

#[test]
fn what_cannot_be_meant_is_refused_and_nothing_is_written() {
    let bench = Bench::with(&agents(&["a"]).0);
    bench.write("s.json", &agents(&["a"]).1.to_string());
    bench.run(&["cast", "--trust", "--script", "s.json", "--cast-id", "c1", "go"]).exits(0);
    let ran = bench.run(&["export", "c1", "-o", "-"]).exits(2);
    assert!(ran.err.contains("`-` is not a file"), "{ran:?}");
    assert!(absent(&bench.project().join("-")));
    let ran = bench.run(&["grid", "c1.materia"]).exits(2);
    assert!(ran.err.contains("is an archive"), "{ran:?}");
    let ran = bench.run(&["blame", "c1", "--path", "state.x"]).exits(2);
    assert!(ran.err.contains("has no variable `x`; it has none"), "{ran:?}");
    let ran = bench.run(&["approve", "c1", "a", "--hash", "zz"]).exits(2);
    assert!(!ran.err.contains("answers question"), "{ran:?}");
    assert_eq!(bench.run(&["stop", "--json"]).exits(0).json(), json!({"stopped": false}));
}

#[test]
fn a_broken_configuration_is_refused_with_every_fault() {
    let bench = Bench::new();
    bench.write("materia.json", r#"{"activeLoadout": "L", "loadouts": {"L": {"entry": "x", "sockets": {"a": {"materia": "N"}}}}}"#);
    for args in [&["check"][..], &["cast", "go"], &["grid"]] {
        let error = refusal(&bench, args);
        assert_eq!(error["code"], "configuration");
        assert!(error["findings"].as_array().unwrap().len() >= 2, "{error}");
        assert_eq!(error["findings"][0]["file"], "materia.json");
    }
    bench.write("materia.json", "this is no JSON");
    assert_eq!(refusal(&bench, &["check"])["code"], "configuration");
    bench.write("materia.json", &format!("[{}]", "1,".repeat(5_000_000)));
    let ran = bench.run(&["check"]).exits(2);
    assert!(ran.err.len() < 5_000, "a large file does not flood: {}", ran.err.len());
}

#[test]
fn a_timeline_is_played_whole_or_not_at_all() {
    let (config, mut script) = agents(&["a", "b"]);
    let bench = Bench::with(&config);
    let refused = |script: &serde_json::Value, options: &[&str], words: &[&str]| {
        bench.write("s.json", &script.to_string());
        let args = [&["cast", "--script", "s.json"], options, &["go"]].concat();
        let message = refusal(&bench, &args)["message"].as_str().unwrap().to_owned();
        for word in words {
            assert!(message.contains(word), "{word}: {message}");
        }
    };
    script["timeline"] = json!([{ "atMs": 0, "do": "crash" }]);
    refused(&script, &[], &["timeline", "--virtual-time"]);
    script["timeline"] = json!([
        { "atMs": 0, "do": "offer", "edge": "b->a", "payload": { "message": "x" } },
        { "atMs": 1, "do": "offer", "edge": "a->b", "payload": { "message": "x" } },
        { "atMs": 2, "do": "trigger", "node": "c" },
    ]);
    refused(&script, &["--virtual-time"], &["entry 0", "`b->a`", "entry 2", "`c`"]);
    for entry in [
        json!({ "atMs": 0, "do": "crash", "node": "a" }),
        json!({ "atMs": 0, "do": "offer", "edge": "a->b", "payload": { "text": "x" } }),
        json!({ "atMs": 0, "do": "mode", "value": "SOMETIMES" }),
        json!({ "atMs": 0, "do": "sleep" }),
        json!({ "do": "crash" }),
    ] {
        script["timeline"] = json!([entry]);
        refused(&script, &["--virtual-time"], &["s.json"]);
    }
    script["timeline"] = json!([{ "atMs": 5, "do": "crash" }]);
    bench.write("s.json", &script.to_string());
    bench.run(&["cast", "--script", "s.json", "--virtual-time", "go"]).exits(0);
}

#[test]
fn an_id_is_used_once() {
    let (config, script) = agents(&["a"]);
    let bench = Bench::with(&config);
    bench.write("s.json", &script.to_string());
    let args = ["cast", "--script", "s.json", "--cast-id", "c1", "--json", "go"];
    bench.run(&args).exits(0);
    assert_eq!(bench.run(&args).exits(2).json()["error"]["code"], "resolution");
    let args = ["cast", "--script", "s.json", "--cast-id", "journal.db", "--json", "go"];
    assert_eq!(bench.run(&args).exits(2).json()["error"]["code"], "usage");
    assert_eq!(bench.run(&["casts", "--json"]).exits(0).lines().len(), 1);
}

#[test]
fn help_teaches_and_is_no_misuse() {
    let bench = Bench::new();
    let help = bench.run(&["--help"]).exits(0).out;
    for word in ["First steps", "materia check", "Exit status", "130"] {
        assert!(help.contains(word), "{help}");
    }
    assert!(!help.contains("__demo"), "what is hidden is not offered: {help}");
    for command in [
        "cast",
        "link",
        "check",
        "casts",
        "show",
        "events",
        "replay",
        "resume",
        "recast",
        "revive",
        "say",
        "continue",
        "trigger",
        "approve",
        "deny",
        "pause",
        "mode",
        "fork",
        "budget",
        "demo",
        "abort",
        "grid",
        "why",
        "conformance",
        "completions",
    ] {
        assert!(bench.run(&[command, "--help"]).exits(0).out.contains("Example"), "{command}");
    }
    assert!(bench.run(&["completions", "bash"]).exits(0).out.contains("materia"));
    bench.run(&[]).exits(2);
}
