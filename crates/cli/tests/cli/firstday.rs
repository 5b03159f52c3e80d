//! First use: starting a cast, reading its output, answering, mistakes.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::bench::{Bench, Ran, finish};

/// A plan and a reviewer, answered by a script.
fn reviewed() -> Bench {
    let bench = Bench::with(&json!({
        "loadouts": { "L": { "entry": "write", "sockets": {
            "write": { "materia": "Write", "edges": [{ "to": "judge" }] },
            "judge": { "materia": "Judge", "parse": "json", "edges": [
                { "when": "satisfied", "to": "end" },
                { "when": "not_satisfied", "to": "write", "maxTraversals": 3 },
            ] },
        } } },
        "materia": { "Write": { "prompt": "Write." }, "Judge": { "prompt": "Judge." } },
    }));
    let script = json!({ "turns": {
        "write": [
            { "text": "first draft\nsecond line", "usage": { "inputTokens": 10, "outputTokens": 5, "cost": 0.25 } },
            { "text": "the final words" },
        ],
        "judge": [
            { "json": { "satisfied": false, "context": "it is too short" } },
            { "json": { "satisfied": true } },
        ],
    } });
    bench.write("s.json", &script.to_string());
    bench
}

const CAST: [&str; 6] = ["cast", "--script", "s.json", "--cast-id", "c1", "go"];

#[test]
fn show_tells_materia_verdicts_reasons_time_tokens_cost_and_the_last_answer() {
    let bench = reviewed();
    let ran = bench.run(&CAST).exits(0);
    assert!(ran.err.contains("write Write: started"), "piped output names materia: {}", ran.err);
    assert!(ran.err.contains("satisfied: false (it is too short)"), "{}", ran.err);
    assert!(ran.err.contains("4 turns, 15 tokens, cost 0.25"), "{}", ran.err);
    let shown = bench.run(&["show", "c1"]).exits(0).out;
    for part in [
        "MATERIA",
        "Judge",
        "not satisfied",
        "it is too short",
        "TIME",
        "TOKENS",
        "COST",
        "0.25",
        "ANSWER of judge",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let report = bench.run(&["show", "c1", "--json"]).exits(0).json();
    let visit = &report["visits"][0];
    assert_eq!((&visit["materia"], &visit["tokens"]), (&json!("Write"), &json!(15)));
    assert!(visit["durationMs"].is_u64() && report["elapsedMs"].is_u64(), "{report}");
    assert_eq!(report["visits"][1]["satisfied"], false);
    assert_eq!(report["visits"][1]["reason"], "it is too short");
    assert_eq!((&report["request"], &report["answer"]["socket"]), (&json!("go"), &json!("judge")));
}

#[test]
fn output_and_logs_print_what_was_said() {
    let bench = reviewed();
    bench.run(&CAST).exits(0);
    assert_eq!(bench.run(&["output", "c1", "write"]).exits(0).out, "the final words");
    assert_eq!(bench.run(&["output", "c1", "write@1"]).exits(0).out, "first draft\nsecond line");
    assert_eq!(
        bench.run(&["output", "c1", "Judge", "--json"]).exits(0).json(),
        json!({"satisfied": true})
    );
    assert_eq!(bench.run(&["output", "c1", "--json"]).exits(0).json(), json!({"satisfied": true}));
    assert_eq!(
        bench.run(&["output", "c1", "Write@1", "--json"]).exits(0).json(),
        "first draft\nsecond line"
    );
    for bad in ["nobody", "write@9", "write@0", "write@x"] {
        bench.run(&["output", "c1", bad]).exits(2);
    }
    let logs = bench.run(&["logs", "c1", "write@1"]).exits(0);
    assert!(logs.out.contains("first draft") && logs.err.contains("stdout of write visit 1"));
    let program = Bench::with(&json!({
        "loadouts": { "L": { "entry": "a", "sockets": { "a": { "materia": "A" } } } },
        "materia": { "A": { "type": "utility", "command": ["python3", "-c", "import sys; print('out'); print('err', file=sys.stderr)"] } },
    }));
    program.run(&["cast", "--trust", "--cast-id", "c1"]).exits(0);
    let streams = program.run(&["logs", "c1", "a", "--json"]).exits(0).json();
    assert_eq!((&streams["stdout"], &streams["stderr"]), (&json!("out\n"), &json!("err\n")));
}

/// Gives a command something on its standard input.
fn fed(bench: &Bench, args: &[&str], input: &str) -> Ran {
    let mut child = bench.command(args).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    finish(child)
}

#[test]
fn the_request_comes_from_words_a_file_or_standard_input() {
    let bench = reviewed();
    let request = |id: &str| bench.run(&["show", id, "--json"]).exits(0).json()["request"].clone();
    let cast = |id: &'static str| ["cast", "--script", "s.json", "--cast-id", id];
    fed(&bench, &[&cast("c1")[..], &["-"]].concat(), "from a pipe\nwith two lines\n").exits(0);
    assert_eq!(request("c1"), "from a pipe\nwith two lines");
    bench.write("task.md", "from a file\n");
    bench.run(&[&cast("c2")[..], &["--request-file", "task.md"]].concat()).exits(0);
    assert_eq!(request("c2"), "from a file");
    let said = bench.run(&cast("c3")).exits(2).err;
    assert!(said.contains("--no-request") && said.contains("--request-file"), "{said}");
    bench.run(&[&cast("c3")[..], &["--no-request"]].concat()).exits(0);
    fed(&bench, &[&cast("c4")[..], &["-"]].concat(), " \n").exits(2);
    bench.run(&[&cast("c4")[..], &["--request-file", "nowhere.md"]].concat()).exits(2);
    bench.run(&[&cast("c4")[..], &["--no-request", "words"]].concat()).exits(2);
}

#[test]
fn a_cast_is_bounded_from_the_command_line() {
    let bench = reviewed();
    let cast = |id: &'static str, bound: [&'static str; 2]| {
        bench.run(&[
            "cast",
            "--script",
            "s.json",
            "--cast-id",
            id,
            "--json",
            bound[0],
            bound[1],
            "go",
        ])
    };
    let report = cast("c1", ["--max-turns", "2"]).exits(3).json();
    assert_eq!(
        (&report["waiting"]["reason"], &report["usage"]["turns"]),
        (&json!("budget"), &json!(2))
    );
    assert_eq!(cast("c2", ["--max-cost", "0.2"]).exits(3).json()["waiting"]["reason"], "budget");
    assert_eq!(cast("c3", ["--max-tokens", "12"]).exits(3).json()["waiting"]["reason"], "budget");
    for bound in [["--max-cost", "-1"], ["--max-turns", "0"], ["--max-cost", "much"]] {
        let said = cast("c4", bound).exits(2);
        assert!(!said.err.contains("unexpected argument"), "{}", said.err);
    }
    assert!(bench.run(&["budget", "c1", "--max-cost", "-1"]).exits(2).err.contains("negative"));
}

