//! The system around a cast: temporary folders that a killed process left, limits that are low, paths that are no text.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::people::Who;
use super::turns::{confines, project};
use super::{Stage, link};

#[test]
fn temporary_folders_that_a_killed_process_left_are_swept_by_their_mark() {
    let stage = project(
        "echo more >> src/main.rs",
        &json!({ "socket": { "outputSelector": "artifacts:diff" } }),
    );
    let git = std::process::Command::new("git")
        .args(["init", "--quiet"])
        .current_dir(stage.project())
        .status();
    assert!(git.unwrap().success());
    let place = stage.path("home/tmp");
    fs::create_dir(&place).unwrap();
    // One that is held, one that was left, and one that only has such a name.
    let held = materia_safe_fs::Temporary::within(&place, "changes-x").unwrap();
    let left = place.join("materia-changes-left");
    fs::create_dir(&left).unwrap();
    fs::set_permissions(&left, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    fs::copy(held.path().join(".materia-temporary"), left.join(".materia-temporary")).unwrap();
    let old = std::time::SystemTime::now() - Duration::from_mins(10);
    for mark in [left.join(".materia-temporary"), held.path().join(".materia-temporary")] {
        fs::File::options().append(true).open(mark).unwrap().set_modified(old).unwrap();
    }
    link(&left.join("link"), stage.path("outside"));
    fs::create_dir(place.join("materia-changes-4242")).unwrap();
    let place = place.to_str().unwrap().to_owned();
    let ran = stage
        .run_with(&["cast", "--trust", "--cast-id", "c1", "go"], &[("TMPDIR", place.as_str())]);
    assert_eq!(ran.exit, 0, "{ran:?}");
    assert!(!left.exists() && held.path().exists());
    assert!(Path::new(&place).join("materia-changes-4242").exists());
    assert_eq!(fs::read_to_string(stage.path("outside/kept")).unwrap(), "kept\n");
    assert_eq!(fs::read_dir(&place).unwrap().count(), 2, "nothing of its own is left");
}

#[test]
fn a_temporary_folder_that_is_deep_and_locked_goes_all_the_same() {
    if !confines() {
        return;
    }
    let script = "cd $TMPDIR; mkdir x; chmod 000 x; exec python3 -c \"
import os
for _ in range(3000):
    os.mkdir('d')
    os.chdir('d')
open('f', 'w').close()
os.chmod('.', 0)
\"";
    let stage = project(script, &json!({}));
    let seen = stage.watch(&["cast", "--trust", "--planning", "--cast-id", "c1", "go"]).exits(0);
    assert!(!stage.path("project/.materia/c1/tmp").exists(), "{seen:?}");
}

#[test]
fn limits_of_the_system_are_told_and_nothing_panics() {
    let shell = |stage: &Stage, limit: &str| {
        let line = format!("ulimit {limit}; exec \"$0\" \"$@\"");
        stage.run_by(&["sh", "-c", &line], &["cast", "--trust", "go"])
    };
    for files in [10, 16, 24, 40, 63] {
        let stage = project("echo hi", &json!({}));
        let ran = shell(&stage, &format!("-n {files}"));
        assert_eq!(ran.exit, 2, "{files}: {ran:?}");
        assert!(ran.err.contains("`ulimit -n 1024`") && !ran.err.contains("panicked"), "{ran:?}");
        assert!(!stage.path("project/.materia").exists(), "nothing was begun");
        // Where only the soft limit is low, it is raised.
        let ran = shell(&stage, &format!("-S -n {files}"));
        assert_eq!(ran.exit, 0, "{files}: {ran:?}");
    }
    for blocks in [0, 1, 8, 32, 64] {
        let stage = project("echo hi", &json!({}));
        let ran = shell(&stage, &format!("-f {blocks}"));
        assert!((0..=2).contains(&ran.exit), "{blocks}: a signal ended it: {ran:?}");
        assert!(!ran.err.contains("panicked"), "{blocks}: {ran:?}");
        if ran.exit != 0 {
            assert!(
                ran.err.contains("ulimit -f") || ran.err.contains("too large"),
                "{blocks}: {ran:?}"
            );
        }
    }
}

#[test]
fn a_project_whose_path_is_no_text_is_refused_in_words_by_every_command() {
    let stage = project("echo hi", &json!({}));
    let odd = stage.path("outside").join(std::ffi::OsStr::from_bytes(b"p\xff\xfe"));
    fs::rename(stage.project(), &odd).unwrap();
    fs::create_dir(stage.project()).unwrap();
    for args in [
        &["cast", "--trust", "go"][..],
        &["check"],
        &["casts"],
        &["show", "c1"],
        &["events", "c1"],
        &["replay", "c1"],
        &["resume", "c1"],
        &["why", "c1", "a"],
        &["fork", "c1", "--at", "1"],
        &["abort", "c1"],
        &["grid"],
        &["loadout"],
        &["materia", "show", "M"],
        &["budget", "c1"],
        &["doctor"],
    ] {
        let ran = stage.run_in(&odd, args);
        assert!(ran.exit == 2 || ran.exit == 1, "{args:?}: {ran:?}");
        assert!(!ran.err.contains("panicked"), "{args:?}: {ran:?}");
        assert!(ran.err.contains("is not UTF-8") || args[0] == "materia", "{args:?}: {ran:?}");
    }
    assert!(!odd.join(".materia").exists());
}

#[test]
fn pipes_in_the_place_of_files_keep_nobody_waiting() {
    let pipe = |path: &Path| {
        let _ = fs::remove_file(path);
        let mode = rustix::fs::Mode::from_bits_retain(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    };
    let stage = Stage::shipped(Who::Me);
    for name in ["lock", "events.jsonl", "manifest.json"] {
        pipe(&stage.path(&format!("project/.materia/c1/{name}")));
    }
    stage.sql("UPDATE runs SET status = 'running'");
    for args in [&["events", "c1", "--follow"][..], &["show", "c1"], &["replay", "c1"]] {
        stage.watch(args).exits(0).executed_nothing().wrote_nothing();
    }
    // Nor where it is one's own: the views are made anew.
    stage.run(&["pause", "c1", "--trust", "--trust-journal"]).exits(0);
    for name in ["events.jsonl", "manifest.json"] {
        assert!(stage.path(&format!("project/.materia/c1/{name}")).is_file(), "{name}");
    }
}
