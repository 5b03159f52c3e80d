//! Long texts are kept apart from the events that have them, by their hash.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::bench::Bench;

/// A utility that says a lot, and one that counts what it is given.
fn bench() -> Bench {
    let long = "print('word ' * 30000, end='')";
    let count = "import json,sys; given=json.load(sys.stdin); \
                 print(json.dumps({'state': {'told': len(given['inputs'][0]['message'])}}))";
    Bench::with(&json!({
        "materia": {
            "Long": {"type": "utility", "command": ["python3", "-c", long]},
            "Count": {"type": "utility", "command": ["python3", "-c", count], "parse": "json"}
        },
        "loadouts": {"L": {"entry": "long", "sockets": {
            "long": {"materia": "Long", "edges": [{"to": "count"}]},
            "count": {"materia": "Count"}
        }}},
        "activeLoadout": "L"
    }))
}

fn blobs(bench: &Bench) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in fs::read_dir(bench.project().join(".materia/blobs")).unwrap() {
        let files = fs::read_dir(folder.unwrap().path()).unwrap();
        found.extend(files.map(|file| file.unwrap().path()));
    }
    found
}

fn name(blob: &Path) -> String {
    let part = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    part(blob.parent().unwrap()) + &part(blob)
}

#[test]
fn a_long_text_is_whole_wherever_somebody_reads_it() {
    let bench = bench();
    let report = bench.run(&["cast", "--trust", "--json", "--cast-id", "c1", "go"]).exits(0).json();
    assert_eq!(report["state"]["told"], 150_000, "the next turn has all of it");
    let text = "word ".repeat(30_000);
    let events = bench.run(&["events", "c1", "--json"]).exits(0).lines();
    let ended = |event: &&Value| event["type"] == "turn.completed" && event["nodeId"] == "long";
    assert_eq!(events.iter().find(ended).unwrap()["data"]["output"], text);
    assert_eq!(bench.read(".materia/c1/sockets/long/1-1.stdout"), text);
    let lines = bench.read(".materia/c1/events.jsonl");
    assert!(lines.len() < 20_000, "the journal itself has {} bytes of it", lines.len());
    let blobs = blobs(&bench);
    assert_eq!(blobs.len(), 1, "{blobs:?}");
    assert!(lines.contains(&name(&blobs[0])), "an event names it");
    assert_eq!(fs::read_to_string(&blobs[0]).unwrap(), text);
    bench.run(&["replay", "c1"]).exits(0);
    bench.run(&["why", "c1", "count"]).exits(0);
    // The folder of the texts is no cast's.
    let refused =
        bench.run(&["cast", "--trust", "--json", "--cast-id", "blobs", "go"]).exits(2).json();
    let said = refused["error"]["message"].as_str().unwrap();
    assert!(
        said.contains("`blobs` cannot name a cast: Materia uses a folder of that name"),
        "{said}"
    );
    // A fork shares what it names.
    let last = report["lastSeq"].to_string();
    bench.run(&["fork", "c1", "--at", &last, "--cast-id", "c2", "--trust"]).exits(0);
    assert_eq!(self::blobs(&bench), blobs);
    bench.run(&["replay", "c2"]).exits(0);
}

#[test]
fn a_text_that_is_missing_or_was_altered_is_found_by_replay() {
    let bench = bench();
    bench.run(&["cast", "--trust", "--cast-id", "c1", "go"]).exits(0);
    let blob = blobs(&bench).remove(0);
    let text = fs::read(&blob).unwrap();
    let fault = |what: &str| format!("the blob {} {what}", name(&blob));
    fs::write(&blob, "other words").unwrap();
    let said = bench.run(&["replay", "c1", "--json"]).exits(1);
    assert_eq!(said.json()["fault"], fault("was altered"));
    assert!(said.err.contains(&fault("was altered")), "{}", said.err);
    fs::remove_file(&blob).unwrap();
    let said = bench.run(&["replay", "c1", "--json"]).exits(1);
    assert_eq!(said.json()["fault"], fault("is missing"));
    let listed = bench.run(&["events", "c1"]).exits(0).out;
    assert!(listed.contains(&fault("is missing")), "{listed}");
    fs::write(&blob, text).unwrap();
    bench.run(&["replay", "c1"]).exits(0);
}

#[test]
fn output_that_is_no_text_is_kept_by_its_hash_and_found_when_altered() {
    let bytes = "import sys; sys.stdout.buffer.write(bytes(range(256)))";
    let bench = Bench::with(&json!({
        "materia": {"Bytes": {"type": "utility", "command": ["python3", "-c", bytes]}},
        "loadouts": {"L": {"entry": "a", "sockets": {"a": {"materia": "Bytes"}}}},
        "activeLoadout": "L"
    }));
    bench.run(&["cast", "--trust", "--cast-id", "c1", "go"]).exits(0);
    let file = bench.project().join(".materia/c1/sockets/a/1-1.stdout");
    let raw: Vec<u8> = (0..=255).collect();
    assert_eq!(fs::read(&file).unwrap(), raw);
    let blobs = blobs(&bench);
    assert_eq!(blobs.len(), 1);
    assert_eq!(fs::read(&blobs[0]).unwrap(), raw);
    bench.run(&["replay", "c1"]).exits(0);
    // Somebody puts another file in its place: what is kept is not touched by that.
    fs::remove_file(&file).unwrap();
    fs::write(&file, b"\xff changed").unwrap();
    let said = bench.run(&["replay", "c1"]).exits(1).err;
    assert!(said.contains("`sockets/a/1-1.stdout` was altered"), "{said}");
    fs::remove_file(&file).unwrap();
    fs::remove_file(&blobs[0]).unwrap();
    let said = bench.run(&["replay", "c1"]).exits(1).err;
    assert!(said.contains(&format!("the blob {} is missing", name(&blobs[0]))), "{said}");
}
