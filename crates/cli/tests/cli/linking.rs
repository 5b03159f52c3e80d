//! Links and the casts they continue from.

use serde_json::{Value, json};

use crate::bench::Bench;

/// The largest previous context, as JSON.
const CONTEXT_BYTES_MAX: usize = 64 * 1024;

/// A project with a generator, a worker, a judge and a utility that leaves `noise` in the state.
fn bench(noise: &str) -> Bench {
    let program = format!("import json; print(json.dumps({{'state': {noise}}}))");
    Bench::with(&json!({
        "activeLoadout": "Each",
        "materia": {
            "Plan": { "prompt": "Plan it.", "generator": true },
            "Do": { "prompt": "Do it." },
            "Judge": { "prompt": "Judge it.", "parse": "json" },
            "Note": { "type": "utility", "command": ["python3", "-c", program], "parse": "json" },
        },
        "loadouts": { "Each": {
            "entry": "plan",
            "sockets": {
                "plan": { "materia": "Plan", "edges": [{ "to": "work" }] },
                "work": { "materia": "Do", "edges": [{ "to": "judge" }] },
                "judge": { "materia": "Judge", "advance": {}, "edges": [{ "to": "work" }] },
            },
            "loops": { "items": { "sockets": ["work", "judge"],
                "consumes": { "from": "plan", "output": "workItems" } } },
        } },
    }))
}

fn script(items: usize, text: &str) -> String {
    let item = |number| json!({ "title": format!("item {number}"), "context": text });
    let items: Vec<Value> = (1..=items).map(item).collect();
    json!({ "repeatLast": true, "turns": {
        "Plan": [{ "json": { "workItems": items } }],
        "Do": [{ "text": text, "artifacts": { "diff": "+ a line" } }],
        "Judge": [{ "json": { "satisfied": true, "context": text } }],
    } })
    .to_string()
}

/// Links with the script, under an id.
fn link(bench: &Bench, id: &str, words: &[&str]) -> Value {
    let options = ["link", "--script", "s.json", "--trust", "--json", "--cast-id", id];
    bench.run(&[&options, words].concat()).exits(0).json()
}

fn events(bench: &Bench, id: &str) -> Vec<Value> {
    bench.run(&["events", id, "--json"]).exits(0).lines()
}

#[test]
fn the_same_link_has_the_same_plan_and_another_cast() {
    let bench = bench("{}");
    bench.write("s.json", &script(2, "fine"));
    link(&bench, "c1", &["Each", "Do", "--", "go"]);
    link(&bench, "c2", &["loadout:Each", "'materia:Do'", "--", "something", "else"]);
    let created = ["c1", "c2"].map(|id| events(&bench, id).remove(0)["data"].clone());
    for same in ["plan", "planHash"] {
        assert_eq!(created[0][same], created[1][same], "{same}");
    }
    let link = &created[0]["link"];
    assert_eq!(link["loadoutId"], created[1]["link"]["loadoutId"]);
    assert_eq!(link["loadoutName"], created[0]["plan"]["loadout"]);
    assert_eq!(link["targets"][0]["sockets"], json!(["Socket-1", "Socket-2", "Socket-3"]));
    assert_eq!(
        created[1]["link"]["invocation"],
        "materia link loadout:Each materia:Do -- something else"
    );
    assert_eq!(created[0]["fromCastId"], Value::Null);
    let shown = bench.run(&["show", "c1"]).exits(0).out;
    assert!(shown.contains("\nlinked    loadout:Each → materia:Do (link-"), "{shown}");
    let drawn = bench.run(&["grid", "c1", "--list"]).exits(0).out;
    assert!(drawn.starts_with("Each → Do\n▶ Socket-1  Plan"), "{drawn}");
    assert!(drawn.contains("exit → Socket-4  always after Socket-3"), "{drawn}");
}

