//! Archives without texts (V11): nothing that people, models and programs wrote is in them, and what is left is checked.

use materia_app::{archive, views::verify};
use materia_contract::body::{Mismatch, ReplayBody};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::cases::write_corpus;

/// Stands in every text of the project, its script and its commands.
const MARK: &str = "quokka";

/// A loop with a verdict, guards that compare texts, a program that fails, an approval, and people.
fn config() -> Value {
    json!({
        "activeLoadout": "Review",
        "loadouts": { "Review": { "entry": "plan", "sockets": {
            "plan": { "materia": "Planner", "edges": [{ "to": "write" }] },
            "write": { "materia": "Writer", "artifacts": ["diff"], "edges": [{ "to": "judge" }] },
            "judge": { "materia": "Judge", "advance": { "when": "satisfied" }, "edges": [
                { "when": "not_satisfied", "to": "write", "maxTraversals": 3 },
                { "when": "satisfied", "to": "write" },
            ] },
            "check": {
                "materia": "Check",
                "assign": { "found": "$.state.verdict" },
                "edges": [
                    { "to": "gate", "where": { "path": "state.verdict", "equals": "quokka-yes" } },
                    { "to": "fail" },
                ],
            },
            "gate": { "materia": "Gate", "approval": "before", "edges": [
                { "when": "not_satisfied", "to": "broken" }, { "when": "satisfied", "to": "end" },
            ] },
            "broken": { "materia": "Broken", "onFailure": { "to": "late" }, "edges": [{ "to": "end" }] },
            "late": { "materia": "Late", "edges": [{ "to": "end" }] },
        }, "loops": { "items": {
            "sockets": ["write", "judge"],
            "consumes": { "from": "plan", "output": "workItems" },
            "exits": [{ "id": "done", "from": "judge", "condition": "always", "targetSocketId": "check" }],
        } } } },
        "materia": {
            "Planner": { "prompt": "quokka: plan it", "generator": true },
            "Writer": { "prompt": "quokka: write it" },
            "Judge": { "prompt": "quokka: judge it", "parse": "json" },
            "Check": { "type": "utility", "command": ["quokka-program", "quokka-argument"], "parse": "json",
                "params": { "quokkaParam": "quokka" }, "env": { "QUOKKA_ENV": "quokka" } },
            "Gate": { "prompt": "quokka: pass it", "parse": "json" },
            "Broken": { "type": "utility", "command": ["quokka-program"] },
            "Late": { "prompt": "quokka: mend it" },
        },
        "budget": { "maxTurns": 40 },
    })
}

fn script() -> Value {
    let work = ["lamp", "keeper"].map(
        |name| json!({ "title": format!("quokka {name}"), "context": "quokka", "quokkaField": 1 }),
    );
    json!({
        "turns": {
            "Planner": [{ "json": { "workItems": work, "quokkaExtra": "quokka" } }],
            "Writer": [
                { "text": "quokka draft", "artifacts": { "diff": "quokka diff", "quokkaKind": "quokka" } },
                { "text": "quokka ".repeat(20_000) },
                { "text": "quokka climbs" },
            ],
            "Judge": [
                { "json": { "satisfied": false, "context": "quokka too short" } },
                { "json": { "satisfied": true, "context": "quokka" } },
                { "json": { "satisfied": true } },
            ],
            "Gate": [{ "json": { "satisfied": true } }],
            "Late": [
                { "error": "quokka out of order", "class": "transient", "retryAfterMs": 3_000 },
                { "text": "quokka mended", "delayMs": 200 },
            ],
        },
        "utilities": {
            "Check": [{
                "stdout": json!({ "state": { "verdict": "quokka-yes", "quokkaName": { "quokkaInner": ["quokka", 7] } } })
                    .to_string(),
                "stderr": "quokka warned", "delayMs": 40,
            }],
            "Broken": [{ "exitCode": 3, "stdout": "quokka out", "stderr": "quokka err", "delayMs": 20 }],
        },
        "timeline": [
            { "atMs": 10, "do": "say", "node": "gate", "text": "quokka said" },
        ],
    })
}

/// A project with one cast, `c1`, whose every text has the mark.
fn after_a_cast() -> Bench {
    let bench = Bench::with(&config());
    bench.write("script.json", &script().to_string());
    let cast = ["cast", "--script", "script.json", "--virtual-time", "--cast-id", "c1", "quokka"];
    bench.run(&cast).exits(3);
    bench.run(&["deny", "c1", "gate", "--reason", "quokka: no", "--route"]).exits(0);
    bench
}

