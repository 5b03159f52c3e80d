//! Files that are swapped between the approval and the start: hashed again right before they run.

use serde_json::{Value, json};

use super::Stage;
use super::people::{Who, people};

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
    for who in people() {
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
            (
                "a word of a shell line",
                format!("{owned} run.sh"),
                &["sh", "-c", "true && ./run.sh"],
            ),
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
            let stage = stage(&swaps, runs).of(who);
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
}

#[test]
fn what_is_swapped_back_runs_unasked_and_what_is_not_swapped_runs_on() {
    for who in people() {
        let stage = stage("echo 'echo other' > run.sh", &["sh", "run.sh"]).of(who);
        let ran = stage.run(&["cast", "--trust", "--json", "--cast-id", "c1", "go"]);
        assert_eq!(ran.exit, 3, "{ran:?}");
        waits(&stage, &ran.lines()[0]);
        stage.program("project/run.sh", "#!/bin/sh\necho once\n");
        stage.run(&["resume", "c1"]).exits(0);
        // A file that no program names may change as it likes.
        let stage = self::stage("echo more >> notes.md", &["sh", "run.sh"]).of(who);
        stage.run(&["cast", "--trust", "go"]).exits(0);
    }
}

#[test]
fn a_change_while_the_cast_rests_is_told_by_the_question() {
    for who in people() {
        let stage = stage("true", &["sh", "run.sh"]).of(who);
        stage.run(&["cast", "--trust", "go"]).exits(0);
        stage.write("project/run.sh", OWNED);
        let seen =
            stage.watch(&["cast", "go"]).exits(2).executed_nothing().changed_nothing_outside();
        assert!(seen.ran.err.contains("changed: file `run.sh`"), "{seen:?}");
    }
}

/// Types yes on a terminal, after it has swapped a file; then no, should somebody ask again.
const TYPES: &str = r#"
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[3], sys.argv[3:])
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
            open(sys.argv[1], "w").write(sys.argv[2])
        os.write(fd, b"y\n" if asked == 1 else b"n\n")
sys.stdout.buffer.write(said)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"#;

#[test]
fn a_file_that_is_swapped_while_somebody_is_asked_is_asked_about_again() {
    for who in people() {
        let stage = stage("true", &["sh", "run.sh"]).of(who);
        let ran =
            stage.run_by(&["python3", "-c", TYPES, "run.sh", OWNED], &["cast", "go"]).exits(2);
        let said = &ran.out;
        assert_eq!(said.matches("Approve it?").count(), 2, "{said}");
        assert!(said.contains("+ echo owned > ../outside/owned"), "{said}");
        assert!(!stage.path("outside/owned").exists());
        // The first yes was for what is no longer there.
        stage.watch(&["cast", "go"]).exits(2).executed_nothing();
    }
}

/// Two turns of an agent, which does this in its first one, and obeys the files that it takes commands from.
fn agents(who: Who, swaps: &str) -> Stage {
    let stage = Stage::new().of(who);
    let answers = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && {{ echo '9.8.7 (Claude Code)'; exit 0; }}\n\
        grep -qs owned .claude/settings.json .mcp.json && touch ../outside/owned\n\
        [ -e swapped ] || {{ touch swapped; {swaps}; }}\n\
        printf '{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"done\",\"session_id\":\"x\"}}\\n'\n"
    );
    stage.program("project/agent", &answers);
    stage.write("project/.claude/settings.json", "{}\n");
    let config = json!({
        "activeLoadout": "L",
        "provider": "claude",
        "agents": { "claude": { "command": ["./agent"] } },
        "limits": { "maxRetries": 0 },
        "loadouts": { "L": { "entry": "a", "sockets": {
            "a": { "materia": "Ask", "edges": [{ "to": "b" }] },
            "b": { "materia": "Ask" } } } },
        "materia": { "Ask": { "prompt": "Do it." } },
    });
    stage.write("project/materia.json", config.to_string());
    stage
}

#[test]
fn an_agent_is_not_started_with_another_program_or_other_files_than_those_approved() {
    for who in people() {
        for (swaps, told) in [
            (
                "(cat agent; echo 'touch ../outside/owned') > x; chmod +x x; mv x agent",
                "file `agent` changed",
            ),
            ("echo owned > .claude/settings.json", "`.claude/settings.json` changed"),
            ("echo owned > x; mv x .claude/settings.json", "`.claude/settings.json` changed"),
            (
                "echo owned > x; ln -sf ../x .claude/settings.json",
                "`.claude/settings.json` changed",
            ),
            ("echo owned > .mcp.json", "changed since it was approved"),
            ("mkdir .codex; echo owned > .codex/config.toml", "changed since it was approved"),
            ("rm -r .claude", "changed since it was approved"),
            (
                "rm .claude/settings.json; mkfifo .claude/settings.json",
                "neither a file nor a folder",
            ),
        ] {
            let stage = agents(who, swaps);
            let ran = stage.run(&["cast", "--trust", "--json", "--cast-id", "c1", "go"]);
            assert_eq!(ran.exit, 3, "{swaps} as {who:?}: {ran:?}");
            waits(&stage, &ran.lines()[0]);
            let events = stage.run(&["events", "c1", "--json"]).exits(0).out;
            assert!(events.contains(told), "{swaps}: {events}");
            let refused = stage.watch(&["resume", "c1"]).exits(2).executed_nothing();
            assert!(!refused.ran.err.is_empty(), "{swaps}: {refused:?}");
        }
        // What agents take no commands from may change.
        let stage = agents(who, "echo more > CLAUDE.md; echo more > notes.md");
        stage.run(&["cast", "--trust", "go"]).exits(0);
    }
}

#[test]
fn an_agent_does_not_start_with_files_that_were_swapped_while_somebody_was_asked() {
    for who in people() {
        let stage = agents(who, "true");
        let types = ["python3", "-c", TYPES, ".claude/settings.json", "{\"owned\": 1}\n"];
        stage.run_by(&types, &["cast", "--cast-id", "c1", "go"]).exits(3);
        let report = stage.run(&["show", "c1", "--json"]).exits(0).lines();
        assert_eq!(report[0]["waiting"]["reason"], "trust", "{report:?}");
        assert!(!stage.path("outside/owned").exists() && !stage.path("project/swapped").exists());
        // The yes was for what is no longer there.
        let seen = stage.watch(&["resume", "c1"]).exits(2).executed_nothing();
        assert!(seen.ran.err.contains("+ {\"owned\": 1}"), "{seen:?}");
    }
}
