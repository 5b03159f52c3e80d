//! Casts with memory lost at every point (V6).

use std::fs;

use serde_json::{Value, json};

use crate::bench::{Bench, Ran};

/// One socket after another, each a command for the shell.
fn chain(commands: &[(&str, &str)]) -> Value {
    let mut sockets = json!({ "plan": { "materia": "Plan" } });
    let mut materia = json!({ "Plan": { "prompt": "P." } });
    let mut before = "plan";
    for (name, command) in commands {
        sockets[before]["edges"] = json!([{ "to": name }]);
        sockets[name] = json!({ "materia": format!("Run-{name}") });
        materia[format!("Run-{name}")] =
            json!({ "type": "utility", "command": ["sh", "-c", command] });
        before = name;
    }
    json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "plan", "sockets": sockets } },
        "materia": materia,
    })
}

fn bench(config: &Value, script: &Value) -> Bench {
    let bench = Bench::with(config);
    bench.write("script.json", &script.to_string());
    bench
}

/// Runs `crashtest` with temporary files of its own, and shows that none is left.
fn crashtest(bench: &Bench, more: &[&str]) -> Ran {
    let temporary = bench.project().join("../temporary");
    fs::create_dir_all(&temporary).unwrap();
    let mut args = vec!["crashtest", "--script", "script.json"];
    args.extend(more);
    let ran: Ran = bench.command(&args).env("TMPDIR", &temporary).output().map(Into::into).unwrap();
    assert_eq!(fs::read_dir(temporary).unwrap().count(), 0, "a scratch folder is left");
    ran
}

fn planned() -> Value {
    json!({ "turns": { "Plan": [{ "text": "planned" }] } })
}

/// V6: a utility that appends a line each time is named with its socket and the point of the crash; one that comes to
/// the same however often it runs is not.
#[test]
fn what_is_not_idempotent_is_named_with_the_point_of_the_crash() {
    let config = chain(&[
        ("once", "echo kept > kept.txt"),
        ("append", "echo ran >> log.txt"),
        ("make", "mkdir made"),
    ]);
    let bench = bench(&config, &planned());
    let body = crashtest(&bench, &["--real", "--trust", "--json"]).exits(1).json();
    assert_eq!((&body["end"], &body["real"]), (&json!("completed"), &json!(true)));
    let findings = body["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 2, "{body:#}");
    let append = &findings[0];
    assert_eq!(append["sockets"], json!(["append"]));
    assert_eq!(append["at"][0]["kind"], "report");
    assert_eq!(append["at"][0]["sockets"], json!(["append"]));
    let file =
        json!({ "kind": "file", "name": "log.txt", "expected": "4 bytes", "found": "8 bytes" });
    assert_eq!(append["differences"], json!([file]));
    // The second time it fails, so the cast ends otherwise.
    assert_eq!(findings[1]["sockets"], json!(["make"]));
    let kinds: Vec<&Value> =
        findings[1]["differences"].as_array().unwrap().iter().map(|it| &it["kind"]).collect();
    assert!(kinds.contains(&&json!("end")), "{body:#}");
    let again: Vec<&Value> =
        body["repeated"].as_array().unwrap().iter().map(|it| &it["socket"]).collect();
    assert_eq!(again, ["append", "make", "once"]);
    for left in ["kept.txt", "log.txt", "made", ".materia"] {
        assert!(!bench.has(left), "{left} was written to the project");
    }
    let told = crashtest(&bench, &["--real"]).exits(1).out;
    assert!(told.contains("Socket `append` (Run-append) is not idempotent"), "{told}");
    assert!(told.contains("file `log.txt`: 4 bytes without a crash, 8 bytes with it"), "{told}");
}

/// Two turns in flight run again together; only the one that is not idempotent is named.
#[test]
fn of_two_that_run_again_only_the_one_to_blame_is_named() {
    let config = json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "plan", "sockets": {
            "plan": { "materia": "Plan", "routing": "all", "edges": [{ "to": "good" }, { "to": "bad" }] },
            "good": { "materia": "Good", "routing": "all" },
            "bad": { "materia": "Bad", "routing": "all" },
        } } },
        "materia": {
            "Plan": { "prompt": "P." },
            "Good": { "type": "utility", "command": ["sh", "-c", "echo kept > kept.txt"] },
            "Bad": { "type": "utility", "command": ["sh", "-c", "echo ran >> log.txt"] },
        },
    });
    let bench = bench(&config, &planned());
    let body = crashtest(&bench, &["--real", "--trust", "--pairs", "--json"]).exits(1).json();
    assert!(body["pairs"].as_u64().unwrap() > 10, "{body:#}");
    for finding in body["findings"].as_array().unwrap() {
        let sockets = finding["sockets"].as_array().unwrap();
        assert!(sockets.contains(&json!("bad")), "{finding:#}");
        let file = &finding["differences"][0];
        assert_eq!(
            (&file["kind"], &file["name"]),
            (&json!("file"), &json!("log.txt")),
            "{finding:#}"
        );
    }
}