#[test]
fn every_template_is_sound_and_never_written_over_a_file() {
    let bench = Bench::new();
    let list = bench.run(&["init", "--list", "--json"]).exits(0).lines();
    let names: Vec<&str> = list.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "hello",
            "test-and-fix",
            "plan-build-review",
            "fan-out-review",
            "watch",
            "release-with-approval"
        ]
    );
    let help = bench.run(&["init", "--help"]).exits(0).out;
    for one in &list {
        let (name, about) = (one["name"].as_str().unwrap(), one["about"].as_str().unwrap());
        assert!(help.contains(name) && help.contains(about), "{name} is in the help: {help}");
        let bench = Bench::new();
        bench.run(&["init", name]).exits(0);
        let text = bench.read("materia.json");
        assert!(
            text.contains("\"$schema\": \".materia/config.schema.json\"") && text.contains("//")
        );
        let found = bench.run(&["check", "--json"]).exits(0).json();
        let of_the_machine = |it: &Value| it["code"] == "utility::program-missing";
        assert!(
            found["findings"].as_array().unwrap().iter().all(of_the_machine),
            "{name}: {found}"
        );
        bench.run(&["grid"]).exits(0);
        bench.run(&["schemas", ".materia"]).exits(0);
        assert!(bench.has(".materia/config.schema.json"), "the schema that it names");
        bench.run(&["init", "hello"]).exits(2);
        assert_eq!(bench.read("materia.json"), text, "what is there stays");
    }
    bench.run(&["init", "nothing-of-that-name"]).exits(2);
    bench.run(&["init"]).exits(0);
    bench.run(&["cast", "--trust", "--cast-id", "c1"]).exits(0);
    assert_eq!(bench.run(&["output", "c1"]).exits(0).out, "Hello, world.\n");
}

