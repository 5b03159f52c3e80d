//! The sources of prompts (V10).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::bench::Bench;
use crate::cases::collect;

fn config() -> Value {
    json!({
        "activeLoadout": "L",
        "loadouts": { "L": {
            "entry": "plan",
            "sockets": {
                "plan": { "materia": "Plan", "parse": "json", "assign": { "summary": "$.context" },
                    "edges": [{ "to": "build" }] },
                "build": { "materia": "Build", "edges": [{ "to": "eval" }] },
                "eval": { "materia": "Eval", "parse": "json", "advance": { "cursor": "i", "when": "satisfied" },
                    "assign": { "judged": "$.context" },
                    "edges": [{ "when": "not_satisfied", "to": "build", "maxTraversals": 3 }, { "to": "build" }] },
                "ship": { "materia": "Ship", "edges": [{ "to": "end" }] },
            },
            "loops": { "work": {
                "sockets": ["build", "eval"], "consumes": { "from": "plan", "output": "workItems" },
                "exit": { "from": "eval", "to": "ship" },
            } },
        } },
        "materia": {
            "Plan": { "prompt": "Plan the whole work.", "generator": true },
            "Build": { "prompt": { "file": "build.md" }, "requires": ["state.summary"] },
            "Eval": { "prompt": "Judge what was built." },
            "Ship": { "type": "utility", "command": ["true"], "params": { "to": "here" } },
        },
    })
}

fn after_a_cast() -> Bench {
    let bench = Bench::with(&config());
    bench.write("build.md", "Build one item.\nKeep it small.\n");
    let items = json!([{ "title": "first item", "context": "needs a door" }]);
    let script = json!({ "turns": {
        "plan": [{ "json": { "context": "a house with one door", "workItems": items } }],
        "build": [{ "text": "built a wall" }, { "text": "built a wall with a door" }],
        "eval": [{ "json": { "satisfied": false, "context": "the door is missing" } },
            { "json": { "satisfied": true, "context": "fine" } }],
    } });
    bench.write("script.json", &script.to_string());
    bench.run(&["cast", "--script", "script.json", "--cast-id", "c1", "a small house"]).exits(0);
    bench
}

/// The parts of a prompt: who wrote them, the socket or materia, and the words.
fn parts(turn: &Value) -> Vec<(String, String, String)> {
    let prompt = turn["prompt"].as_str().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let spans = turn["spans"].as_array().unwrap().iter();
    spans
        .map(|span| {
            let at = |name: &str| usize::try_from(span[name].as_u64().unwrap()).unwrap();
            let source = &span["source"];
            let who = source.get("materia").unwrap_or(&source["socket"]);
            (text(&source["kind"]), text(who), prompt[at("start")..at("end")].trim().to_owned())
        })
        .collect()
}

#[test]
fn every_part_of_a_prompt_names_its_source() {
    let bench = after_a_cast();
    let found = bench.run(&["blame", "c1", "build@1", "--json"]).exits(0).json();
    let turn = &found["turns"][0];
    let parts = parts(turn);
    let has = |kind: &str, who: &str, words: &str| {
        let part = (kind.to_owned(), who.to_owned(), words.to_owned());
        assert!(parts.contains(&part), "{part:?} is not in {parts:#?}");
    };
    has("materia", "Build", "Build one item.\nKeep it small.");
    has("person", "", "a small house");
    has("turn", "plan", "a house with one door");
    has("turn", "plan", "first item");
    has("turn", "plan", "needs a door");
    has("runtime", "", "# Request");
    let file = turn["spans"][0]["source"]["file"].as_str().unwrap();
    assert!(file.contains("build.md"), "{file}");
    // Sent back: a further turn of the session is a tick, whose parts are traced one by one.
    let found = bench.run(&["blame", "c1", "build", "--json"]).exits(0).json();
    let turn = &found["turns"][0];
    assert_eq!((&turn["visit"], &turn["attempt"]), (&json!(2), &json!(1)));
    let of = |layer: &str, kind: &str| {
        let spans = turn["spans"].as_array().unwrap().iter();
        let mut found =
            spans.filter(|span| span["layer"] == layer && span["source"]["kind"] == kind);
        let span = found.next().unwrap_or_else(|| panic!("{layer} {kind}: {turn:#}"));
        let at = |name: &str| usize::try_from(span[name].as_u64().unwrap()).unwrap();
        (
            turn["prompt"].as_str().unwrap()[at("start")..at("end")].to_owned(),
            span["source"].clone(),
        )
    };
    assert_eq!(of("tick.objective", "materia").0, "Build one item.\\nKeep it small.");
    assert_eq!(of("tick.objective", "person").0, "a small house");
    assert_eq!(of("tick.objective", "turn").0, "first item");
    let (reason, source) = of("tick.openItems", "turn");
    assert!(reason.starts_with("the door is missing"), "{reason}");
    assert_eq!((&source["socket"], &source["visit"]), (&json!("eval"), &json!(1)));
    let told = bench.run(&["blame", "last", "build@1"]).exits(0).out;
    assert!(told.contains("plan visit 1, event "), "{told}");
    assert!(
        told.lines()
            .any(|line| line.starts_with("person, event 1 ") && line.ends_with("│ a small house")),
        "{told}"
    );
}