fn redacted() -> (Bench, String) {
    let bench = after_a_cast();
    bench.run(&["export", "c1", "-o", "x.materia", "--redact"]).exits(0);
    let text = bench.read("x.materia");
    (bench, text)
}

#[test]
fn a_redacted_archive_has_no_text_of_the_cast() {
    let (bench, text) = redacted();
    bench.run(&["export", "c1", "-o", "whole.materia"]).exits(0);
    let whole = bench.read("whole.materia");
    for kind in [
        "message.received",
        "approval.denied",
        "turn.failed",
        "state.patched",
        "handoff.sent",
        "output.fields_ignored",
        "loop.entered",
        "timer.set",
        "payload.consumed",
    ] {
        assert!(whole.contains(&format!("\"type\":\"{kind}\"")), "the cast lacks `{kind}`");
    }
    for line in text.lines() {
        assert!(!line.to_lowercase().contains(MARK), "{line}");
        assert!(!line.contains(bench.project().to_str().unwrap()), "{line}");
    }
    assert!(text.contains("‹6 bytes›"), "lengths stay");
    assert!(text.len() < 60_000, "{}", text.len());
    let told = bench.run(&["replay", "x.materia"]).exits(0);
    assert!(told.out.contains("texts and chain unchecked"), "{told:?}");
    let body = bench.run(&["replay", "x.materia", "--json"]).exits(0).json();
    assert_eq!((&body["ok"], &body["redacted"]), (&json!(true), &json!(true)), "{body}");
    // An archive can be redacted later, with the same result.
    bench.run(&["export", "whole.materia", "-o", "later.materia", "--redact"]).exits(0);
    assert_eq!(bench.read("later.materia"), text);
    for command in
        [&["show", "x.materia"][..], &["events", "x.materia"], &["why", "x.materia", "judge"]]
    {
        let shown = bench.run(command).exits(0);
        assert!(!shown.out.contains(MARK), "{shown:?}");
    }
    bench.run(&["export", "x.materia", "-o", "x.html"]).exits(0);
}

#[test]
fn a_redacted_archive_is_compared_with_its_cast() {
    let (bench, text) = redacted();
    let told = bench.run(&["replay", "x.materia", "--against", "c1"]).exits(0).out;
    assert!(
        told.contains("Every event is the redaction of cast `c1`, and none is missing."),
        "{told}"
    );
    bench.run(&["export", "c1", "-o", "whole.materia"]).exits(0);
    let told = bench.run(&["replay", "whole.materia", "--against", "c1"]).exits(0).out;
    assert!(told.contains("Every event is from cast `c1`, and none is missing."), "{told}");
    // The verifier cannot know a number that no rule fixes; the cast does.
    let line = text
        .lines()
        .find(|line| line.contains("quokka") || line.contains("\"preview\":\"‹12 bytes›\""))
        .unwrap();
    let seq = serde_json::from_str::<Value>(line).unwrap()["seq"].clone();
    let other =
        closed_again(&text.replacen(line, &line.replacen("‹12 bytes›", "‹13 bytes›", 1), 1));
    bench.write("other.materia", &other);
    bench.run(&["replay", "other.materia"]).exits(0);
    let found =
        bench.run(&["replay", "other.materia", "--against", "c1", "--json"]).exits(1).json();
    assert_eq!((&found["ok"], &found["seq"]), (&json!(false), &seq), "{found}");
    let longer = bench.run(&["replay", "x.materia", "--against", "nobody"]).exits(2);
    assert!(longer.err.contains("nobody"), "{longer:?}");
}

#[test]
fn redaction_is_refused_where_it_would_do_nothing() {
    let (bench, _) = redacted();
    let refused = bench.run(&["export", "c1", "-o", "c1.html", "--redact"]).exits(2);
    assert!(refused.err.contains("name a file that ends with `.materia`"), "{refused:?}");
    let refused = bench.run(&["replay", "c1", "--against", "c1"]).exits(2);
    assert!(refused.err.contains("compares an archive"), "{refused:?}");
    for extra in [&["--redact"][..], &[]] {
        let line = [&["export", "x.materia", "-o", "y.materia"], extra].concat();
        let refused = bench.run(&line).exits(2);
        assert!(refused.err.contains("is redacted"), "{refused:?}");
    }
    assert!(
        !bench.project().join("c1.html").exists() && !bench.project().join("y.materia").exists()
    );
}

/// Gives an archive the closing line of its lines, as somebody would who wants to hide a change.
fn closed_again(text: &str) -> String {
    let last = text.rfind("{\"end\":").unwrap();
    let (before, end) = text.split_at(last);
    let counts = &end[..end.find(",\"hash\"").unwrap()];
    format!("{before}{counts},\"hash\":\"{}\"}}\n", blake3::hash(before.as_bytes()).to_hex())
}

