//! Events contain no absolute paths: a project can be anywhere, and be moved.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::bench::{Bench, Ran};

/// A script of the project, a shipped one, an agent; the last one fails where it is told to.
fn config(last: &str) -> Value {
    json!({
        "materia": {
            "Own": {"type": "utility", "command": ["python3", "scripts/own.py", "{project}/x"], "parse": "json",
                    "params": {"text": "{runDir}"}},
            "Ask": {"prompt": "say something"},
            "Last": {"type": "utility", "command": ["./scripts/last.sh", last]}
        },
        "loadouts": {"L": {"entry": "own", "sockets": {
            "own": {"materia": "Own", "edges": [{"to": "vcs"}]},
            "vcs": {"materia": "Detect-VCS", "edges": [{"to": "ask"}]},
            "ask": {"materia": "Ask", "edges": [{"to": "last"}]},
            "last": {"materia": "Last"}
        }}},
        "activeLoadout": "L"
    })
}

const OWN: &str = "import json,os,sys
given = json.load(sys.stdin)
print(json.dumps({'state': {'here': given['cwd'] == os.getcwd(), 'inside': given['runDir'].startswith(given['cwd'] + '/'),
    'word': sys.argv[1], 'text': given['params']['text']}}))
";

fn bench(last: &str) -> Bench {
    let bench = Bench::with(&config(last));
    bench.write("scripts/own.py", OWN);
    bench.write("scripts/last.sh", "#!/bin/sh\nexit $1\n");
    let script = bench.project().join("scripts/last.sh");
    let runs = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(script, runs).unwrap();
    bench.write("answers.json", r#"{"turns": {"ask": [{"text": "something"}]}}"#);
    bench
}

fn cast(bench: &Bench) -> Ran {
    bench.run(&[
        "cast",
        "--trust",
        "--json",
        "--virtual-time",
        "--script",
        "answers.json",
        "--cast-id",
        "c1",
        "go",
    ])
}

/// Stored events of the cast.
fn stored(bench: &Bench) -> String {
    bench.read(".materia/c1/events.jsonl")
}

#[test]
fn the_same_cast_in_two_folders_has_the_same_hashes() {
    for (last, exit) in [("0", 0), ("7", 1)] {
        let benches = [bench(last), bench(last)];
        let reports = benches.each_ref().map(|bench| cast(bench).exits(exit).json());
        let state =
            json!({"here": true, "inside": true, "word": "{project}/x", "text": "{runDir}"});
        for (bench, report) in benches.iter().zip(&reports) {
            for (name, value) in state.as_object().unwrap() {
                assert_eq!(&report["state"][name], value, "{name}");
            }
            let home = bench.project().canonicalize().unwrap();
            assert_eq!(report["runDir"], home.join(".materia/c1").to_str().unwrap());
            let stored = stored(bench);
            let parent = home.parent().unwrap().to_str().unwrap();
            assert!(!stored.contains(parent), "an event says where it is: {stored}");
            bench.run(&["replay", "c1"]).exits(0);
        }
        assert_eq!(reports[0]["lastHash"], reports[1]["lastHash"], "exit {exit}");
        assert_eq!(stored(&benches[0]), stored(&benches[1]));
    }
}

#[test]
fn people_are_shown_paths() {
    let bench = bench("7");
    let report = cast(&bench).exits(1).json();
    let home = bench.project().canonicalize().unwrap();
    let here = Value::from(home.to_str().unwrap());
    let path = |below: &str| Value::from(home.join(below).to_str().unwrap());
    let artifacts = report["error"]["artifacts"].as_array().unwrap();
    assert_eq!(artifacts[1], path(".materia/c1/sockets/last/1-1.stdout"));
    assert!(Path::new(artifacts[1].as_str().unwrap()).is_file());
    let message = report["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("`scripts/last.sh 7` exited with code 7"), "{message}");
    let events = bench.run(&["events", "c1", "--json"]).exits(0).lines();
    let of =
        |kind: &str| events.iter().find(|event| event["type"] == kind).unwrap()["data"].clone();
    let created = of("run.created");
    assert_eq!((&created["cwd"], &created["runDir"]), (&here, &path(".materia/c1")));
    assert_eq!(created["script"]["path"], path("answers.json"));
    let command = &created["plan"]["nodes"]["own"]["behavior"]["command"];
    assert_eq!(command, &json!(["python3", path("scripts/own.py"), "{project}/x"]));
    let input = of("turn.started")["input"].clone();
    assert_eq!((&input["cwd"], &input["runDir"]), (&here, &path(".materia/c1")));
    assert_eq!(input["params"]["text"], "{runDir}", "what an author says is no path");
    assert_eq!(of("run.failed")["artifacts"], report["error"]["artifacts"]);
    let file: Value =
        serde_json::from_str(&bench.read(".materia/c1/sockets/own/1-1.input.json")).unwrap();
    assert_eq!(file, input, "the file has what the utility has read");
    let meta: Value =
        serde_json::from_str(&bench.read(".materia/c1/sockets/own/1-1.meta.json")).unwrap();
    assert_eq!(&meta["command"], command);
}

#[test]
fn a_project_that_was_moved_goes_on() {
    let bench = bench("0").asking();
    let begun = [
        "cast",
        "--trust",
        "--json",
        "--interactive",
        "--script",
        "answers.json",
        "--cast-id",
        "c1",
        "go",
    ];
    bench.run(&begun).exits(3);
    let moved = bench.project().with_file_name("moved");
    fs::rename(bench.project(), &moved).unwrap();
    let run =
        |args: &[&str]| -> Ran { bench.command(args).current_dir(&moved).output().unwrap().into() };
    // Trust is in a project at its place.
    run(&["resume", "c1", "--json"]).exits(2);
    let report = run(&["resume", "c1", "--json", "--trust"]).exits(0).json();
    assert_eq!(report["status"], "completed");
    assert_eq!(
        (&report["state"]["here"], &report["state"]["inside"]),
        (&json!(true), &json!(true))
    );
    let home = moved.canonicalize().unwrap();
    assert_eq!(report["runDir"], home.join(".materia/c1").to_str().unwrap());
    run(&["replay", "c1"]).exits(0);
    let input = fs::read_to_string(moved.join(".materia/c1/sockets/own/1-1.input.json")).unwrap();
    assert!(input.contains(home.to_str().unwrap()), "{input}");
}
