//! Disks that do not do what they should.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::bench::{Bench, agents};

fn scripted() -> Bench {
    let (config, script) = agents(&["a"]);
    let bench = Bench::with(&config);
    bench.write("s.json", &script.to_string());
    bench
}

const CAST: [&str; 6] = ["cast", "--script", "s.json", "--cast-id", "c1", "--json"];

fn refused(bench: &Bench, path: &str) {
    let error = bench.run(&CAST).exits(2).json()["error"].clone();
    assert_eq!(error["code"], "storage", "{error}");
    assert!(error["message"].as_str().unwrap().contains(path), "{error}");
}

#[test]
fn an_artifact_folder_that_is_a_file_is_refused() {
    let bench = scripted();
    bench.write(".materia", "mine");
    refused(&bench, ".materia");
    assert_eq!(bench.read(".materia"), "mine");
}

#[test]
fn a_journal_that_is_no_database_is_refused_and_kept() {
    let bench = scripted();
    let text = "I was here before".repeat(100);
    bench.write(".materia/journal.db", &text);
    refused(&bench, "journal.db");
    assert_eq!(bench.read(".materia/journal.db"), text);
    for args in [&["casts", "--json"][..], &["show", "last", "--json"]] {
        assert_eq!(bench.run(args).exits(2).json()["error"]["code"], "storage");
    }
}

#[test]
fn a_read_only_project_is_refused_and_can_be_looked_at() {
    let bench = scripted();
    let lock = |mode| fs::set_permissions(bench.project(), Permissions::from_mode(mode)).unwrap();
    lock(0o555);
    // The superuser may write everywhere; then there is nothing to see here.
    if fs::write(bench.project().join("probe"), "").is_ok() {
        lock(0o755);
        return;
    }
    let ran = bench.run(&CAST);
    lock(0o755);
    let error = ran.exits(2).json()["error"].clone();
    assert_eq!(error["code"], "storage", "{error}");
    bench.run(&CAST).exits(0);
    lock(0o555);
    let shown = bench.run(&["show", "c1", "--json"]);
    lock(0o755);
    assert_eq!(shown.exits(0).json()["status"], "completed");
}

#[test]
fn a_flipped_byte_is_found_with_its_place() {
    let bench = scripted();
    bench.run(&[&CAST[..], &["an unmistakable request"]].concat()).exits(0);
    let mut other = CAST;
    other[4] = "c2";
    bench.run(&[&other[..], &["something else"]].concat()).exits(0);
    let path = bench.project().join(".materia/journal.db");
    let mut bytes = fs::read(&path).unwrap();
    let needle = b"unmistakable";
    let places: Vec<usize> = (0..bytes.len() - needle.len())
        .filter(|at| &bytes[*at..*at + needle.len()] == needle)
        .collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at] = b'U';
    }
    fs::write(&path, bytes).unwrap();
    let found = bench.run(&["replay", "c1", "--json"]).exits(1).json();
    assert_eq!(found["ok"], false);
    assert_eq!(found["seq"], 1);
    assert!(found["fault"].as_str().unwrap().contains("hash"), "{found}");
    assert_eq!(bench.run(&["replay", "c2", "--json"]).exits(0).json()["ok"], json!(true));
}
