//! Answers of a cast against the loadout of today (V9).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::bench::Bench;
use crate::cases::write_corpus;

/// A generator, a loop over its items with a judge that sends work back, a question to a person, and a program.
fn config() -> Value {
    json!({
        "activeLoadout": "L",
        "loadouts": { "L": {
            "entry": "plan",
            "sockets": {
                "plan": { "materia": "Plan", "edges": [{ "to": "build" }] },
                "build": { "materia": "Build", "edges": [{ "to": "eval" }] },
                "eval": { "materia": "Eval", "parse": "json", "advance": { "cursor": "i", "when": "satisfied" },
                    "edges": [{ "when": "not_satisfied", "to": "build", "maxTraversals": 3 }, { "to": "build" }] },
                "ship": { "materia": "Ship", "approval": "before", "edges": [{ "to": "end" }] },
            },
            "loops": { "work": {
                "sockets": ["build", "eval"], "consumes": { "from": "plan", "output": "workItems" },
                "exit": { "from": "eval", "to": "ship" },
            } },
        } },
        "materia": {
            "Plan": { "prompt": "P.", "generator": true }, "Build": { "prompt": "B." }, "Eval": { "prompt": "E." },
            "Other": { "prompt": "O." },
            "Ship": { "type": "utility", "command": ["./ship.sh"], "parse": "json", "assign": { "shipped": "$.ok" } },
        },
    })
}

/// A project in which a cast has run: two items, the first of which was sent back once, and a person approved the end.
fn after_a_cast() -> Bench {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::with(&config());
    bench.write("ship.sh", "#!/bin/sh\nprintf '{\"ok\": true}'\ntouch ran\n");
    let ship = bench.project().join("ship.sh");
    fs::set_permissions(ship, fs::Permissions::from_mode(0o755)).unwrap();
    let items = json!([{ "title": "a", "context": "x" }, { "title": "b", "context": "y" }]);
    let script = json!({ "turns": {
        "plan": [{ "json": { "workItems": items } }],
        "build": [{ "text": "a1" }, { "text": "a2" }, { "text": "b1" }],
        "eval": [{ "json": { "satisfied": false, "context": "no" } }, { "json": { "satisfied": true } },
            { "json": { "satisfied": true } }],
    } });
    bench.write("script.json", &script.to_string());
    bench.run(&["cast", "--script", "script.json", "--cast-id", "c1", "go"]).exits(3);
    bench.run(&["approve", "c1", "ship"]).exits(0);
    fs::remove_file(bench.project().join("ran")).unwrap();
    bench
}

/// Every file of the project with its content.
fn files(folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.insert(path.display().to_string(), fs::read(&path).unwrap());
        }
    }
}

fn of(bench: &Bench, change: impl FnOnce(&mut Value), exit: i32) -> Value {
    let mut changed = config();
    change(&mut changed);
    bench.write("materia.json", &changed.to_string());
    bench.run(&["whatif", "c1", "--json"]).exits(exit).json()
}

fn socket<'a>(config: &'a mut Value, name: &str) -> &'a mut Value {
    &mut config["loadouts"]["L"]["sockets"][name]
}

#[test]
fn an_unchanged_loadout_takes_the_same_route_and_nothing_is_written() {
    let bench = after_a_cast();
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    files(&bench.project(), &mut before);
    let found = bench.run(&["whatif", "c1", "--json"]).exits(0).json();
    assert_eq!(found["same"], true, "{found}");
    assert_eq!(found["matched"], 8, "{found}");
    assert_eq!(found["recordedEnd"], json!({ "status": "completed" }));
    assert_eq!(found["todayEnd"], found["recordedEnd"]);
    assert_eq!((&found["unanswered"], &found["unreached"]), (&json!([]), &json!([])));
    let told = bench.run(&["whatif", "last"]).exits(0).out;
    assert!(told.contains("The same route: 8 turns, completed."), "{told}");
    files(&bench.project(), &mut after);
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    assert!(before == after, "a file changed");
    assert!(!bench.has("ran"), "its program was started");
    // Words of a prompt change no route.
    let found = of(&bench, |it| it["materia"]["Build"]["prompt"] = json!("Build well."), 0);
    assert_eq!(found["matched"], 8, "{found}");
}

#[test]
fn a_changed_edge_parts_the_routes_at_its_turn() {
    let bench = after_a_cast();
    let found = of(&bench, |it| socket(it, "eval")["edges"][0]["to"] = json!("end"), 1);
    let parting = &found["parting"];
    assert_eq!(parting["kind"], "route", "{found}");
    assert_eq!(parting["turn"], json!({ "socket": "eval", "item": "WI-1", "attempt": 1 }));
    assert_eq!(parting["recorded"]["edges"], json!([{ "edgeId": "eval->build", "to": "build" }]));
    assert_eq!(parting["today"]["edges"], json!([{ "edgeId": "eval->end", "to": "end" }]));
    assert_eq!(found["matched"], 2, "{found}");
    assert_eq!(found["unreached"][0], json!({ "socket": "build", "item": "WI-1", "attempt": 2 }));
    assert_eq!(found["unreached"].as_array().unwrap().len(), 5, "{found}");
    assert_eq!(found["unanswered"], json!([]));
    let told = bench.run(&["whatif", "c1"]).exits(1).out;
    assert!(told.contains("`eval` WI-1, attempt 1 (event "), "{told}");
    assert!(told.contains("recorded  not satisfied → build (eval->build)\n"), "{told}");
    assert!(told.contains("today     not satisfied → end (eval->end)\n"), "{told}");
}

