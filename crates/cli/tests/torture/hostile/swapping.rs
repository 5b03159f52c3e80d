//! What is swapped between the question and the start: hashed again right before it runs.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::Stage;
use super::people::people;

const OWNED: &str = "echo owned > ../outside/owned\n";

/// One program changes something, then another one runs.
fn config(swaps: &str, runs: &[&str]) -> Value {
    json!({
        "activeLoadout": "L",
        "provider": "mock",
        "loadouts": { "L": { "entry": "a", "sockets": {
            "a": { "materia": "Swap", "edges": [{ "to": "b" }] },
            "b": { "materia": "Run" } } } },
        "materia": {
            "Swap": { "type": "utility", "command": ["sh", "-c", swaps] },
            "Run": { "type": "utility", "command": runs },
        },
    })
}

fn stage(swaps: &str, runs: &[&str]) -> Stage {
    let stage = Stage::new();
    stage.write("project/materia.json", config(swaps, runs).to_string());
    stage.program("project/run.sh", "#!/bin/sh\necho once\n");
    stage.write("project/Makefile", "t:\n\t@echo once\n");
    stage.write("project/pkg/__main__.py", "print('once')\n");
    stage
}

/// The report of a cast that waits because something is not as it was approved.
fn waits(stage: &Stage, report: &Value) {
    assert_eq!(report["status"], "waiting", "{report}");
    assert_eq!(report["waiting"]["reason"], "trust", "{report}");
    assert_eq!(report["waiting"]["node"], "b", "{report}");
    assert!(!stage.path("outside/owned").exists());
    let events = stage.run(&["events", "c1", "--json"]).exits(0).lines();
    let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).collect::<Vec<_>>();
    assert_eq!(of("turn.interrupted")[0]["data"]["reason"], "trust");
    assert!(of("turn.failed").is_empty());
    stage.run(&["replay", "c1"]).exits(0);
}

#[test]
fn a_turn_does_not_run_what_another_turn_has_swapped() {
    let owned = "printf 'echo owned > ../outside/owned' >";
    for (what, swaps, runs) in [
        ("in its place", format!("{owned} run.sh"), &["sh", "run.sh"][..]),
        ("renamed over it", format!("{owned} x && mv x run.sh"), &["sh", "./run.sh"]),
        (
            "the program itself",
            "(echo '#!/bin/sh'; echo 'echo owned > ../outside/owned') > run.sh".to_owned(),
            &["./run.sh"],
        ),
        ("a link", format!("{owned} x; rm run.sh; ln -s x run.sh"), &["sh", "run.sh"]),
        ("a word of a shell line", format!("{owned} run.sh"), &["sh", "-c", "true && ./run.sh"]),
        (
            "a file that comes first",
            "printf 't:\\n\\techo owned > ../outside/owned' > GNUmakefile".to_owned(),
            &["make", "t"],
        ),
        (
            "a module",
            "echo \"open('../outside/owned', 'w')\" > pkg/__main__.py".to_owned(),
            &["python3", "-m", "pkg"],
        ),
    ] {
        let stage = stage(&swaps, runs);
        let ran = stage.run(&["cast", "--trust", "--json", "--cast-id", "c1", "go"]);
        assert_eq!(ran.exit, 3, "{what}: {ran:?}");
        waits(&stage, &ran.lines()[0]);
        // Whoever carries it on is asked, and nothing runs before.
        let refused = stage.watch(&["resume", "c1"]).exits(2).executed_nothing();
        assert!(refused.ran.err.contains("--trust"), "{what}: {refused:?}");
        assert!(!stage.path("outside/owned").exists(), "{what}");
        stage.run(&["resume", "c1", "--trust"]).exits(0);
        stage.run(&["replay", "c1"]).exits(0);
    }
}

