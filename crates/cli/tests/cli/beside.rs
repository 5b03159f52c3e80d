//! Two casts beside each other, one as a file, and an item that is left behind.

use std::fs;

use serde_json::{Value, json};

use crate::bench::{Bench, finish};

fn looping() -> Value {
    json!({
        "activeLoadout": "L",
        "loadouts": { "L": {
            "entry": "plan",
            "sockets": {
                "plan": { "materia": "Plan", "edges": [{ "to": "judge" }] },
                "judge": { "materia": "Judge", "advance": { "cursor": "i", "when": "satisfied" },
                    "edges": [{ "when": "not_satisfied", "to": "judge", "maxTraversals": 1 }, { "to": "judge" }] },
            },
            "loops": { "work": { "sockets": ["judge"], "consumes": { "from": "plan", "output": "workItems" } } },
        } },
        "materia": {
            "Plan": { "prompt": "P.", "generator": true, "parse": "json" },
            "Judge": { "prompt": "J.", "parse": "json" },
        },
    })
}

fn script() -> Value {
    let item =
        |title: &str| json!({ "title": title, "context": "</script><script>alert(1)</script>" });
    let no = json!({ "json": { "satisfied": false, "context": "no" } });
    json!({ "turns": {
        "plan": [{ "json": { "workItems": [item("One"), item("Two")] } }],
        "judge": [no, no, { "json": { "satisfied": true } }],
    } })
}

#[test]
fn an_item_is_skipped_and_both_casts_are_compared_and_one_becomes_a_file() {
    let bench = Bench::with(&looping());
    bench.write("script.json", &script().to_string());
    let cast = ["cast", "--trust", "--script", "script.json", "--cast-id"];
    let failed = bench.run(&[&cast[..], &["one", "go"]].concat()).exits(1);
    assert!(failed.err.contains("materia skip one"), "the way on is named: {}", failed.err);
    bench.run(&["skip", "one", "--script", "script.json", "--reason", "enough"]).exits(0);
    let shown = bench.run(&["show", "one"]).exits(0);
    assert!(shown.out.contains("completed") || shown.err.contains("completed"), "{shown:?}");
    let told = bench.run(&["events", "one"]).exits(0);
    assert!(told.out.contains("WI-1 One is skipped by a person: enough"), "{}", told.out);
    bench
        .run(&["fork", "one", "--at", "8", "--cast-id", "two", "--script", "script.json"])
        .exits(1);
    let compared = bench.run(&["compare", "one", "two"]).exits(0);
    assert!(compared.out.contains("They share events 1 to 8"), "{}", compared.out);
    assert!(compared.out.contains("only in A"), "{}", compared.out);
    let data = bench.run(&["compare", "one", "two", "--json"]).exits(0).json();
    assert_eq!((&data["forkedAt"], &data["b"]["forkedFrom"]), (&json!(8), &json!("one")));

    let file = bench.project().join("cast.html");
    let exported = bench.run(&["export", "one", "-o", "cast.html"]);
    if exported.exit == 2 && exported.err.contains("this build cannot export a cast") {
        // A program without the page says what is missing.
        return;
    }
    let page = fs::read_to_string(&file).unwrap();
    assert_eq!(page.matches("id=\"materia-export\"").count(), 1);
    let (_, rest) = page.split_once("id=\"materia-export\">").unwrap();
    let (text, _) = rest.split_once("</script>").unwrap();
    let inside: Value = serde_json::from_str(text).unwrap();
    let last = inside["cast"]["lastSeq"].as_u64().unwrap();
    assert_eq!(inside["events"].as_array().unwrap().len() as u64, last);
    assert_eq!(inside["stateHash"], bench.run(&["show", "one", "--json"]).json()["lastHash"]);
    assert!(!text.contains('<'), "nothing in it can end the element");
    assert!(!page.contains(&*bench.project().to_string_lossy()), "no path of this machine");
    bench.run(&["export", "one", "-o", "cast.html"]).exits(2);
    bench.run(&["export", "one", "-o", "cast.html", "--force"]).exits(0);
}

#[test]
fn the_difference_of_two_documents_is_told_line_by_line() {
    let bench = Bench::with(&looping());
    let mut other = looping();
    other["materia"]["Judge"]["prompt"] = json!("Judge!");
    other["loadouts"]["L"]["sockets"]["judge"]["edges"][0]["maxTraversals"] = json!(4);
    bench.write("new.json", &other.to_string());
    let told = bench.run(&["check", "--diff", "materia.json", "new.json"]).exits(0);
    assert_eq!(told.out, "~ loadout L › socket judge › edge 1\n~ materia Judge\n");
    let same = bench.run(&["check", "--diff", "new.json", "new.json"]).exits(0);
    assert_eq!(same.out, "Both say the same.\n");
}

/// A cast that begins while another is driven in the same folder says so, unless neither may write there (D66).
#[test]
fn a_cast_beside_another_in_the_same_folder_says_so() {
    let wait = "touch began; while ! [ -e go ]; do sleep 0.01; done";
    let bench = Bench::with(&json!({
        "activeLoadout": "Waits",
        "loadouts": {
            "Waits": { "entry": "a", "sockets": { "a": { "materia": "Wait" } } },
            "Quick": { "entry": "a", "sockets": { "a": { "materia": "Quick" } } },
        },
        "materia": {
            "Wait": { "type": "utility", "command": ["sh", "-c", wait], "timeoutMs": 600_000 },
            "Quick": { "type": "utility", "command": ["true"] },
        },
    }));
    let said = "cast `first` is under way in this folder, too";
    let quick = ["cast", "--trust", "--loadout", "Quick", "--no-request"];
    let alone = bench.run(&quick).exits(0);
    assert!(!alone.err.contains("under way in this folder"), "{alone:?}");
    let first = bench.start(&["cast", "--trust", "--no-request", "--cast-id", "first"]);
    bench.wait_for("began");
    let beside = bench.run(&quick).exits(0);
    assert!(beside.err.contains(said), "{beside:?}");
    bench.write("go", "");
    finish(first).exits(0);
    let after = bench.run(&quick).exits(0);
    assert!(!after.err.contains("under way in this folder"), "{after:?}");
}

#[test]
fn a_configuration_in_a_folder_above_is_named() {
    let bench = Bench::with(&json!({ "loadouts": {} }));
    bench.write("src/a.txt", "a");
    let said = bench.run(&["-C", "src", "check"]).exits(0).err;
    assert!(said.contains("materia.json` does not count in this folder"), "{said}");
    assert!(said.contains("materia -C "), "{said}");
    assert!(!bench.run(&["check"]).err.contains("does not count"));
}
