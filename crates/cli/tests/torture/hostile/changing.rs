//! Approved content that has changed: asked again when a cast continues, and only then.

use serde_json::{Value, json};

use super::Stage;
use super::people::{Who, people};

/// Runs a script, asks somebody, runs it again.
fn config() -> Value {
    json!({
        "activeLoadout": "L",
        "provider": "mock",
        "loadouts": { "L": { "entry": "a", "sockets": {
            "a": { "materia": "Run", "edges": [{ "to": "b" }] },
            "b": { "materia": "Run", "approval": "before" } } } },
        "materia": { "Run": { "type": "utility", "command": ["sh", "run.sh"] } },
    })
}

/// A cast that waits for approval of its second turn.
fn waiting(who: Who) -> Stage {
    let stage = Stage::new().of(who);
    stage.write("project/materia.json", config().to_string());
    stage.write("project/run.sh", "echo once\n");
    stage.run(&["cast", "--trust", "--cast-id", "c1", "go"]).exits(3);
    stage
}

/// A cast that failed.
fn failed(who: Who) -> Stage {
    let stage = Stage::new().of(who);
    stage.write("project/materia.json", config().to_string());
    stage.write("project/run.sh", "exit 3\n");
    stage.run(&["cast", "--trust", "--cast-id", "c1", "go"]).exits(1);
    stage
}

const OWNED: &str = "echo owned > ../outside/owned\n";

/// The command is refused, and tells what has changed.
fn refused(stage: &Stage, args: &[&str], says: &[&str]) {
    let seen = stage.watch(args).exits(2).executed_nothing().changed_nothing_outside();
    for words in says {
        assert!(seen.ran.err.contains(words), "{args:?}: `{words}`: {seen:?}");
    }
}

#[test]
fn a_script_that_changed_is_asked_about_by_whatever_carries_a_cast_on() {
    for who in people() {
        let stage = waiting(who);
        stage.write("project/run.sh", OWNED);
        let told: &[&str] = &[
            "changed: file `run.sh`",
            "- echo once",
            "+ echo owned > ../outside/owned",
            "--trust",
        ];
        for args in [
            &["approve", "c1", "b"][..],
            &["resume", "c1"],
            &["trigger", "c1", "a"],
            &["mode", "c1", "AUTO"],
            &["budget", "c1", "--max-turns", "9"],
            &["fork", "c1", "--at", "4"],
        ] {
            refused(&stage, args, told);
        }
        let lines = stage.run(&["casts", "--json"]).exits(0).lines();
        assert_eq!(lines.len(), 1, "a fork that was refused leaves nothing behind: {lines:?}");
        stage.write("project/run.sh", "echo once\n");
        // As it was, nobody is asked.
        stage.run(&["approve", "c1", "b"]).exits(0);
        let stage = failed(who);
        stage.write("project/run.sh", OWNED);
        refused(&stage, &["recast", "c1"], &["changed: file `run.sh`", "- exit 3"]);
        // Whoever approves it, approves it for the next time as well.
        stage.write("project/run.sh", "echo mended\n");
        stage.run(&["recast", "c1", "--trust"]).exits(3);
        stage.run(&["approve", "c1", "b"]).exits(0);
    }
}

#[test]
fn whoever_casts_in_a_repository_of_their_own_is_asked_once() {
    for who in people() {
        let stage = Stage::new().of(who);
        let mut own = config();
        own["loadouts"]["Other"] =
            json!({ "entry": "a", "sockets": { "a": { "materia": "Run" } } });
        stage.write("project/materia.json", own.to_string());
        stage.write("project/run.sh", "echo once\n");
        stage.run(&["cast", "--trust", "--loadout", "Other", "go"]).exits(0);
        stage.run(&["cast", "--cast-id", "c1", "go"]).exits(3);
        stage.run(&["approve", "c1", "b"]).exits(0);
        stage.run(&["fork", "c1", "--at", "3"]).exits(3);
        stage.run(&["link", "Run", "loadout:Other", "--", "go"]).exits(0);
        stage.run(&["loadout", "Other"]).exits(0);
        stage.run(&["cast", "go"]).exits(0);
        // Words for people change, and a comment comes: nothing that matters.
        own["materia"]["Run"]["description"] = json!("Runs it.");
        stage.write("project/materia.json", format!("// mine\n{own:#}"));
        stage.run(&["cast", "--loadout", "Other", "go"]).exits(0);
    }
}