#[test]
fn what_is_swapped_back_runs_unasked_and_what_is_not_swapped_runs_on() {
    let stage = stage("echo 'echo other' > run.sh", &["sh", "run.sh"]);
    let ran = stage.run(&["cast", "--trust", "--json", "--cast-id", "c1", "go"]);
    assert_eq!(ran.exit, 3, "{ran:?}");
    waits(&stage, &ran.lines()[0]);
    stage.program("project/run.sh", "#!/bin/sh\necho once\n");
    stage.run(&["resume", "c1"]).exits(0);
    // A file that no program names may change as it likes.
    let stage = self::stage("echo more >> notes.md", &["sh", "run.sh"]);
    stage.run(&["cast", "--trust", "go"]).exits(0);
}

#[test]
fn a_change_while_the_cast_rests_is_told_by_the_question() {
    let stage = stage("true", &["sh", "run.sh"]);
    stage.run(&["cast", "--trust", "go"]).exits(0);
    stage.write("project/run.sh", OWNED);
    let seen = stage.watch(&["cast", "go"]).exits(2).executed_nothing().changed_nothing_outside();
    assert!(seen.ran.err.contains("changed: file `run.sh`"), "{seen:?}");
}

/// Types yes on a terminal, after it has swapped a file; then no, should somebody ask again.
const TYPES: &str = r#"
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
said, asked = b"", 0
while True:
    try:
        piece = os.read(fd, 4096)
    except OSError:
        break
    if not piece:
        break
    said += piece
    if said.count(b"Approve it?") > asked:
        asked += 1
        if asked == 1:
            open("run.sh", "w").write(sys.argv[1])
        os.write(fd, b"y\n" if asked == 1 else b"n\n")
sys.stdout.buffer.write(said)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"#;

#[test]
fn a_file_that_is_swapped_while_somebody_is_asked_is_asked_about_again() {
    let stage = stage("true", &["sh", "run.sh"]);
    let mut command = Command::new("python3");
    command.args(["-c", TYPES, OWNED, env!("CARGO_BIN_EXE_materia"), "cast", "go"]);
    let ran = stage.dress(&mut command).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert_eq!(said.matches("Approve it?").count(), 2, "{said}");
    assert!(said.contains("+ echo owned > ../outside/owned"), "{said}");
    assert!(!stage.path("outside/owned").exists());
    // The first yes was for what is no longer there.
    stage.watch(&["cast", "go"]).exits(2).executed_nothing();
}

#[test]
fn a_program_of_an_agent_is_looked_at_before_each_start() {
    let stage = Stage::new();
    let answers = "#!/bin/sh\n[ \"$1\" = --version ] && { echo '9.8.7 (Claude Code)'; exit 0; }\n\
        printf '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"done\",\"session_id\":\"x\"}\\n'\n";
    stage.program("project/agent", answers);
    let config = json!({
        "activeLoadout": "L",
        "provider": "claude",
        "agents": { "claude": { "command": ["./agent"] } },
        "limits": { "maxRetries": 0 },
        "loadouts": { "L": { "entry": "a", "sockets": {
            "a": { "materia": "Swap", "edges": [{ "to": "b" }] },
            "b": { "materia": "Ask" } } } },
        "materia": {
            "Swap": { "type": "utility", "command": ["sh", "-c", "echo 'touch ../outside/owned' >> agent"] },
            "Ask": { "prompt": "Do it." },
        },
    });
    stage.write("project/materia.json", config.to_string());
    let ran = stage.run(&["cast", "--trust", "--json", "--cast-id", "c1", "go"]);
    assert_eq!(ran.exit, 3, "{ran:?}");
    waits(&stage, &ran.lines()[0]);
}

#[test]
fn everybodys_turn_is_held_back() {
    for who in people() {
        let stage = stage("echo 'echo owned > ../outside/owned' > run.sh", &["sh", "run.sh"]);
        let ran = stage.run_as(who, &["cast", "--trust", "--json", "--cast-id", "c1", "go"]);
        assert_eq!(ran.exit, 3, "{who:?}: {ran:?}");
        assert_eq!(ran.lines()[0]["waiting"]["reason"], "trust");
        assert!(!stage.path("outside/owned").exists());
    }
}
