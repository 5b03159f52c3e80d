//! Casts become cases, and cases of an author run (V8).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::bench::Bench;

/// Two ways out of a judge, of which a cast takes both.
fn review() -> Value {
    json!({
        "activeLoadout": "Review",
        "loadouts": { "Review": { "entry": "write", "sockets": {
            "write": { "materia": "Writer", "edges": [{ "to": "judge" }] },
            "judge": { "materia": "Judge", "parse": "json", "edges": [
                { "when": "satisfied", "to": "check" },
                { "when": "not_satisfied", "to": "write", "maxTraversals": 3 },
            ] },
            "check": { "materia": "Check", "edges": [{ "to": "end" }],
                "onFailure": { "to": "write", "maxTraversals": 1 } },
        } } },
        "materia": {
            "Writer": { "prompt": "Write." }, "Judge": { "prompt": "Judge." },
            "Check": { "type": "utility", "command": ["./check.sh"], "parse": "json", "assign": { "checked": "$.ok" } },
        },
    })
}

/// A project in which the loadout has run once.
fn after_a_cast() -> Bench {
    let bench = Bench::with(&review());
    bench.write("check.sh", "#!/bin/sh\nprintf '{\"ok\": true}'\ntouch ran\n");
    let script = json!({ "turns": {
        "Writer": [{ "text": "one" }, { "text": "two" }],
        "Judge": [{ "json": { "satisfied": false, "context": "short" } }, { "json": { "satisfied": true } }],
    } });
    bench.write("script.json", &script.to_string());
    make_executable(&bench.project().join("check.sh"));
    bench.run(&["cast", "--script", "script.json", "--cast-id", "c1", "go"]).exits(0);
    fs::remove_file(bench.project().join("ran")).unwrap();
    bench
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_cast_becomes_a_case_that_passes_and_starts_no_program() {
    let bench = after_a_cast();
    let made = bench.run(&["case", "c1", "-o", "materia-tests/c1.json", "--json"]).exits(0).json();
    assert_eq!(made, json!({ "castId": "c1", "file": "materia-tests/c1.json", "ownConfig": true }));
    let case: Value = serde_json::from_str(&bench.read("materia-tests/c1.json")).unwrap();
    assert_eq!(case["config"], review());
    assert_eq!(case["script"]["utilities"]["check"][0]["stdout"], "{\"ok\": true}", "{case}");
    assert_eq!(case["expect"]["visits"], json!(["write", "judge", "write", "judge", "check"]));
    assert_eq!(case["expect"]["state"]["checked"], true);
    let ran = bench.run(&["test"]).exits(0);
    assert!(
        ran.out.contains("Review: no case takes 1 of its 5 edges:\n  onFailure:check\n"),
        "{}",
        ran.out
    );
    assert!(ran.out.ends_with("1 passed, 0 failed\n"), "{}", ran.out);
    assert!(!bench.has("ran"), "its program was started");
    // The configuration has changed: what it makes is no longer what the cast ran.
    let mut config = review();
    config["materia"]["Writer"]["prompt"] = json!("Write well.");
    bench.write("materia.json", &config.to_string());
    let made = bench.run(&["case", "c1"]).exits(0).json();
    assert!(made.get("config").is_none(), "{made}");
}

/// Every edge that the case takes is led elsewhere in turn; the case notices.
#[test]
fn a_changed_edge_makes_a_case_fail() {
    let bench = after_a_cast();
    bench.run(&["case", "c1", "--no-config", "-o", "materia-tests/c1.json"]).exits(0);
    bench.run(&["test"]).exits(0);
    for place in ["write/edges/0", "judge/edges/0", "judge/edges/1", "check/edges/0"] {
        let mut config = review();
        let edge = config.pointer_mut(&format!("/loadouts/Review/sockets/{place}")).unwrap();
        edge["to"] = match edge["to"].as_str() {
            Some("end") => json!("fail"),
            _ => json!("end"),
        };
        bench.write("materia.json", &config.to_string());
        let ran = bench.run(&["test", "--json"]).exits(1);
        assert_eq!(ran.lines().last().unwrap()["failed"], 1, "{place}: {}", ran.out);
    }
}

#[test]
fn cases_are_chosen_updated_and_reported() {
    let bench = after_a_cast();
    bench.run(&["case", "c1", "--no-config", "-o", "materia-tests/c1.json"]).exits(0);
    let own = json!({
        "name": "A <program> of the project runs.", "args": ["cast", "--cast-id", "c2", "go"],
        "script": { "turns": { "Writer": [{ "text": "a" }], "Judge": [{ "json": { "satisfied": true } }] } },
        "expect": { "exit": 0, "visits": ["write"], "files": { "ran": "" } },
    });
    bench.write("materia-tests/deep/own.json", &own.to_string());
    bench.write("materia-tests/broken.json", "{ \"name\": 1 }");
    bench.write("materia-tests/list.json", "[1]");
    let ran = bench.run(&["test", "--junit", "report.xml"]).exits(1);
    assert!(ran.out.contains("this is no case"), "{}", ran.out);
    assert!(ran.out.contains("an object is needed here, not a list"), "{}", ran.out);
    assert!(ran.out.ends_with("1 passed, 3 failed\n"), "{}", ran.out);
    let report = bench.read("report.xml");
    assert!(report.contains("tests=\"4\" failures=\"3\""), "{report}");
    assert!(report.contains("name=\"A &lt;program&gt; of the project runs.\""), "{report}");
    let ran = bench.run(&["test", "--filter", "<program>", "--update"]).exits(0);
    assert!(ran.out.ends_with("0 passed, 0 failed, 1 updated\n"), "{}", ran.out);
    let updated: Value = serde_json::from_str(&bench.read("materia-tests/deep/own.json")).unwrap();
    assert_eq!(updated["expect"]["visits"], json!(["write", "judge", "check"]));
    assert_eq!(updated["expect"]["files"], json!({ "ran": "" }), "the rest is as it was");
    bench.run(&["test", "--filter", "own.json"]).exits(0);
    bench.run(&["test", "--filter", "nothing like this"]).exits(2);
    let refused = bench.run(&["test", "elsewhere"]).exits(2);
    assert!(refused.err.contains("materia case last -o"), "{}", refused.err);
}

#[test]
fn nothing_runs_that_nobody_has_approved() {
    let bench = after_a_cast();
    bench.run(&["case", "c1", "-o", "materia-tests/c1.json"]).exits(0);
    let bench = bench.asking();
    let refused = bench.run(&["test", "--json"]).exits(2).json();
    assert_eq!(refused["error"]["code"], "trust");
    bench.run(&["test", "--trust"]).exits(0);
    bench.run(&["test"]).exits(0);
    // The configuration counts, too: cases may run on it.
    let mut config = review();
    config["materia"]["Check"]["command"] = json!(["./check.sh", "again"]);
    bench.write("materia.json", &config.to_string());
    bench.run(&["test"]).exits(2);
}

/// V8: commands on a cast at rest become further commands of the case.
#[test]
fn a_cast_that_was_carried_on_becomes_a_case_with_further_commands() {
    let bench = Bench::with(&json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "a", "sockets": { "a": { "materia": "A", "edges": [{ "to": "end" }] } } } },
        "materia": { "A": { "prompt": "A." } },
    }));
    let script = json!({ "turns": { "A": [{ "error": "no" }, { "text": "yes" }] } });
    bench.write("script.json", &script.to_string());
    bench.run(&["cast", "--script", "script.json", "--cast-id", "c1", "go"]).exits(1);
    bench.run(&["recast", "c1"]).exits(0);
    bench.run(&["case", "c1", "-o", "materia-tests/x.json"]).exits(0);
    let case: Value = serde_json::from_str(&bench.read("materia-tests/x.json")).unwrap();
    assert_eq!(case["expect"]["status"], "failed", "{case}");
    assert_eq!(case["then"][0]["args"], json!(["recast", "c1"]), "{case}");
    assert_eq!(case["then"][0]["expect"]["status"], "completed", "{case}");
    bench.run(&["test"]).exits(0);
    bench.run(&["case", "nobody"]).exits(2);
}

