//! The demo: one command, nothing needed, everything there afterwards.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::bench::{Bench, Ran};

fn demo(bench: &Bench, args: &[&str], set: impl FnOnce(&mut Command)) -> Ran {
    let mut command = bench.command(&[&["demo", "--at-once"], args].concat());
    command.env("TMPDIR", bench.project());
    set(&mut command);
    command.output().unwrap().into()
}

fn log(bench: &Bench, folder: &str) -> Vec<String> {
    let mut git = Command::new("git");
    git.args(["log", "--format=%s", "--reverse"]).current_dir(bench.project().join(folder));
    let output = git.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn three_items_are_built_one_is_sent_back_and_each_is_committed() {
    let bench = Bench::new();
    // Nothing that the user has set up for git may run or matter.
    let marker = bench.project().join("hook-ran");
    let hook = format!("#!/bin/sh\ntouch {}\nexit 1\n", marker.display());
    for hook_file in ["home/hooks/pre-commit", "home/template/hooks/pre-commit"] {
        bench.write(hook_file, &hook);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(bench.project().join(hook_file), mode).unwrap();
    }
    let home = bench.project().join("home");
    let path = home.display();
    let config = format!(
        "[core]\nhooksPath = {path}/hooks\n[init]\ntemplateDir = {path}/template\n[commit]\ngpgSign = true\n"
    );
    bench.write("home/.gitconfig", &config);
    // Nor what the user has configured for casts.
    bench.write("../profile/config.json", "{ broken");
    let ran = demo(&bench, &["here"], |command| {
        command.env("HOME", &home).env("GIT_DIR", "/nowhere").env("MATERIA_CONFIG", "/nowhere");
    });
    let ran = ran.exits(0);
    assert_eq!(ran.out, "");
    for said in [
        "loop `workItems` begins: 3 items",
        "sends WI-2 Greet in French back to Socket-2: sh greet.sh",
        "is done after 3 items, to end",
        "WI-2 Greet in French was sent back",
        "WI-3: Write a README",
        "materia show last -C ",
    ] {
        assert!(ran.err.contains(said), "{said}: {}", ran.err);
    }
    assert_eq!(
        log(&bench, "here"),
        [
            "Where the demo begins",
            "WI-1: Greet by name",
            "WI-2: Greet in French",
            "WI-3: Write a README",
        ]
    );
    assert!(!marker.exists(), "no hook ran");
    let greeting = Command::new("sh")
        .args(["greet.sh", "--french", "Ada"])
        .current_dir(bench.project().join("here"))
        .output();
    assert_eq!(greeting.unwrap().stdout, b"Bonjour, Ada!\n");
}

#[test]
fn what_it_did_can_be_looked_at() {
    let bench = Bench::new();
    let report = demo(&bench, &["here", "--json"], |_| {}).exits(0).json();
    let items: Vec<_> = report["visits"].as_array().unwrap().iter().map(|v| &v["item"]).collect();
    assert_eq!(items[4..9], [&json!("WI-2"); 5], "one item is built twice");
    assert_eq!(report["state"]["checkpoints"].as_array().unwrap().len(), 3);
    let look = |words: &[&str]| bench.run(&[words, &["-C", "here"]].concat()).exits(0).out;
    let shown = look(&["show", "last"]);
    assert!(shown.contains("WI-3 Write a README"), "{shown}");
    assert!(look(&["replay", "last"]).contains("verifies"));
    let grid = look(&["grid"]);
    assert!(grid.contains("↻ workItems  for each work item of Socket-1"), "{grid}");
    assert!(grid.contains("└─ Socket-2, Socket-3, Socket-4"), "{grid}");
    for socket in ["Socket-1", "Socket-2", "Socket-3", "Socket-4"] {
        let why = look(&["why", "last", socket]);
        assert!(why.starts_with(&format!("`{socket}` ran (visit ")), "{why}");
        assert!(why.lines().next().unwrap().contains("event "), "{why}");
        if socket != "Socket-1" {
            let why = look(&["why", "last", socket, "--at", "5"]);
            assert!(why.starts_with(&format!("`{socket}` has not run: ")), "{why}");
        }
    }
}

#[test]
fn without_git_it_says_so_and_goes_on() {
    let bench = Bench::new();
    // Without a folder it makes one among the temporary files.
    let ran = demo(&bench, &["--json"], |command| {
        command.env("PATH", "/nonexistent");
    });
    let ran = ran.exits(0);
    assert!(ran.err.contains("Without checkpoints") && ran.err.contains("git"), "{}", ran.err);
    assert_eq!(ran.json()["status"], "completed");
    let made: Vec<_> =
        fs::read_dir(bench.project()).unwrap().map(|one| one.unwrap().path()).collect();
    assert_eq!(made.len(), 1, "{made:?}");
    assert!(made[0].join("README.md").exists() && !made[0].join(".git").exists());
}

#[test]
fn it_wants_a_folder_of_its_own() {
    let bench = Bench::new();
    bench.write("mine/notes.txt", "mine");
    for taken in ["mine", "mine/notes.txt"] {
        let ran = demo(&bench, &[taken, "--json"], |_| {}).exits(2);
        assert!(ran.json()["error"]["message"].as_str().unwrap().contains(taken), "{ran:?}");
    }
    assert_eq!(fs::read_dir(bench.project().join("mine")).unwrap().count(), 1);
    fs::create_dir(bench.project().join("empty")).unwrap();
    demo(&bench, &["empty"], |_| {}).exits(0);
    demo(&bench, &["other", "--config", "x.json"], |_| {}).exits(2);
    assert!(!bench.has("other"));
}

#[test]
fn its_configuration_is_a_copy_to_begin_with() {
    let bench = Bench::new();
    demo(&bench, &["here"], |_| {}).exits(0);
    // In another project, with the answers and without; a repository or not.
    let other = Bench::new();
    other.write("materia.json", &bench.read("here/materia.json"));
    other.write("script.json", &bench.read("here/script.json"));
    let found = other.run(&["check", "--strict", "--json"]).exits(0).json();
    assert_eq!(found["findings"], json!([]));
    let args = ["cast", "--trust", "--script", "script.json", "--json", "greet"];
    let report = other.run(&args).exits(0).json();
    assert_eq!(
        (&report["status"], report["visits"].as_array().unwrap().len()),
        (&json!("completed"), 12)
    );
    let report =
        other.run(&["cast", "--trust", "--provider", "mock", "--json", "go"]).exits(0).json();
    assert_eq!(report["status"], "completed");
}