#[test]
fn a_changed_guard_asks_for_what_was_never_answered() {
    let bench = after_a_cast();
    // Work goes on to the next item though it was not satisfied: item 1 has one turn left, item 2 all of its answers.
    let found = of(&bench, |it| socket(it, "eval")["advance"]["when"] = json!("always"), 1);
    let eval = json!({ "socket": "eval", "item": "WI-1", "attempt": 1 });
    assert_eq!(found["parting"]["turn"], eval, "{found}");
    assert_eq!(found["parting"]["today"]["moved"], json!([{ "cursor": "i", "index": 1 }]));
    assert_eq!(found["unreached"].as_array().unwrap().len(), 2, "{found}");
    // The other way round: what was satisfied is sent back, for which there is no third answer.
    let found = of(&bench, |it| socket(it, "eval")["edges"][0]["when"] = json!("satisfied"), 1);
    assert_eq!(found["parting"]["turn"], eval, "{found}");
}

#[test]
fn an_inserted_socket_is_unanswered_and_shifts_no_other_answer() {
    let bench = after_a_cast();
    let insert = |it: &mut Value| {
        *socket(it, "look") = json!({ "materia": "Other", "edges": [{ "to": "eval" }] });
        socket(it, "build")["edges"][0]["to"] = json!("look");
        it["loadouts"]["L"]["loops"]["work"]["sockets"] = json!(["build", "look", "eval"]);
    };
    let found = of(&bench, insert, 1);
    let build = json!({ "socket": "build", "item": "WI-1", "attempt": 1 });
    assert_eq!(found["parting"]["turn"], build, "{found}");
    assert_eq!(
        found["unanswered"],
        json!([{ "socket": "look", "item": "WI-1", "attempt": 1, "materia": "Other", "after": build }])
    );
    assert!(found.get("todayEnd").is_none(), "{found}");
    let told = bench.run(&["whatif", "c1"]).exits(1).out;
    let line = "`look` WI-1, attempt 1 (Other), after `build` WI-1, attempt 1";
    assert!(told.contains(line), "{told}");
    // Before everything: no turn of the cast is reached.
    let first = |it: &mut Value| {
        *socket(it, "look") = json!({ "materia": "Other", "edges": [{ "to": "plan" }] });
        it["loadouts"]["L"]["entry"] = json!("look");
    };
    let found = of(&bench, first, 1);
    assert_eq!(found["parting"]["kind"], "asked", "{found}");
    assert_eq!(found["unanswered"][0]["socket"], "look");
    assert!(found["unanswered"][0].get("after").is_none(), "{found}");
    assert_eq!(found["unreached"].as_array().unwrap().len(), 8);
}

#[test]
fn a_removed_and_a_renamed_socket_part_the_routes_before_them() {
    let bench = after_a_cast();
    let remove = |it: &mut Value| {
        it["loadouts"]["L"]["loops"]["work"]["exit"]["to"] = json!("end");
        it["loadouts"]["L"]["sockets"].as_object_mut().unwrap().remove("ship");
    };
    let found = of(&bench, remove, 1);
    // The last judge leads out of the loop, and no longer to the program. What the person approved is not there.
    assert_eq!(found["unreached"], json!([{ "socket": "ship", "attempt": 1 }]), "{found}");
    assert!(
        found["notGiven"][0].as_str().unwrap().contains("there is no socket `ship`"),
        "{found}"
    );
    assert_eq!(found["matched"], 6, "{found}");
    assert_eq!(found["parting"]["turn"], json!({ "socket": "eval", "item": "WI-2", "attempt": 1 }));
    assert_eq!(found["todayEnd"]["status"], "completed");
    let rename = |it: &mut Value| {
        let sockets = it["loadouts"]["L"]["sockets"].as_object_mut().unwrap();
        let build = sockets.remove("build").unwrap();
        sockets.insert("make".to_owned(), build);
        socket(it, "plan")["edges"][0]["to"] = json!("make");
        for edge in [0, 1] {
            socket(it, "eval")["edges"][edge]["to"] = json!("make");
        }
        it["loadouts"]["L"]["loops"]["work"]["sockets"] = json!(["make", "eval"]);
    };
    let found = of(&bench, rename, 1);
    assert_eq!(found["parting"]["turn"], json!({ "socket": "plan", "attempt": 1 }), "{found}");
    assert_eq!(found["unanswered"][0]["socket"], "make");
    assert_eq!(found["unreached"].as_array().unwrap().len(), 7, "{found}");
}