/// Why a cast of the corpus cannot become a case.
const CANNOT: [&str; 2] = [
    "it waits because of files of its workspace, which a case does not have",
    "`internal`, which no script can say",
];

/// Cases of the conformance corpus, each followed by making a case of its last cast and running that.
#[test]
fn every_cast_of_the_corpus_that_can_becomes_a_case_that_passes() {
    let bench = Bench::new();
    let count = write_corpus(
        &bench,
        |place| place % 40 == 0,
        &[
            json!({ "args": ["case", "{config}", "{castId}", "-o", "materia-tests/x.json"], "expect": { "exit": 0 } }),
            json!({ "args": ["test", "--trust"], "expect": { "exit": 0 } }),
        ],
    );
    assert!(count > 15, "{count}");
    let ran = bench.run(&["conformance", "cases", "--json"]);
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for line in ran.lines().iter().filter(|line| line["ok"] == false) {
        let failures = line["failures"].to_string();
        // Nothing was cast, as the case wants it.
        let none = [
            "is not a cast id",
            "there is no cast",
            "is a symbolic link, and materia follows none",
        ];
        if none.iter().any(|none| failures.contains(none)) {
            *reasons.entry("nothing was cast").or_default() += 1;
            continue;
        }
        let known = CANNOT.iter().find(|why| failures.contains(*why));
        *reasons.entry(known.unwrap_or_else(|| panic!("{line:#}"))).or_default() += 1;
    }
    let passed = ran.lines().last().unwrap()["passed"].as_u64().unwrap();
    assert!(passed * 10 > count * 7, "{passed} of {count}: {reasons:#?}");
}