#[test]
fn a_script_that_a_journal_names_is_asked_about_like_a_program() {
    for who in people() {
        let stage = Stage::new().of(who);
        let agent = json!({
            "activeLoadout": "L",
            "loadouts": { "L": { "entry": "a", "sockets": {
                "a": { "materia": "M", "edges": [{ "to": "b" }] }, "b": { "materia": "M", "approval": "before" } } } },
            "materia": { "M": { "prompt": "Do it." } },
        });
        stage.write("project/materia.json", agent.to_string());
        let answers = |writes: Value| json!({ "turns": { "M": [{ "text": "x", "writes": writes }] }, "repeatLast": true });
        stage.write("project/answers.json", answers(json!({})).to_string());
        let begun = ["cast", "--trust", "--cast-id", "c1", "--script", "answers.json", "go"];
        stage.run(&begun).exits(3);
        // It answers something else now, and writes where nobody looks.
        stage.write("project/answers.json", answers(json!({ ".git/config": "owned" })).to_string());
        refused(
            &stage,
            &["approve", "c1", "b"],
            &["script of answers", "answers.json", "can write files"],
        );
        assert!(!stage.path("project/.git").exists());
        // Named by the person who types it, it is that person's.
        stage.write("project/answers.json", answers(json!({ "made.txt": "made" })).to_string());
        stage.run(&["approve", "c1", "b", "--script", "answers.json"]).exits(0);
        assert!(stage.path("project/made.txt").exists());
    }
}

#[test]
fn a_prompt_that_changed_is_asked_about_with_what_changed() {
    for who in people() {
        let stage = Stage::new().of(who);
        let own = |prompt: &str, tools: &str| {
            json!({
                "activeLoadout": "L", "provider": "mock",
                "loadouts": { "L": { "entry": "a", "sockets": { "a": { "materia": "M" } } } },
                "materia": { "M": { "prompt": prompt, "tools": tools } },
            })
        };
        let write =
            |prompt, tools| stage.write("project/materia.json", own(prompt, tools).to_string());
        write("Read it.\nSay what it does.", "readOnly");
        stage.run(&["cast", "--trust", "go"]).exits(0);
        write("Read it.\nPublish it.", "coding");
        refused(
            &stage,
            &["cast", "go"],
            &[
                "changed: materia `M`",
                "- prompt: Say what it does.",
                "+ prompt: Publish it.",
                "+ tools: coding",
            ],
        );
        // Back to what it was, nobody is asked.
        write("Read it.\nSay what it does.", "readOnly");
        stage.run(&["cast", "go"]).exits(0);
    }
}

#[test]
fn a_projects_graph_that_places_the_users_own_program_is_asked_about() {
    for who in people() {
        let stage = Stage::new().of(who);
        let mine = json!({ "materia": { "Deploy": { "type": "utility", "command": ["sh", "-c", "echo owned > ../outside/owned"] } } });
        stage.write("profile/config.json", mine.to_string());
        for name in ["L", "Full-Auto"] {
            let theirs = json!({ "activeLoadout": name,
            "loadouts": { name: { "entry": "a", "sockets": { "a": { "materia": "Deploy" } } } } });
            stage.write("project/materia.json", theirs.to_string());
            refused(&stage, &["cast", "go"], &["Deploy in", "echo owned"]);
        }
        // Chosen by name as the person's own, it runs.
        std::fs::remove_file(stage.path("project/materia.json")).unwrap();
        stage.run(&["link", "Deploy", "--", "go"]).exits(0);
        assert!(stage.path("outside/owned").exists());
    }
}

#[test]
fn what_is_approved_is_kept_where_no_project_lies() {
    for who in people() {
        let stage = waiting(who);
        let kept = stage.path("profile/trust.json");
        let mode = std::os::unix::fs::PermissionsExt::mode(&kept.metadata().unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
        // A repository that ships approvals has approved nothing.
        let other = Stage::new().of(who);
        other.write("project/materia.json", config().to_string());
        other.write("project/run.sh", OWNED);
        let shipped = std::fs::read_to_string(&kept).unwrap();
        let (here, there) = (stage.project(), other.project());
        let shipped = shipped.replace(here.to_str().unwrap(), there.to_str().unwrap());
        for path in [
            "trust.json",
            ".materia/trust.json",
            "profile/trust.json",
            ".config/materia/trust.json",
        ] {
            other.write(&format!("project/{path}"), &shipped);
        }
        refused(&other, &["cast", "go"], &["--trust"]);
    }
}