/// Where programs write the time or a number by chance, no crash is to blame.
#[test]
fn what_differs_without_a_crash_is_not_compared_and_said() {
    let bench =
        bench(&chain(&[("draw", "cat /proc/sys/kernel/random/uuid > drawn.txt")]), &planned());
    let body = crashtest(&bench, &["--real", "--trust", "--json"]).exits(0).json();
    assert_eq!(body["findings"], json!([]));
    let note = body["notes"][0].as_str().unwrap();
    assert!(note.contains("`drawn.txt` differs from play to play without a crash"), "{note}");
}

/// A cast of a script alone: a loop, a retry and a verdict that sends work back, with one crash and with two.
#[test]
fn a_cast_of_a_script_comes_to_the_same_end_wherever_memory_is_lost() {
    let config = json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "plan", "sockets": {
            "plan": { "materia": "Plan", "edges": [{ "to": "build" }] },
            "build": { "materia": "Build", "edges": [{ "to": "judge" }] },
            "judge": { "materia": "Judge", "assign": { "last": "$.context" }, "edges": [
                { "when": "satisfied", "to": "test" },
                { "when": "not_satisfied", "to": "build", "maxTraversals": 3 },
            ] },
            "test": { "materia": "Test" },
        } } },
        "materia": {
            "Plan": { "prompt": "P." },
            "Build": { "prompt": "B." },
            "Judge": { "prompt": "J.", "parse": "json" },
            "Test": { "type": "utility", "command": ["false"], "retries": { "max": 1, "delayMs": 1000 } },
        },
    });
    let script = json!({
        "turns": {
            "Plan": [{ "text": "planned" }],
            "Build": [{ "text": "one", "delayMs": 500 }, { "text": "two" }],
            "Judge": [{ "json": { "satisfied": false, "context": "no" } }, { "json": { "satisfied": true, "context": "yes" } }],
        },
        "utilities": { "Test": [{ "exitCode": 1 }, { "stdout": "passed" }] },
    });
    let bench = bench(&config, &script);
    let body = crashtest(&bench, &["--pairs", "--json"]).exits(0).json();
    let points = body["points"].as_array().unwrap();
    assert!(points.len() > 12, "{body:#}");
    for kind in ["decision", "report"] {
        assert!(points.iter().any(|point| point["kind"] == kind), "{kind}: {body:#}");
    }
    assert_eq!(body["plays"], points.len());
    let all = points.len() * (points.len() - 1) / 2;
    assert!(body["pairs"].as_u64().unwrap() >= all as u64, "{body:#}");
    assert_eq!(body["findings"], json!([]), "{body:#}");
    assert_eq!(body["repeated"][0]["socket"], "test");
    // A turn that runs again counts for the budget: the cast then waits, and no socket is to blame.
    let mut config = config;
    config["budget"] = json!({ "maxTurns": 7 });
    bench.write("materia.json", &config.to_string());
    let body = crashtest(&bench, &["--json"]).exits(1).json();
    assert_eq!(body["end"], "completed");
    for finding in body["findings"].as_array().unwrap() {
        assert_eq!(finding["sockets"], json!([]), "{finding:#}");
        let end = &finding["differences"][0];
        assert!(end["found"].as_str().unwrap().contains("budget"), "{finding:#}");
    }
}

#[test]
fn nothing_runs_that_nobody_has_approved() {
    let bench = bench(&chain(&[("append", "echo ran >> ../ran")]), &planned()).asking();
    let refused = crashtest(&bench, &["--real", "--json"]).exits(2);
    assert_eq!(refused.json()["error"]["code"], "trust");
    assert!(refused.err.contains("echo ran"), "{}", refused.err);
    // Without `--real` nothing would run, so there is nothing to approve.
    let refused = crashtest(&bench, &["--trust"]).exits(2).err;
    assert!(refused.contains("--real"), "{refused}");
    assert!(!bench.has("../ran") && !bench.has("../temporary/ran"));
}

/// A file that a turn changes in the copy is no longer the one that was approved.
#[test]
fn a_program_that_changed_in_the_copy_does_not_run() {
    let config = chain(&[("change", "echo 'touch ../ran' >> check.sh"), ("check", "./check.sh")]);
    let bench = bench(&config, &planned());
    bench.write("check.sh", "#!/bin/sh\n");
    let refused = crashtest(&bench, &["--real", "--trust", "--json"]).exits(2);
    assert_eq!(refused.json()["error"]["code"], "trust");
    assert!(refused.err.contains("`check.sh` changed since it was approved"), "{}", refused.err);
    assert_eq!(bench.read("check.sh"), "#!/bin/sh\n");
}

#[test]
fn bad_input_is_refused_with_all_that_is_wrong() {
    let bench = bench(&chain(&[("one", "true"), ("two", "true")]), &planned());
    let refused = crashtest(&bench, &[]).exits(2).err;
    assert!(refused.contains("no results under `utilities` for `one`, `two`"), "{refused}");
    bench.write("script.json", "{\"turns\": []}");
    crashtest(&bench, &[]).exits(2);
    bench.write("script.json", "{\"only\": true, \"turns\": {\"Plan\": [{\"text\": \"x\"}]}}");
    let refused = crashtest(&bench, &["--real", "--trust"]).exits(2).err;
    assert!(refused.contains("no agent is asked"), "{refused}");
    bench.run(&["crashtest"]).exits(2);
    bench.run(&["crashtest", "Nowhere", "--script", "script.json"]).exits(2);
}
