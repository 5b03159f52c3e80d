//! Casts in their own workspace: shown, merged, dropped, restored.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::stage::{CONFIG, Stage};

/// Makes a folder a git repository with its files committed.
pub(crate) fn repository(dir: &Path) {
    for words in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["config", "user.name", "Somebody"],
        &["config", "user.email", "somebody@example.org"],
        &["add", "--all"],
        &["commit", "--quiet", "--message=Begin"],
    ] {
        git(dir, words);
    }
}

fn git(dir: &Path, words: &[&str]) -> String {
    let said = Command::new("git").arg("-C").arg(dir).args(words).output().unwrap();
    assert!(said.status.success(), "{words:?}: {said:?}");
    String::from_utf8(said.stdout).unwrap()
}

/// A server whose project is a git repository with one file, and a loadout that changes it in its first turn.
fn stage() -> Stage {
    let stage = Stage::new();
    let mut config: Value = serde_json::from_str(CONFIG).unwrap();
    let add = "echo two >> notes.txt; echo '{\"satisfied\": true}'";
    config["materia"]["Add"] = json!({ "type": "utility", "command": ["sh", "-c", add] });
    config["loadouts"]["Adds"] = json!({ "entry": "A", "sockets": {
        "A": { "materia": "Add", "parse": "json", "edges": [{ "when": "always", "to": "B" }] },
        "B": { "materia": "Say", "parse": "json" } } });
    config["loadouts"]["Asks"]["sockets"]["A"]["materia"] = json!("Add");
    config["activeLoadout"] = json!("Adds");
    fs::write(stage.project().join("materia.json"), config.to_string()).unwrap();
    fs::write(stage.project().join("notes.txt"), "one\n").unwrap();
    repository(&stage.project());
    stage.trust();
    stage
}

fn start(stage: &Stage, loadout: &str, id: &str) {
    let own = json!({ "loadout": loadout, "castId": id, "workspace": "own", "request": "x" });
    let mut begun = stage.post("/api/casts", &own);
    if begun.status == 409 {
        stage.trust();
        begun = stage.post("/api/casts", &own);
    }
    assert_eq!(begun.status, 201, "{begun:?}");
}

#[test]
fn a_workspace_is_looked_at_merged_and_dropped() {
    let stage = stage();
    start(&stage, "Adds", "one");
    stage.until("one", "completed");
    let found = stage.get("/api/casts/one/workspace").json();
    assert_eq!(found["kind"], "own");
    assert_eq!(found["branch"], "materia/one");
    assert_eq!(found["files"], json!([{ "path": "notes.txt", "added": 1, "removed": 0 }]));
    let whole = stage.get("/api/casts/one/workspace/diff").json();
    assert!(whole["text"].as_str().unwrap().contains("+two"), "{whole}");
    let turns = stage.get("/api/casts/one/events?type=turn.started").json();
    let mut changed = Vec::new();
    for turn in turns["items"].as_array().unwrap() {
        let diff = stage.get(&format!("/api/casts/one/workspace/diff?turn={}", turn["seq"])).json();
        let view = stage.get(&format!("/api/casts/one/turns/{}", turn["seq"])).json();
        changed.push((diff["files"].as_array().unwrap().len(), view["changedFiles"].clone()));
    }
    assert_eq!(changed, [(1, json!(true)), (0, json!(false))]);
    let none = stage.get("/api/casts/one/workspace/diff?turn=1");
    assert_eq!((none.status, none.json()["code"].clone()), (409, json!("resolution")));

    let notes = stage.project().join("notes.txt");
    fs::write(&notes, "mine\n").unwrap();
    let refused = stage.post("/api/casts/one/workspace/apply", &json!({}));
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(refused.json()["detail"].as_str().unwrap().contains("notes.txt"), "{refused:?}");
    assert_eq!(fs::read_to_string(&notes).unwrap(), "mine\n");
    git(&stage.project(), &["checkout", "--quiet", "notes.txt"]);
    let applied = stage.post("/api/casts/one/workspace/apply", &json!({}));
    assert_eq!(applied.json()["workspace"]["merged"], true, "{applied:?}");
    assert_eq!(fs::read_to_string(&notes).unwrap(), "one\ntwo\n");

    let asked = stage.post("/api/casts/one/workspace/drop", &json!({}));
    assert_eq!((asked.status, asked.json()["code"].clone()), (422, json!("usage")));
    assert!(git(&stage.project(), &["branch", "--list", "materia/*"]).contains("materia/one"));
    let dropped = stage.post("/api/casts/one/workspace/drop", &json!({ "confirm": true }));
    assert_eq!(dropped.json()["workspace"]["branch"], Value::Null, "{dropped:?}");
    assert_eq!(git(&stage.project(), &["branch", "--list", "materia/*"]), "");
}

#[test]
fn a_cast_in_the_project_folder_has_nothing_to_merge() {
    let stage = stage();
    stage.post("/api/casts", &json!({ "loadout": "Adds", "castId": "here", "request": "x" }));
    stage.until("here", "completed");
    assert_eq!(stage.get("/api/casts/here/workspace").json()["kind"], "project");
    let refused = stage.post("/api/casts/here/workspace/apply", &json!({}));
    assert_eq!((refused.status, refused.json()["code"].clone()), (409, json!("resolution")));
    let running = stage.post("/api/casts/here/workspace/drop", &json!({ "confirm": true }));
    assert_eq!(running.status, 409, "{running:?}");
}

/// Somebody edits the copy while the cast rests: it waits, and goes on with or without the change.
#[test]
fn a_changed_workspace_is_taken_as_it_is_or_put_back() {
    let stage = stage();
    for (id, put_back, text) in [("kept", false, "mine\ntwo\n"), ("back", true, "one\ntwo\n")] {
        start(&stage, "Asks", id);
        stage.until(id, "waiting");
        let found = stage.get(&format!("/api/casts/{id}/workspace")).json();
        let folder = Path::new(found["checkout"].as_str().unwrap());
        fs::write(folder.join("notes.txt"), "mine\n").unwrap();
        let refused =
            stage.post(&format!("/api/casts/{id}/workspace/drop"), &json!({ "confirm": true }));
        assert!(refused.json()["detail"].as_str().unwrap().contains("can go on"), "{refused:?}");
        let commands = format!("/api/casts/{id}/commands");
        assert_eq!(stage.post(&commands, &json!({ "do": "approve", "node": "A" })).status, 200);
        let waits = waiting_for_files(&stage, id);
        assert_eq!(waits["next"][1], json!({ "do": "resume", "putBack": true }), "{waits}");
        let resume = json!({ "do": "resume", "putBack": put_back });
        let resumed = stage.post(&commands, &resume);
        assert_eq!(resumed.status, 200, "{resumed:?}");
        stage.until(id, "completed");
        let branch = format!("materia/{id}:notes.txt");
        assert_eq!(git(&stage.project(), &["show", &branch]), text);
    }
    let odd = json!({ "do": "pause", "putBack": true });
    assert_eq!(stage.post("/api/casts/back/commands", &odd).status, 422);
}

/// Waits until a cast waits for `workspace`.
fn waiting_for_files(stage: &Stage, id: &str) -> Value {
    for _ in 0..600 {
        let inbox = stage.get("/api/inbox").json();
        let items = inbox["items"].as_array().unwrap();
        let found = items.iter().find(|it| it["castId"] == id && it["reason"] == "workspace");
        if let Some(found) = found {
            return found.clone();
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("{id} does not wait for files: {:?}", stage.get(&format!("/api/casts/{id}")));
}
