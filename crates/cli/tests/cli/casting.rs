//! Casts that run to an end, and their exit statuses.

use serde_json::json;

use crate::bench::{Bench, agents, utilities};

/// The loadout that the description of utilities prints, as it stands there.
const HELLO: &str = r#"{
  "artifactDir": ".pi/pi-materia",
  "activeLoadout": "Hello Utility",
  "loadouts": {
    "Hello Utility": {
      "entry": "hello",
      "sockets": {
        "hello": {
          "materia": "helloUtility",
          "edges": [{ "when": "always", "to": "end" }]
        }
      }
    }
  },
  "materia": {
    "helloUtility": {
      "type": "utility",
      "label": "Hello Utility",
      "command": ["python3", "-c", "import json,sys; ctx=json.load(sys.stdin); print(json.dumps({'state': {'hello': {'ok': True, 'message': ctx['params']['message']}}}))"],
      "params": { "message": "HELLO WORLD" },
      "parse": "json",
      "assign": { "hello": "$.state.hello" }
    }
  }
}
"#;

#[test]
fn hello_world_runs_as_printed() {
    let bench = Bench::new();
    bench.write("hello-utility.json", HELLO);
    // The file is named by the person, so it needs no further trust.
    let ran = bench
        .run(&[
            "cast",
            "--config",
            "./hello-utility.json",
            "--cast-id",
            "h1",
            "say",
            "it",
            "--json",
        ])
        .exits(0);
    let report = ran.json();
    assert_eq!(report["status"], "completed");
    assert_eq!(report["loadout"], "Hello Utility");
    assert_eq!(report["state"]["hello"], json!({ "ok": true, "message": "HELLO WORLD" }));
    let visit = &report["visits"][0];
    let expected = json!({ "socket": "hello", "visit": 1, "attempt": 1, "item": null, "outcome": "completed", "materia": "helloUtility" });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&visit[field], value, "{field}");
    }
    assert_eq!(report["visits"].as_array().unwrap().len(), 1);
    let folder = ".pi/pi-materia/h1/sockets/hello/1-1";
    assert!(bench.read(&format!("{folder}.input.json")).contains("\"say it\""));
    assert!(bench.read(&format!("{folder}.stdout")).contains("HELLO WORLD"));
    assert_eq!(bench.read(&format!("{folder}.stderr")), "");
    assert!(bench.has(&format!("{folder}.meta.json")));
    assert!(
        ran.err.contains("hello helloUtility: started") && ran.err.contains("h1 completed"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("materia show h1 --config ./hello-utility.json"), "{}", ran.err);
    assert!(!ran.err.contains('\x1b'), "no colour where nobody watches");
    bench.run(&["replay", "h1", "--config", "hello-utility.json"]).exits(0);
}

#[test]
fn words_are_joined_and_data_alone_is_on_standard_output() {
    let (config, script) = agents(&["a"]);
    let bench = Bench::with(&config);
    bench.write("script.json", &script.to_string());
    let ran =
        bench.run(&["cast", "--script", "script.json", "--cast-id", "c1", "mend", "the  net"]);
    let ran = ran.exits(0);
    assert_eq!(ran.out, "", "without --json there is no data");
    let first = &bench.run(&["events", "c1", "--json"]).exits(0).lines()[0];
    assert_eq!(first["data"]["request"], "mend the  net");
    assert_eq!(first["data"]["script"]["keys"], json!({ "a": "M" }));
}

#[test]
fn a_failing_program_gives_status_one_and_says_where_to_look() {
    let bench =
        Bench::with(&utilities(&[("a", "import sys; print('no', file=sys.stderr); sys.exit(3)")]));
    let ran = bench.run(&["cast", "--trust", "--cast-id", "c1", "--json"]).exits(1);
    assert_eq!(ran.json()["error"]["code"], "utility_failed");
    assert!(ran.err.contains("1-1.stderr"), "{}", ran.err);
    let shown = bench.run(&["show", "c1"]).exits(0).out;
    assert!(shown.contains("utility_failed") && shown.contains("failed"), "{shown}");
    let refused = bench.run(&["resume", "c1", "--json"]).exits(2).json();
    assert_eq!(refused["error"]["code"], "resolution");
}

#[test]
fn an_interactive_cast_waits_with_status_three() {
    let (config, script) = agents(&["a"]);
    let bench = Bench::with(&config);
    bench.write("script.json", &script.to_string());
    let args =
        ["cast", "--script", "script.json", "--interactive", "--cast-id", "c1", "--json", "go"];
    let report = bench.run(&args).exits(3).json();
    assert_eq!(report["waiting"]["reason"], "interactive");
    let aborted = bench.run(&["abort", "c1", "--json"]).exits(0).json();
    assert_eq!(aborted["status"], "aborted");
    bench.run(&["abort", "c1"]).exits(2);
    bench.run(&["replay", "c1"]).exits(0);
}