#[test]
fn templates_run_with_stand_ins() {
    let with = |template: &str, commands: &[(&str, &str)]| {
        let bench = Bench::new();
        bench.run(&["init", template]).exits(0);
        let mut text = bench.read("materia.json");
        for (old, new) in commands {
            assert!(text.contains(old), "{template}: {old}");
            text = text.replace(old, new);
        }
        bench.write("materia.json", &text);
        bench
    };
    let mock = ["cast", "--trust", "--provider", "mock", "--cast-id", "c1", "--json", "go"];
    let sockets = |report: &Value| -> Vec<String> {
        let visits = report["visits"].as_array().unwrap().iter();
        visits.map(|visit| visit["socket"].as_str().unwrap().to_owned()).collect()
    };
    // The tests fail until the file is there, which the third look makes.
    let flaky = r#"["sh", "-c", "test -e b || { mv a b 2>/dev/null || touch a; exit 1; }"]"#;
    let fix = with("test-and-fix", &[(r#"["npm", "test"]"#, flaky)]);
    let report = fix.run(&mock).exits(0).json();
    assert_eq!(sockets(&report), ["test", "fix", "test", "fix", "test"]);
    // Five more rounds after `revive`: one bound counts, and that one is raised.
    let never = with("test-and-fix", &[(r#"["npm", "test"]"#, r#"["false"]"#)]);
    let report = never.run(&mock).exits(1).json();
    assert_eq!((sockets(&report).len(), &report["error"]["code"]), (11, &json!("edge_exhausted")));
    let report = never.run(&["revive", "c1", "--json"]).exits(1).json();
    assert_eq!((sockets(&report).len(), &report["error"]["code"]), (21, &json!("edge_exhausted")));
    let plan = with("plan-build-review", &[]);
    let report = plan.run(&mock).exits(0).json();
    assert_eq!(sockets(&report), ["plan", "build", "review", "sum-up"]);
    let review = with("fan-out-review", &[]);
    let report = review.run(&mock).exits(0).json();
    // Whoever comes while the join runs is taken together by its next turn.
    assert!(sockets(&report).contains(&"join".to_owned()), "{report}");
    assert_eq!(sockets(&report).last().unwrap(), "sum-up");
    let release = with(
        "release-with-approval",
        &[(r#"["npm", "test"]"#, r#"["true"]"#), (r#"["npm", "publish"]"#, r#"["true"]"#)],
    );
    let report = release.run(&mock).exits(3).json();
    assert_eq!(report["waiting"]["reason"], "approval");
    assert_eq!(report["questions"][0]["socket"], "release");
    let back = ["deny", "c1", "--route", "--reason", "the notes are too long", "--json"];
    let report = release.run(&back).exits(3).json();
    assert_eq!(sockets(&report), ["test", "notes", "release", "notes"]);
    let visit = &report["visits"][2];
    assert_eq!(
        (&visit["refused"], &visit["reason"]),
        (&json!(true), &json!("the notes are too long"))
    );
    let shown = release.run(&["show", "c1"]).exits(0).out;
    assert!(shown.contains("  refused  "), "{shown}");
    release.run(&["approve", "c1", "--json"]).exits(0);
}

#[test]
fn init_offers_a_workspace_for_every_cast() {
    let bench = Bench::new();
    bench.run(&["init", "hello", "--workspace", "own"]).exits(0);
    let text = bench.read("materia.json");
    assert!(text.contains("\"workspace\": \"own\"") && text.contains("//"), "{text}");
    // Without a repository the setting is refused, so it counts.
    let refused = bench.run(&["cast", "--trust", "--json", "go"]).exits(2);
    assert!(refused.json()["error"]["message"].as_str().unwrap().contains("repository"));
    bench.run(&["resume", "last", "--put-back", "--detach"]).exits(2);
}

#[test]
fn a_project_stays_clean() {
    let bench = Bench::new();
    let git = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        let ran = git.args(args).current_dir(bench.project()).output().unwrap();
        String::from_utf8(ran.stdout).unwrap()
    };
    git(&["init", "--quiet"]);
    bench.run(&["init"]).exits(0);
    bench.run(&["cast", "--trust", "--cast-id", "c1"]).exits(0);
    assert_eq!(git(&["status", "--porcelain", "--untracked-files=all"]), "?? materia.json\n");
    bench.write(".materia/.gitignore", "mine\n");
    bench.run(&["cast", "--cast-id", "c2"]).exits(0);
    assert_eq!(bench.read(".materia/.gitignore"), "mine\n", "what is there stays");
}

#[test]
fn a_copy_leaves_active_what_was() {
    let bench = Bench::new();
    let active = || bench.run(&["loadout", "--json"]).exits(0).json()["active"].clone();
    assert_eq!(active(), "Full-Auto");
    let said = bench.run(&["loadout", "--copy", "Release", "--as", "Mine"]).exits(0).err;
    assert_eq!(active(), "Full-Auto", "{said}");
    assert!(said.contains("`Full-Auto` is still the one that is cast"), "{said}");
    bench.run(&["loadout", "Mine"]).exits(0);
    bench.run(&["loadout", "--copy", "Release", "--as", "Other"]).exits(0);
    assert_eq!(active(), "Mine");
}

#[test]
fn a_fork_has_its_own_start() {
    let bench = reviewed();
    bench.run(&CAST).exits(0);
    let started = |id: &str| {
        bench.run(&["show", id, "--json"]).exits(0).json()["startedAt"].as_str().unwrap().to_owned()
    };
    let first = started("c1");
    bench.run(&["fork", "c1", "--at", "8", "--cast-id", "c2"]);
    assert!(started("c2") > first, "{first} {}", started("c2"));
    let casts = bench.run(&["casts", "--json"]).exits(0).lines();
    let listed = casts.iter().find(|line| line["castId"] == "c2").unwrap();
    assert_eq!(listed["startedAt"], started("c2"));
    bench.run(&["replay", "c2"]).exits(0);
}

#[test]
fn check_looks_at_folders_and_can_be_strict() {
    let bench = Bench::with(&json!({
        "loadouts": { "L": { "entry": "a", "sockets": { "a": { "materia": "A", "colour": "red" } } } },
        "materia": { "A": { "prompt": "p" } },
    }));
    bench.run(&["check"]).exits(0);
    bench.run(&["check", "."]).exits(0);
    let strict = bench.run(&["check", "--strict", "--json"]).exits(2);
    assert_eq!(strict.json()["error"]["findings"][0]["severity"], "error");
    bench.write("inner/materia.json", "{ nonsense }");
    let inner = bench.run(&["check", "inner"]).exits(2).err;
    assert_eq!(inner.matches("this is not JSON").count(), 1, "once, and not twice: {inner}");
    bench.run(&["check", "nowhere"]).exits(2);
}

#[test]
fn a_provider_that_nobody_knows_is_named_once() {
    let bench = reviewed();
    let said = bench.run(&["cast", "--provider", "codx", "go"]).exits(2).err;
    assert_eq!(said.matches("codx").count(), 1, "{said}");
}

#[test]
fn a_script_is_refused_in_plain_words_and_may_begin_with_a_mark() {
    let bench = reviewed();
    let script = bench.read("s.json");
    bench.write("s.json", &format!("\u{feff}{script}"));
    bench.run(&CAST).exits(0);
    bench.write("s.json", r#"{ "turns": { "write": { "text": "x" } } }"#);
    let said = bench.run(&["cast", "--script", "s.json", "go"]).exits(2).err;
    assert!(said.contains("a list is needed here, not an object"), "{said}");
}

#[test]
fn a_name_that_something_else_has_breaks_nothing() {
    let bench = reviewed();
    for id in ["materia.json", "blobs", "last", "a.b"] {
        bench.run(&["cast", "--script", "s.json", "--cast-id", id, "go"]).exits(2);
    }
    bench.write(".materia/mine/notes.txt", "keep");
    bench.run(&["cast", "--script", "s.json", "--cast-id", "mine", "go"]).exits(2);
    assert_eq!(bench.read(".materia/mine/notes.txt"), "keep");
    bench.run(&["check"]).exits(0);
}