#[test]
fn what_a_cast_left_is_in_the_state_and_in_no_prompt() {
    let bench = bench("{'note': 'zebra in the state'}");
    bench.write("s.json", &script(2, "zebra in the text"));
    link(&bench, "c1", &["Note", "Each", "Do", "--", "find", "the", "zebra"]);
    bench.write("s.json", &script(1, "seen"));
    let report = link(&bench, "c2", &["--from", "c1", "Each", "--", "go", "on"]);
    let context = &report["state"]["previousCastContext"];
    assert_eq!(context["request"], "find the zebra");
    assert_eq!(context["summary"], "zebra in the text");
    assert_eq!(context["utilityState"]["note"], "zebra in the state");
    let newest: Vec<_> = context["handoffs"].as_array().unwrap().iter().collect();
    assert_eq!(newest[0]["item"], "WI-2 item 2");
    assert_eq!(newest.last().unwrap()["workItems"][1]["title"], "item 2");
    let paths: Vec<_> =
        context["artifacts"].as_array().unwrap().iter().map(|one| &one["path"]).collect();
    assert_eq!(paths[0], "sockets/Socket-5/1-1.diff", "{paths:?}");
    assert_eq!(paths[1], "sockets/Socket-5/1-1.output.txt", "{paths:?}");
    assert_eq!((&context["truncated"], &context["truncations"]), (&json!(false), &json!([])));
    let prompts: Vec<_> = events(&bench, "c2")
        .iter()
        .filter_map(|event| event["data"]["prompt"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(prompts.len(), 3);
    assert!(prompts.iter().all(|prompt| !prompt.contains("zebra")), "{prompts:?}");
}

#[test]
fn lineage_is_a_chain_and_is_shown() {
    let bench = bench("{}");
    bench.write("s.json", &script(1, "fine"));
    link(&bench, "first", &["Do", "--", "one"]);
    link(&bench, "second", &["--from", "last", "Do", "--", "two"]);
    let report = link(&bench, "third", &["--from", "seco", "Do", "--", "three"]);
    assert_eq!(report["fromCastId"], "second");
    let context = &report["state"]["previousCastContext"];
    assert_eq!((&context["castId"], &context["fromCastId"]), (&json!("second"), &json!("first")));
    assert_eq!(context["utilityState"], json!({}), "what came before is not carried along");
    let lines = bench.run(&["casts", "--json"]).exits(0).lines();
    let from: Vec<_> = lines.iter().map(|line| &line["fromCastId"]).collect();
    assert_eq!(from, [&json!("second"), &json!("first"), &json!(null)]);
    let table = bench.run(&["casts"]).exits(0).out;
    let row: Vec<_> = table.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!((row[0], row[4], row[5]), ("third", "second", "three"), "{table}");
    let shown = bench.run(&["show", "third"]).exits(0).out;
    assert!(shown.contains("\nfrom      second\n"), "{shown}");
    bench.run(&["replay", "third"]).exits(0);
}

#[test]
fn previous_context_stays_within_its_bound() {
    // Texts that grow when they are written as JSON, long lists, many and large variables.
    let noise =
        "dict([('big', ['x' * 99] * 999)] + [('v%d' % n, '\\x01\"' * 400) for n in range(40)])";
    let bench = bench(noise);
    bench.write("s.json", &script(40, &"\u{1}\"é\n".repeat(900)));
    let request = "\u{1}é".repeat(3_000);
    link(&bench, "c1", &["Note", "Each", "--", &request]);
    let report = link(&bench, "c2", &["--from", "c1", "Do", "--", "go on"]);
    let context = &report["state"]["previousCastContext"];
    let size = context.to_string().len();
    assert!((CONTEXT_BYTES_MAX / 2..=CONTEXT_BYTES_MAX).contains(&size), "{size} bytes");
    assert_eq!(context["truncated"], true);
    let handoffs = context["handoffs"].as_array().unwrap();
    assert_eq!(handoffs[0]["item"], "WI-40 item 40");
    assert!(handoffs[0]["context"].as_str().unwrap().contains("… [truncated: "), "{handoffs:?}");
    assert_eq!(context["utilityState"]["big"]["truncated"], true);
    let notes: Vec<_> =
        context["truncations"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for (place, part) in ["handoffs", "utilityState", "artifacts"].iter().enumerate() {
        let note = notes[place];
        assert!(note.starts_with(part) && note.ends_with("left out"), "{part}: {notes:?}");
    }
    assert!(notes.contains(&"request: 9000 bytes, only the beginning"), "{notes:?}");
}

#[test]
fn a_cast_that_failed_says_so() {
    let bench = bench("{}");
    bench.write("s.json", &json!({ "turns": { "Do": [{ "error": "no power" }] } }).to_string());
    let options = ["link", "--script", "s.json", "--cast-id", "c1", "Do", "--", "go"];
    bench.run(&options).exits(1);
    bench.write("s.json", &script(1, "fine"));
    let report = link(&bench, "c2", &["--from", "c1", "Do", "--", "go"]);
    let context = &report["state"]["previousCastContext"];
    assert_eq!(
        (&context["status"], &context["error"]["code"]),
        (&json!("failed"), &json!("provider_failed"))
    );
    assert!(context["error"]["message"].as_str().unwrap().contains("no power"), "{context}");
}

#[test]
fn options_may_stand_among_the_targets() {
    let bench = bench("{}");
    bench.write("s.json", &script(1, "fine"));
    let args = [
        "link",
        "Do",
        "--cast-id",
        "c1",
        "Do",
        "--script",
        "s.json",
        "--json",
        "--",
        "go",
        "--json",
    ];
    let report = bench.run(&args).exits(0).json();
    assert_eq!(report["visits"].as_array().unwrap().len(), 2);
    assert_eq!(events(&bench, "c1")[0]["data"]["request"], "go --json");
}

#[test]
fn a_refused_link_leaves_nothing_behind() {
    let bench = bench("{}");
    bench.write("s.json", &script(1, "fine"));
    for words in
        [&["Do"][..], &["Nothing", "--", "go"], &["--from", "x", "Do", "--", "go"], &["--", "go"]]
    {
        let ran = bench.run(&[&["link", "--script", "s.json", "--json"], words].concat()).exits(2);
        let refusal = ran.json();
        let finding = &refusal["error"]["findings"][0];
        assert!(finding["code"].as_str().unwrap().starts_with("link::"), "{refusal}");
        let (message, told) = (finding["message"].as_str().unwrap(), &refusal["error"]["message"]);
        assert!(told.as_str().unwrap().contains(message), "{refusal}");
        assert!(!bench.has(".materia"), "{words:?}");
    }
}