/// Writes cases of the conformance corpus that cast something, each with further steps; says how many. `{config}` in a
/// step is the configuration that the case names. Without `MATERIA_LONG` only those at a place of the sample.
pub(crate) fn write_corpus(bench: &Bench, is_sample: fn(usize) -> bool, steps: &[Value]) -> u64 {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let long = std::env::var_os("MATERIA_LONG").is_some();
    let mut files = Vec::new();
    collect(&corpus, &mut files);
    files.sort();
    let mut count = 0;
    for (place, file) in files.iter().enumerate() {
        let mut case: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        if !(long || is_sample(place)) || !begins(&case) {
            continue;
        }
        count += 1;
        let config = named_config(&case["args"]);
        let then = case.as_object_mut().unwrap().entry("then").or_insert_with(|| json!([]));
        then.as_array_mut().unwrap().extend(steps.iter().map(|step| {
            let words = step["args"].as_array().unwrap().iter().flat_map(|word| {
                if word == "{config}" { config.clone() } else { vec![word.clone()] }
            });
            let words: Vec<Value> = words.collect();
            json!({ "args": words, "expect": step["expect"] })
        }));
        let name = file.strip_prefix(&corpus).unwrap().display().to_string();
        bench.write(&format!("cases/{name}"), &case.to_string());
    }
    count
}

/// The option of a command that names a configuration, with its value.
fn named_config(args: &Value) -> Vec<Value> {
    let words = args.as_array().into_iter().flatten();
    let named = |word: &&Value| **word != "--config" && **word != "--materia-config";
    words.skip_while(named).take(2).cloned().collect()
}

fn begins(case: &Value) -> bool {
    let further = case["then"].as_array().into_iter().flatten().map(|step| &step["args"]);
    let word = |word: &Value| word == "cast" || word == "link";
    std::iter::once(&case["args"])
        .chain(further)
        .any(|args| args.as_array().is_some_and(|words| words.iter().take(3).any(word)))
}

pub(crate) fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "json") {
            files.push(path);
        }
    }
}
