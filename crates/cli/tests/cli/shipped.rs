//! Shipped utilities and loadouts from outside: the profile, the runtime, choices and copies.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::bench::Bench;

/// Runs a utility alone with this on its standard input.
fn utility(bench: &Bench, name: &str, input: &str, path: Option<&Path>) -> Output {
    let mut command = bench.command(&["utility", name]);
    if let Some(path) = path {
        command.env("PATH", path);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A utility that does not read its input is fine, and one that could not start does not.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// A folder with a program `node` that does something else.
fn with_node(bench: &Bench, body: &str) -> std::path::PathBuf {
    let folder = bench.profile().join("../bin");
    fs::create_dir_all(&folder).unwrap();
    let node = folder.join("node");
    fs::write(&node, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&node, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

#[test]
fn twenty_processes_may_start_at_once() {
    let bench = Bench::new();
    let input = json!({ "state": { "workItems": [] } }).to_string();
    let outputs: Vec<Output> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..20)
            .map(|_| scope.spawn(|| utility(&bench, "Commit-Sigil", &input, None)))
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for output in outputs {
        assert!(output.status.success(), "{output:?}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["satisfied"], true);
    }
    let mut names: Vec<_> = fs::read_dir(bench.profile().join("utilities"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, [".lock", ".materia-shipped-utilities.json", "commit-sigil.mjs"]);
}

#[test]
fn the_utility_takes_the_place_of_the_command() {
    let bench = Bench::new();
    let path = with_node(&bench, "cat; echo \"$1\" >&2; exit 7");
    let output = utility(&bench, "Join", "as it is", Some(&path));
    assert_eq!(output.status.code(), Some(7), "its exit status is the command's");
    assert_eq!(output.stdout, b"", "there is no cat on this PATH");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("utilities/join.mjs"), "{said}");
}

#[test]
fn without_node_nothing_begins_and_the_reason_is_said() {
    let bench = Bench::new();
    let empty = bench.profile().join("../empty");
    fs::create_dir_all(&empty).unwrap();
    let output = utility(&bench, "Detect-VCS", "{}", Some(&empty));
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("Node.js"));

    bench.write("script.json", &json!({ "turns": {} }).to_string());
    let mut command = bench.command(&["cast", "--script", "script.json", "go"]);
    let output = command.env("PATH", &empty).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("Node.js") && said.contains("detect-vcs.mjs"), "{said}");
    assert!(!bench.has(".materia"), "no cast was begun");
    // A configuration is sound without it.
    let checked = bench.command(&["check"]).env("PATH", &empty).output().unwrap();
    assert!(checked.status.success(), "{checked:?}");
}

#[test]
fn without_a_profile_a_shipped_utility_is_refused() {
    let bench = Bench::new();
    let mut command = bench.command(&["utility", "Detect-VCS"]);
    for name in ["MATERIA_PROFILE_DIR", "XDG_CONFIG_HOME", "HOME"] {
        command.env_remove(name);
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("MATERIA_PROFILE_DIR"));
}

#[test]
fn what_the_user_changed_runs_as_it_is() {
    let bench = Bench::new();
    let input = json!({ "state": { "workItems": [] } }).to_string();
    assert!(utility(&bench, "commit-sigil", &input, None).status.success());
    let folder = bench.profile().join("utilities");
    let mine = "process.exit(9);\n";
    fs::write(folder.join("commit-sigil.mjs"), mine).unwrap();
    let output = utility(&bench, "commit-sigil", &input, None);
    assert_eq!(output.status.code(), Some(9), "D53");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("your own version"), "{said}");
    assert_eq!(fs::read_to_string(folder.join("commit-sigil.mjs")).unwrap(), mine);
}

#[test]
fn a_choice_is_written_where_the_present_one_is() {
    let bench = Bench::new();
    let active = || bench.run(&["loadout", "--json"]).exits(0).json()["active"].clone();
    // In the profile, for all projects.
    bench.run(&["loadout", "Release", "--profile"]).exits(0);
    assert_eq!(active(), "Release");
    assert!(bench.profile().join("config.json").exists() && !bench.has(".materia"));
    // For this project, which is stronger; the profile stays as it is.
    bench.run(&["loadout", "Hojo-Consult"]).exits(0);
    assert_eq!(active(), "Hojo-Consult");
    assert!(bench.has(".materia/materia.json"));
    let said = bench.run(&["loadout", "Full-Auto", "--profile"]).exits(0).err;
    assert!(said.contains(".materia/materia.json says otherwise"), "{said}");
    assert_eq!(active(), "Hojo-Consult");
    // In the file that the person names.
    bench.write("named.json", "{\"activeLoadout\": \"Release\" /* here */}");
    bench.run(&["loadout", "Planning-Consult", "--config", "named.json"]).exits(0);
    assert_eq!(bench.read("named.json"), "{\"activeLoadout\": \"Planning-Consult\" /* here */}");
    assert_eq!(active(), "Hojo-Consult");
    let listed = bench.run(&["loadout"]).exits(0).out;
    assert!(listed.contains("* Hojo-Consult") && listed.contains("  Full-Auto"), "{listed}");
}

#[test]
fn a_file_that_cannot_be_changed_is_left_as_it_is() {
    let bench = Bench::new();
    bench.write("materia.json", "{ \"activeLoadout\": ");
    let ran = bench.run(&["loadout", "Release", "--json"]).exits(2);
    assert_eq!(ran.json()["error"]["code"], "resolution");
    assert_eq!(bench.read("materia.json"), "{ \"activeLoadout\": ");
}

#[test]
fn a_changed_file_keeps_its_mode_and_one_that_is_a_link_of_the_project_is_refused() {
    let bench = Bench::new();
    bench.write("materia.json", "\u{feff}{\n}\n");
    let file = bench.project().join("materia.json");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    bench.run(&["loadout", "Release"]).exits(0);
    let changed = "\u{feff}{\n  \"activeLoadout\": \"Release\"\n}\n";
    assert_eq!(bench.read("materia.json"), changed);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    fs::rename(&file, bench.project().join("real.json")).unwrap();
    std::os::unix::fs::symlink("real.json", &file).unwrap();
    let ran = bench.run(&["loadout", "Full-Auto"]);
    assert_ne!(ran.exit, 0);
    assert!(ran.err.contains("symbolic link inside the project"), "{}", ran.err);
    assert_eq!(bench.read("real.json"), changed);
    assert!(file.is_symlink());
}

#[test]
fn a_copy_is_the_same_loadout() {
    let bench = Bench::new();
    let said = bench.run(&["loadout", "--copy", "Hojo-Consult", "--as", "Mine"]).exits(0).err;
    assert!(said.contains("`Full-Auto` is still the one that is cast"), "{said}");
    let shown = |name: &str| {
        let mut all = bench.run(&["loadout", "--show", name, "--json"]).exits(0).json();
        all["loadout"].take()
    };
    assert_eq!(shown("Mine"), shown("Hojo-Consult"));
    bench.run(&["materia", "--copy", "Auto-Eval"]).exits(0);
    let checked = bench.run(&["check", "--json"]).exits(0).json();
    let codes: Vec<_> =
        checked["findings"].as_array().unwrap().iter().map(|f| &f["code"]).collect();
    assert_eq!(codes, ["config::replaces-shipped"]);
    let said = bench.run(&["grid"]).exits(0).err;
    assert!(said.contains("1 remark"), "{said}");
}

/// A cast that waits before it comes to its utility.
fn waiting() -> Bench {
    let bench = Bench::with(&json!({
        "loadouts": { "L": { "entry": "a", "sockets": {
            "a": { "materia": "Talk", "edges": [{ "to": "b" }] },
            "b": { "materia": "Detect-VCS" },
        } } },
        "materia": { "Talk": { "prompt": "Talk.", "multiTurn": true } },
    }));
    bench.write("script.json", &json!({ "turns": { "Talk": [{ "text": "hm" }] } }).to_string());
    bench.run(&["cast", "--script", "script.json", "--cast-id", "c1", "go"]).exits(3);
    bench
}

#[test]
fn a_cast_that_goes_on_gets_its_script_back() {
    let bench = waiting();
    fs::remove_dir_all(bench.profile().join("utilities")).unwrap();
    let report = bench.run(&["continue", "c1", "--json"]).exits(0).json();
    assert_eq!(report["state"]["vcs"]["kind"], "none");
}

#[test]
fn a_cast_that_goes_on_runs_what_the_user_made_of_a_script_and_says_so() {
    let bench = waiting();
    let file = bench.profile().join("utilities/detect-vcs.mjs");
    fs::write(&file, "console.log('{}');\n").unwrap();
    let ran = bench.run(&["continue", "c1", "--json"]).exits(1);
    assert_eq!(ran.json()["error"]["code"], "contract_error", "it prints no `vcs`");
    assert!(ran.err.contains("your own version"), "{}", ran.err);
}