/// The event at which `replay` of an altered archive fails.
fn found_at(text: &str) -> Option<u64> {
    let archive = archive::read(text.as_bytes(), "x.materia").unwrap();
    match verify::replay_archive(&archive, None).unwrap() {
        ReplayBody::Verified(_) => None,
        ReplayBody::Mismatch(Mismatch { seq, .. }) => seq,
    }
}

/// Changes one event of the archive, and closes the archive again.
fn altered(text: &str, of: &str, has: &str, from: &str, to: &str) -> (u64, String) {
    let kind = format!("\"type\":\"{of}\"");
    let line = text.lines().find(|line| line.contains(&kind) && line.contains(has));
    let line = line.unwrap_or_else(|| panic!("no {of} has {has}"));
    assert!(line.contains(from), "{line}");
    let seq = serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap();
    (seq, closed_again(&text.replacen(line, &line.replacen(from, to, 1), 1)))
}

#[test]
fn changes_of_order_route_budget_and_timer_are_found_without_texts() {
    let (_bench, text) = redacted();
    assert_eq!(closed_again(&text), text, "the test closes an archive as materia does");
    assert_eq!(found_at(&text), None);
    for (of, has, from, to) in [
        // A verdict, a route, a loop, and a guard that compares texts.
        ("turn.completed", "\"satisfied\":false", "\"satisfied\":false", "\"satisfied\":true"),
        ("route.selected", "judge->write", "\"satisfied\":false", "\"satisfied\":true"),
        ("route.selected", "check->gate", "check->gate", "check->fail"),
        ("loop.entered", "", "\"count\":2", "\"count\":3"),
        ("cursor.advanced", "\"index\":1", "\"index\":1", "\"index\":2"),
        // A visit, an attempt, a timer, and an approval.
        ("turn.started", "\"node\":\"judge\"", "\"visit\":1", "\"visit\":2"),
        ("turn.started", "\"attempt\":2", "\"attempt\":2", "\"attempt\":1"),
        ("timer.set", "retry", "\"at\":", "\"at\":1"),
        ("approval.denied", "", "\"route\":true", "\"route\":false"),
    ] {
        let (seq, other) = altered(&text, of, has, from, to);
        let found = found_at(&other);
        assert!(found.is_some_and(|found| found <= seq + 2), "{of} {from}: {found:?}, event {seq}");
    }
    // The budget allowed fewer turns than there were.
    let (_, other) = altered(&text, "run.created", "", "\"maxTurns\":40", "\"maxTurns\":3");
    assert!(found_at(&other).is_some_and(|found| found > 3));
    // Two events change places.
    let lines: Vec<&str> = text.lines().collect();
    let mut numbers = 0;
    for at in 1..lines.len() - 2 {
        let body = |line: &str| line.split_once(",\"ts\"").map(|(_, rest)| rest.to_owned());
        let (Some(one), Some(other)) = (body(lines[at]), body(lines[at + 1])) else { continue };
        let mut swapped: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        swapped[at] = format!("{{\"seq\":{at},\"ts\"{other}");
        swapped[at + 1] = format!("{{\"seq\":{},\"ts\"{one}", at + 1);
        let found = found_at(&closed_again(&format!("{}\n", swapped.join("\n"))));
        assert!(found.is_some(), "events {at} and {} changed places", at + 1);
        numbers += 1;
    }
    assert!(numbers > 40, "{numbers}");
}

/// Casts of the conformance corpus: each redaction verifies, and is the redaction of its cast.
#[test]
fn redactions_of_the_corpus_verify() {
    let bench = Bench::new();
    let count = write_corpus(
        &bench,
        |place| place % 30 == 3,
        &[
            json!({ "args": ["export", "{castId}", "-o", "redacted.materia", "--redact"], "expect": { "exit": 0 } }),
            json!({ "args": ["replay", "redacted.materia", "--against", "{castId}"], "expect": { "exit": 0 } }),
        ],
    );
    assert!(count > 20, "{count}");
    let ran = bench.run(&["conformance", "cases", "--json"]);
    // Where nothing was cast, as the case wants it, there is nothing to export.
    let none = ["is not a cast id", "there is no cast", "is a symbolic link"];
    let failed: Vec<Value> = ran
        .lines()
        .into_iter()
        .filter(|line| line["ok"] == false)
        .filter(|line| !none.iter().any(|none| line["failures"].to_string().contains(none)))
        .collect();
    assert!(failed.is_empty(), "{} of {count}: {failed:#?}", failed.len());
}