#[test]
fn a_utility_is_traced_by_its_fields_and_a_variable_to_its_beginning() {
    let bench = after_a_cast();
    let found = bench.run(&["blame", "c1", "ship", "--json"]).exits(0).json();
    let of = |pointer: &str| {
        let mut fields = found["turns"][0]["fields"].as_array().unwrap().iter();
        let field = fields.find(|field| field["pointer"] == pointer);
        field.unwrap_or_else(|| panic!("{pointer}: {found:#}"))["source"].clone()
    };
    assert_eq!(of("/request")["kind"], "person");
    assert_eq!(of("/params")["materia"], "Ship");
    assert_eq!(
        (&of("/state/summary")["socket"], &of("/state/judged")["visit"]),
        (&json!("plan"), &json!(2))
    );
    assert_eq!(of("/inputs/0")["socket"], "eval");
    assert_eq!(of("/cwd")["kind"], "runtime");
    let found = bench.run(&["blame", "c1", "--path", "state.judged", "--json"]).exits(0).json();
    assert_eq!(found["variable"]["value"], "fine");
    assert_eq!(found["variable"]["source"]["socket"], "eval");
    let turns = found["turns"].as_array().unwrap();
    let way: Vec<String> = turns
        .iter()
        .map(|turn| format!("{}@{}", turn["socket"].as_str().unwrap(), turn["visit"]))
        .collect();
    assert_eq!(way, ["eval@2", "build@2", "eval@1", "build@1", "plan@1"], "{found:#}");
    let told = bench.run(&["blame", "c1", "--path", "judged"]).exits(0).out;
    assert!(told.starts_with("judged = \"fine\"\n  set by eval visit 2, event "), "{told}");
}

#[test]
fn what_is_not_there_is_refused() {
    let bench = after_a_cast();
    for args in [
        &["blame", "nobody", "build"][..],
        &["blame", "c1", "nobody"],
        &["blame", "c1", "build@9"],
        &["blame", "c1", "build@0"],
        &["blame", "c1", "build@x"],
        &["blame", "c1", "--path", "state.nothing"],
        &["blame", "c1"],
        &["blame", "c1", "build", "--path", "state.summary"],
    ] {
        bench.run(args).exits(2);
    }
}