#[test]
fn the_same_script_gives_the_same_log_in_simulated_time() {
    let (config, script) = agents(&["a", "b", "c"]);
    let log = |_| {
        let bench = Bench::with(&config);
        bench.write("script.json", &script.to_string());
        let args = ["cast", "--script", "script.json", "--virtual-time", "--cast-id", "c1", "go"];
        bench.run(&args).exits(0);
        let lines = bench.run(&["events", "c1", "--json"]).exits(0).lines();
        let rest = &lines[1..];
        assert_eq!(lines[0]["wallTime"], "2000-01-01T00:00:00.000Z");
        rest.iter()
            .map(|event| (event["type"].clone(), event["id"].clone(), event["ts"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(log(1), log(2));
}

#[test]
fn a_script_that_names_nothing_is_mentioned() {
    let (config, mut script) = agents(&["a"]);
    script["turns"]["Nobody"] = json!([]);
    let bench = Bench::with(&config);
    bench.write("script.json", &script.to_string());
    let ran = bench.run(&["cast", "--script", "script.json", "go"]).exits(0);
    assert!(ran.err.contains("`Nobody`"), "{}", ran.err);
}

#[test]
fn another_folder_can_be_named() {
    let (config, script) = agents(&["a"]);
    let bench = Bench::with(&config);
    bench.write("script.json", &script.to_string());
    let mut command = bench.command(&["-C", "project", "cast", "--script", "script.json", "go"]);
    let output = command.current_dir(bench.project().parent().unwrap()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(bench.has(".materia/journal.db"));
}

/// Adds patterns to a file of ignored paths, as the second example of a utility does.
const IGNORE: &str = "
import json, pathlib, sys
given = json.load(sys.stdin)
path = pathlib.Path(given['cwd']) / given['params']['file']
text = path.read_text() if path.exists() else ''
added = [one for one in given['params']['patterns'] if one not in text.splitlines()]
if added:
    if text and not text.endswith('\\n'):
        text += '\\n'
    path.write_text(text + ''.join(one + '\\n' for one in added))
print(json.dumps({'state': {'artifactIgnore': {'ok': True, 'changed': bool(added), 'added': added}}}))
";

#[test]
fn ignore_patterns_are_added_once() {
    let bench = Bench::with(&json!({
        "activeLoadout": "Ignore",
        "loadouts": { "Ignore": { "entry": "ignore", "sockets": {
            "ignore": { "materia": "ignore", "edges": [{ "to": "end" }] }
        } } },
        "materia": { "ignore": {
            "type": "utility",
            "command": ["python3", "scripts/ensure_ignored.py"],
            "params": { "file": ".gitignore", "patterns": ["target/", ".materia/"] },
            "parse": "json",
            "assign": { "ignored": "$.state.artifactIgnore" },
        } },
    }));
    bench.write("scripts/ensure_ignored.py", IGNORE);
    bench.write(".gitignore", "target/");
    for changed in [true, false] {
        let report = bench.run(&["cast", "--trust", "--json", "go"]).exits(0).json();
        assert_eq!(report["state"]["ignored"]["changed"], changed);
        assert_eq!(report["state"]["ignored"], report["state"]["artifactIgnore"]);
        assert_eq!(bench.read(".gitignore"), "target/\n.materia/\n");
    }
}

#[test]
fn simulated_and_real_time_tell_the_same_story() {
    let never = json!({ "path": "state.never", "exists": true });
    let config = json!({
        "loadouts": { "L": { "entry": "a", "sockets": {
            "a": { "materia": "M", "routing": "all", "edges": [
                { "to": "b" }, { "to": "c" }, { "to": "d", "deliveryMode": "debounce", "debounceMs": 1200 },
                { "to": "e", "where": never },
            ] },
            "b": { "materia": "M", "routing": "all", "edges": [{ "to": "d", "deliveryMode": "latest" }] },
            "c": { "materia": "M", "routing": "all", "edges": [{ "to": "d", "dedupeBy": "contentHash" }] },
            "d": { "materia": "M", "routing": "all", "dependsOn": ["c"] },
            "e": { "materia": "M", "trigger": "manual_only" },
        } } },
        "materia": { "M": { "prompt": "M." } },
    });
    let script = json!({ "turns": {
        "a": [{ "text": "a" }], "b": [{ "text": "b", "delayMs": 100 }],
        "c": [{ "text": "c", "delayMs": 3000 }], "d": [{ "text": "1", "delayMs": 60 }],
    } });
    let bench = Bench::with(&config);
    bench.write("s.json", &script.to_string());
    let story = |id: &str, options: &[&str]| {
        let args = [&["cast", "--script", "s.json", "--cast-id", id, "--json", "go"], options];
        bench.run(&args.concat()).exits(0);
        let events = bench.run(&["events", id, "--json"]).exits(0).lines();
        let line = |event: &serde_json::Value| {
            let data = &event["data"];
            let count = data["consumed"].as_array().map(Vec::len);
            format!("{} {} {} {count:?}", event["type"], event["nodeId"], data["output"])
        };
        events.iter().map(line).collect::<Vec<_>>()
    };
    let (real, simulated) = (story("real", &[]), story("simulated", &["--virtual-time"]));
    assert_eq!(real, simulated);
    assert!(real.iter().any(|line| line.contains("timer.fired")), "{real:?}");
}