/// A branch that has all its answers is played to its end beside one that has none.
#[test]
fn another_branch_goes_on() {
    let branches = |to: &str| {
        json!({
            "activeLoadout": "L",
            "loadouts": { "L": { "entry": "a", "sockets": {
                "a": { "materia": "M", "routing": "all", "edges": [{ "to": "b" }, { "to": "c" }] },
                "b": { "materia": "M", "edges": [{ "to": to }] },
                "c": { "materia": "M", "edges": [{ "to": "d" }] },
                "d": { "materia": "M", "edges": [{ "to": "end" }] },
                "new": { "materia": "M", "edges": [{ "to": "end" }], "onFailure": { "to": "new", "maxTraversals": 9 } },
            } } },
            "materia": { "M": { "prompt": "M." } },
        })
    };
    let bench = Bench::with(&branches("end"));
    let answers: Vec<Value> = (1..5).map(|it| json!({ "text": "x", "delayMs": it * 10 })).collect();
    bench.write("script.json", &json!({ "turns": { "M": answers } }).to_string());
    bench
        .run(&["cast", "--script", "script.json", "--virtual-time", "--cast-id", "c1", "go"])
        .exits(0);
    bench.write("materia.json", &branches("new").to_string());
    let found = bench.run(&["whatif", "c1", "--json"]).exits(1).json();
    assert_eq!(found["parting"]["turn"]["socket"], "b", "{found}");
    assert_eq!(found["unanswered"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["unanswered"][0]["after"]["socket"], "b", "{found}");
    assert_eq!(found["unreached"], json!([]), "{found}");
    assert_eq!(found["matched"], 3, "{found}");
}

#[test]
fn bad_input_is_refused() {
    let bench = after_a_cast();
    bench.run(&["whatif", "nobody"]).exits(2);
    bench.run(&["whatif", "c1", "Nothing"]).exits(2);
    let refused = of(&bench, |it| socket(it, "build")["materia"] = json!("Gone"), 2);
    assert_eq!(refused["error"]["code"], "configuration", "{refused}");
}

/// V9: commands on a cast at rest are given again.
#[test]
fn an_aborted_cast_is_aborted_again() {
    let bench = after_a_cast();
    bench.run(&["cast", "--script", "script.json", "--cast-id", "c2", "go"]).exits(3);
    bench.run(&["abort", "c2"]).exits(0);
    let same = bench.run(&["whatif", "c2"]).exits(0).out;
    assert!(same.contains("The same route: 7 turns, aborted."), "{same}");
}

/// V9: a loadout that is not there is refused with those that are.
#[test]
fn a_loadout_that_is_not_there_is_named_with_those_that_are() {
    let bench = Bench::with(&json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "a", "sockets": { "a": { "materia": "A" } } } },
        "materia": { "A": { "prompt": "A." } },
    }));
    bench.write("script.json", &json!({ "turns": { "A": [{ "text": "a" }] } }).to_string());
    bench.run(&["cast", "--script", "script.json", "--cast-id", "c1", "go"]).exits(0);
    let refused = bench.run(&["whatif", "c1", "Nope"]).exits(2).err;
    assert!(refused.contains("there is no loadout `Nope`"), "{refused}");
    assert!(refused.contains("help: loadouts:"), "{refused}");
}

/// Why a cast of the corpus cannot be played again. Everything else is a defect.
const CANNOT: [&str; 4] = [
    "a turn was withheld",
    "`internal`, which no script can say",
    // It was cast with a file that `whatif` was not told.
    "the configuration has an error: there is no loadout",
    "on its own graph its route already differs",
];

/// Casts of the conformance corpus, each played against the loadout that it ran.
#[test]
fn casts_of_the_corpus_take_their_own_route_again() {
    let bench = Bench::new();
    let step = json!({ "args": ["whatif", "{castId}"], "expect": { "exit": 0, "report": { "same": true } } });
    let count = write_corpus(&bench, |place| place % 20 == 7, &[step]);
    assert!(count > 30, "{count}");
    let ran = bench.run(&["conformance", "cases", "--json"]);
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let mut unknown = Vec::new();
    for line in ran.lines().iter().filter(|line| line["ok"] == false) {
        let failures = line["failures"].to_string();
        // Nothing was cast, as the case wants it.
        let none = ["is not a cast id", "there is no cast", "is a symbolic link"];
        if none.iter().any(|none| failures.contains(none)) {
            *reasons.entry("nothing was cast").or_default() += 1;
            continue;
        }
        let known = CANNOT.iter().find(|why| failures.contains(*why));
        match known {
            Some(known) => *reasons.entry(known).or_default() += 1,
            None => unknown.push(line.clone()),
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
    let passed = ran.lines().last().unwrap()["passed"].as_u64().unwrap();
    assert!(passed * 10 > count * 7, "{passed} of {count}: {reasons:#?}");
}
