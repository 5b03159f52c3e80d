//! Disks that do not do what they should.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::bench::{Bench, Ran, agents};

fn scripted() -> Bench {
    let (config, script) = agents(&["a"]);
    let bench = Bench::with(&config);
    bench.write("s.json", &script.to_string());
    bench
}

const CAST: [&str; 7] = ["cast", "--script", "s.json", "--cast-id", "c1", "--json", "go"];

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

/// Runs it as somebody whom the modes of files bind; the superuser gives up what would free it.
fn run_bound(bench: &Bench, args: &[&str]) -> Ran {
    let command = bench.command(args);
    if !rustix::process::geteuid().is_root() {
        return bench.run(args);
    }
    let mut bound = Command::new("setpriv");
    bound.args(["--bounding-set", "-dac_override"]).arg(command.get_program());
    bound.args(command.get_args()).current_dir(bench.project()).stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => bound.env(name, value),
            None => bound.env_remove(name),
        };
    }
    bound.output().unwrap().into()
}

#[test]
fn a_read_only_project_is_refused_and_can_be_looked_at() {
    let bench = scripted();
    let lock = |mode| fs::set_permissions(bench.project(), Permissions::from_mode(mode)).unwrap();
    lock(0o555);
    let ran = run_bound(&bench, &CAST);
    lock(0o755);
    let error = ran.exits(2).json()["error"].clone();
    assert_eq!(error["code"], "storage", "{error}");
    assert!(!bench.has(".materia"), "nothing is left behind");
    run_bound(&bench, &CAST).exits(0);
    let folder = bench.project().join(".materia");
    // A process that leaves before its last connection is closed leaves the log behind; whoever comes next and can
    // write moves it into the journal, which is no change of what it says.
    for _ in 0..20 {
        if folder.join("journal.db-wal").exists() {
            run_bound(&bench, &["casts"]).exits(0);
        }
    }
    let before = fs::read(folder.join("journal.db")).unwrap();
    // With the files of SQLite beside it, the journal itself could be written to.
    for beside in [false, true] {
        for ending in ["-wal", "-shm"] {
            let path = folder.join(format!("journal.db{ending}"));
            if beside && !path.exists() {
                fs::write(&path, "").unwrap();
            }
        }
        lock(0o555);
        fs::set_permissions(&folder, Permissions::from_mode(0o555)).unwrap();
        let shown = run_bound(&bench, &["show", "c1", "--json"]);
        let again =
            run_bound(&bench, &["cast", "--script", "s.json", "--cast-id", "c2", "--json", "go"]);
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        lock(0o755);
        assert_eq!(shown.exits(0).json()["status"], "completed");
        assert_eq!(again.exits(2).json()["error"]["code"], "storage");
        assert_eq!(fs::read(folder.join("journal.db")).unwrap(), before);
    }
}

#[test]
fn a_flipped_byte_is_found_with_its_place() {
    let bench = scripted();
    bench.run(&[&CAST[..6], &["an unmistakable request"]].concat()).exits(0);
    let mut other = CAST;
    other[4] = "c2";
    bench.run(&[&other[..6], &["something else"]].concat()).exits(0);
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