/// The texts that an event holds: its strings, and what stands in them as JSON.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            found.push(text.clone());
            if let Ok(inner @ (Value::Object(_) | Value::Array(_))) =
                serde_json::from_str(text.trim())
            {
                found.extend([format!("{inner:#}"), inner.to_string()]);
                texts(&inner, found);
            }
        }
        Value::Array(values) => {
            found.extend([format!("{value:#}"), value.to_string()]);
            for value in values {
                texts(value, found);
            }
        }
        Value::Object(fields) => {
            found.extend([format!("{value:#}"), value.to_string()]);
            for value in fields.values() {
                texts(value, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => found.push(value.to_string()),
    }
}

/// Every agent turn of casts of the corpus: spans cover the prompt, and each source has the words.
#[test]
fn spans_of_the_corpus_cover_every_prompt_and_are_what_their_sources_say() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let long = std::env::var_os("MATERIA_LONG").is_some();
    let mut found = Vec::new();
    collect(&corpus, &mut found);
    found.sort();
    let (mut casts, mut turns, mut named, mut all) = (0, 0, 0, 0);
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for (place, file) in found.iter().enumerate() {
        let case: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        let prompts = ["prompts", "loops", "handoff", "people"]
            .iter()
            .any(|folder| file.starts_with(corpus.join(folder)));
        let takes = long || place % 40 == 0 || (prompts && place % 6 == 0);
        let plain = case["script"].is_object() && case["config"].is_object();
        if !takes || !plain || case["args"][0] != "cast" || case["git"] == true {
            continue;
        }
        let bench = Bench::with(&case["config"]);
        for (path, content) in case["files"].as_object().into_iter().flatten() {
            let text = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
            if !path.starts_with("profile/") && !path.starts_with("config-home/") {
                bench.write(path, &text);
            }
        }
        bench.write("script.json", &case["script"].to_string());
        let args: Vec<&str> =
            case["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let mut line = vec!["cast", "--json", "--virtual-time", "--script", "script.json"];
        line.extend(&args[1..]);
        let ran = bench.run(&line);
        let Ok(report) = serde_json::from_str::<Value>(&ran.out) else { continue };
        let Some(id) = report["castId"].as_str() else { continue };
        casts += 1;
        let events = bench.run(&["events", id, "--json"]).exits(0).lines();
        let of_agents = events
            .iter()
            .filter(|event| event["type"] == "turn.started" && event["data"]["prompt"].is_string());
        for event in of_agents {
            let wanted =
                format!("{}@{}", event["nodeId"].as_str().unwrap(), event["data"]["visit"]);
            let body = bench.run(&["blame", id, &wanted, "--json"]).exits(0).json();
            let turn = &body["turns"][0];
            let prompt = turn["prompt"].as_str().unwrap();
            turns += 1;
            let mut end = 0;
            for span in turn["spans"].as_array().unwrap() {
                let at = |name: &str| usize::try_from(span[name].as_u64().unwrap()).unwrap();
                assert_eq!(at("start"), end, "{}: {turn:#}", file.display());
                assert!(at("end") > end, "{}: {turn:#}", file.display());
                end = at("end");
                // The event may hold an object as text; then its indentation comes from the prompt.
                let words = prompt[at("start")..end].trim();
                let kind = span["source"]["kind"].as_str().unwrap();
                *kinds.entry(kind.to_owned()).or_default() += 1;
                all += words.len();
                if kind == "runtime" {
                    continue;
                }
                named += words.len();
                let seq = span["source"]["event"].as_u64().unwrap();
                let source = &events[usize::try_from(seq).unwrap() - 1];
                let mut held = Vec::new();
                texts(&source["data"], &mut held);
                for artifact in source["data"]["artifacts"].as_array().into_iter().flatten() {
                    held.push(format!(
                        "artifact://{}/{}",
                        artifact["kind"].as_str().unwrap(),
                        artifact["name"].as_str().unwrap()
                    ));
                }
                if let Some(verdict) = source["data"]["satisfied"].as_bool() {
                    held.push(format!("\"satisfied\": {verdict}"));
                }
                let plain =
                    serde_json::from_str::<String>(&format!("\"{words}\"")).unwrap_or_default();
                let says = |text: &String| {
                    text.contains(words) || (!plain.is_empty() && text.contains(&plain))
                };
                assert!(
                    held.iter().any(says),
                    "{}: {words:?} is not in event {seq}: {turn:#}",
                    file.display()
                );
                if let Some(start) = span["source"]["turn"].as_u64() {
                    let started = &events[usize::try_from(start).unwrap() - 1];
                    assert_eq!(started["nodeId"], span["source"]["socket"], "{}", file.display());
                }
            }
            assert_eq!(end, prompt.len(), "{}", file.display());
        }
    }
    let told =
        format!("{casts} casts, {turns} turns, {named} of {all} bytes have a source: {kinds:?}");
    assert!(turns > 30 && named * 4 > all, "{told}");
    assert!(kinds["turn"] > 10 && kinds["person"] > 30 && kinds["materia"] > 30, "{kinds:?}");
}
