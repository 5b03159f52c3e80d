//! Endpoints of the editor.

use serde_json::{Value, json};

use crate::stage::{Answer, Stage};

/// A generator, a loop with rework, and what comes after it.
const LOOPED: &str = r#"{
  // The workflow.
  "loadouts": { "W": { "entry": "plan", "sockets": {
    "plan": { "materia": "Plan", "edges": [{ "to": "build" }] },
    "build": { "materia": "Work", "edges": [{ "to": "judge" }] },
    "judge": { "materia": "Judge", "advance": { "cursor": "workItemIndex", "when": "satisfied" },
      "edges": [{ "when": "not_satisfied", "to": "build", "maxTraversals": 2 }, { "to": "build" }] },
    "after": { "materia": "Work" } },
    "loops": { "items": { "sockets": ["build", "judge"], "consumes": { "from": "plan", "output": "workItems" },
      "exits": [{ "id": "done", "from": "judge", "condition": "satisfied", "targetSocketId": "after" }] } } } },
  "materia": {
    "Plan": { "prompt": "Plan.", "generator": true, "parse": "json" },
    "Work": { "prompt": "Work." }, "Judge": { "prompt": "Judge.", "parse": "json" } }
}"#;

fn walk(stage: &Stage, choices: &Value) -> Value {
    let files = json!({ "materia.json": LOOPED });
    let body = json!({ "files": files, "loadout": "W", "request": "go", "choices": choices });
    let answer = stage.post("/api/simulate", &body);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

fn end(socket: &str, outcome: &str) -> Value {
    json!({ "socket": socket, "outcome": outcome })
}

#[test]
fn a_walk_goes_where_the_kernel_goes_and_runs_nothing() {
    let stage = Stage::new();
    let first = walk(&stage, &json!([]));
    assert_eq!(first["status"], "running");
    assert_eq!(first["asks"][0]["outcomes"], json!(["items", "fails"]), "{first}");
    let choices = json!([
        { "socket": "plan", "outcome": "items", "items": 2 },
        end("build", "done"),
        end("judge", "satisfied"),
        end("build", "done"),
        end("judge", "not_satisfied"),
        end("build", "done"),
        end("judge", "satisfied"),
        end("after", "done"),
    ]);
    let whole = walk(&stage, &choices);
    assert_eq!(whole["status"], "completed", "{whole}");
    let routes: Vec<&str> = whole["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["routes"][0]["edge"].as_str().unwrap_or("end"))
        .collect();
    let expected = [
        "plan->build",
        "build->judge",
        "judge->build#2",
        "build->judge",
        "judge->build",
        "build->judge",
        "loop-exit:items:done",
        "end",
    ];
    assert_eq!(routes, expected);
    assert_eq!(whole["script"]["turns"]["judge"].as_array().unwrap().len(), 3, "{whole}");
    assert_eq!(whole["case"]["expect"]["visits"].as_array().unwrap().len(), 8);
    // A choice that cannot be taken says so, and what came before it stands.
    let stray = walk(&stage, &json!([end("judge", "satisfied")]));
    assert!(stray["message"].as_str().unwrap().contains("choice 1 is for `judge`"), "{stray}");
    let failing = walk(&stage, &json!([end("plan", "fails")]));
    assert_eq!(failing["status"], "failed", "{failing}");
    assert_eq!(stage.get("/api/casts").json()["items"], json!([]), "nothing was cast");
}

#[test]
fn a_loadout_with_errors_is_not_walked_and_says_why() {
    let stage = Stage::new();
    let files = json!({ "materia.json": LOOPED.replace("\"to\": \"judge\"", "\"to\": \"jduge\"") });
    let answer = stage.post("/api/simulate", &json!({ "files": files, "loadout": "W" })).json();
    assert_eq!(answer["findings"][0]["code"], "graph::unknown-target", "{answer}");
    assert_eq!(answer["steps"], json!([]));
}

/// V1: the bound of a loadout, as the command says it.
#[test]
fn the_bounds_of_a_loadout_are_told() {
    let stage = Stage::new();
    std::fs::write(stage.project().join("materia.json"), LOOPED).unwrap();
    let bounds = stage.get("/api/loadouts/W/bounds").json();
    assert_eq!(bounds["bounded"], true, "{bounds}");
    assert!(bounds["cast"]["turns"]["formula"].as_str().unwrap().contains("n(Plan)"), "{bounds}");
    assert_eq!(stage.get("/api/loadouts/None/bounds").status, 404);
    let broken = LOOPED.replace("\"to\": \"judge\"", "\"to\": \"jduge\"");
    std::fs::write(stage.project().join("materia.json"), broken).unwrap();
    let refused = stage.get("/api/loadouts/W/bounds");
    assert_eq!(refused.status, 422, "{refused:?}");
    assert_eq!(refused.json()["findings"][0]["code"], "graph::unknown-target");
}

/// V4: each finding of an unsaved text has a history that a walk goes exactly, or the reason why none does.
#[test]
fn what_an_exploration_finds_can_be_walked() {
    let stage = Stage::new();
    let files = json!({ "materia.json": LOOPED });
    let view = stage.post("/api/explore", &json!({ "files": files, "loadout": "W" })).json();
    let findings = view["explored"]["findings"].as_array().unwrap();
    assert!(findings.len() > 3, "{view}");
    assert_eq!(findings.len(), view["walks"].as_array().unwrap().len());
    for (finding, way) in findings.iter().zip(view["walks"].as_array().unwrap()) {
        let walked = walk(&stage, &way["choices"]);
        assert_eq!(walked["asks"], json!([]), "{finding}");
        let end = finding["history"]["end"].as_str().unwrap();
        assert!(end.starts_with(walked["status"].as_str().unwrap()), "{end}: {walked}");
    }
    let guarded = LOOPED.replace(
        r#""after": { "materia": "Work" }"#,
        r#""after": { "materia": "Work", "approval": "before" }"#,
    );
    let files = json!({ "materia.json": guarded });
    let view = stage.post("/api/explore", &json!({ "files": files, "loadout": "W" })).json();
    let refused = view["walks"].as_array().unwrap().iter().filter(|it| it["choices"].is_null());
    let reasons: Vec<&str> = refused.map(|it| it["reason"].as_str().unwrap()).collect();
    assert!(reasons.iter().any(|it| it.contains("refuses an approval")), "{view}");
    let broken = LOOPED.replace("\"to\": \"judge\"", "\"to\": \"jduge\"");
    let files = json!({ "materia.json": broken });
    let view = stage.post("/api/explore", &json!({ "files": files, "loadout": "W" })).json();
    assert_eq!((&view["explored"], &view["walks"]), (&Value::Null, &json!([])));
    assert_eq!(view["findings"][0]["code"], "graph::unknown-target", "{view}");
    assert_eq!(stage.get("/api/casts").json()["items"], json!([]), "nothing was cast");
}

fn keep(stage: &Stage, id: &str, version: &str, text: &str) -> Answer {
    let body = json!({ "layer": "project", "file": "materia.json", "base": "b", "text": text, "history": [1] });
    stage.ask(
        "PUT",
        &format!("/api/drafts/{id}"),
        &format!("If-Match: {version}\r\n"),
        &body.to_string(),
    )
}

#[test]
fn drafts_are_kept_one_version_after_the_other_and_outlive_the_server() {
    let mut stage = Stage::new();
    assert_eq!(keep(&stage, "d", "0", "one").json()["version"], 1);
    let outdated = keep(&stage, "d", "0", "other");
    assert_eq!((outdated.status, &outdated.json()["theirs"]["text"]), (412, &json!("one")));
    assert_eq!(keep(&stage, "d", "\"1\"", "two").json()["version"], 2);
    stage.end();
    stage.begin();
    let draft = stage.get("/api/drafts/d").json();
    assert_eq!((&draft["text"], &draft["history"]), (&json!("two"), &json!([1])));
    assert_eq!(stage.get("/api/drafts").json()["items"][0]["bytes"], 3);
    let remove = |version: &str| {
        stage.ask("DELETE", "/api/drafts/d", &format!("If-Match: {version}\r\n"), "")
    };
    assert_eq!(remove("1").status, 412);
    assert_eq!(remove("2").status, 200);
    assert_eq!(stage.get("/api/drafts/d").status, 404);
    for (id, status) in [("a b", 400), ("..", 400), (&*"x".repeat(65), 400), ("%2e%2e", 400)] {
        assert_eq!(keep(&stage, id, "0", "x").status, status, "{id}");
    }
    let unnamed = stage.ask("PUT", "/api/drafts/e", "", "{}");
    assert!(matches!(unnamed.status, 422 | 428), "{unnamed:?}");
    // Nothing of it lies where a name that was sent would lead.
    let names = walkdir(&stage.state().join("drafts"));
    assert!(
        names.iter().all(|name| name.chars().all(|c| c.is_ascii_hexdigit() || ".json".contains(c))),
        "{names:?}"
    );
}

fn walkdir(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.flat_map(|entry| {
        let mut names = vec![entry.file_name().to_string_lossy().into_owned()];
        names.extend(walkdir(&entry.path()));
        names
    });
    names.collect()
}

#[test]
fn a_link_is_shown_and_can_be_saved_as_a_loadout_that_does_the_same() {
    let stage = Stage::new();
    let files = json!({ "materia.json": LOOPED });
    let link = stage
        .post("/api/link", &json!({ "files": files, "parts": ["W", "materia:Work", "W"] }))
        .json();
    assert_eq!(link["ok"], true, "{}", link["findings"]);
    assert_eq!(link["plan"]["nodes"].as_object().unwrap().len(), 9);
    let mut document: Value =
        serde_json::from_str(&LOOPED.replace("// The workflow.", "")).unwrap();
    document["loadouts"]["Saved"] = link["loadout"].clone();
    assert!(link["loadout"].is_object(), "{link}");
    let files = json!({ "materia.json": document.to_string() });
    let checked = stage.post("/api/check", &json!({ "files": files, "loadout": "Saved" })).json();
    assert_eq!(checked["ok"], true, "{checked}");
    assert_eq!(checked["plan"]["loops"], link["plan"]["loops"]);
    let refused = stage.post("/api/link", &json!({ "parts": ["nothing"] })).json();
    assert_eq!((&refused["ok"], &refused["loadout"]), (&json!(false), &Value::Null));
    assert_eq!(refused["findings"][0]["code"], "link::unknown-target");
}

#[test]
fn a_utility_is_tried_only_as_it_is_saved_and_after_consent() {
    let stage = Stage::new();
    let ask = |more: Value| {
        let mut body = json!({ "materia": "Say", "input": { "a": 1 } });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        stage.post("/api/utilities/try", &body)
    };
    // The project first, then this very program.
    let project = ask(json!({}));
    assert_eq!((project.status, &project.json()["code"]), (409, &json!("trust_required")));
    assert_eq!(ask(json!({ "consent": "0".repeat(64) })).status, 409);
    let hash = project.json()["questions"][0]["hash"].clone();
    let tried = ask(json!({ "consent": hash })).json();
    assert_eq!((&tried["exitCode"], &tried["output"]), (&json!(0), &json!({ "satisfied": true })));
    let again = ask(json!({}));
    assert_eq!(again.status, 409, "trusted or not, every trial is agreed to");
    let question = &again.json()["questions"][0];
    assert!(
        question["runs"][0].as_str().unwrap().starts_with("Say runs \"sh\" \"-c\""),
        "{question}"
    );
    assert_eq!(ask(json!({ "consent": question["hash"] })).status, 200);
    let agent = stage.post("/api/utilities/try", &json!({ "materia": "Talk", "input": {} }));
    assert_eq!((agent.status, &agent.json()["code"]), (400, &json!("usage")));
    let unknown = stage.post("/api/utilities/try", &json!({ "materia": "Nothing", "input": {} }));
    assert!(unknown.status >= 400, "{unknown:?}");
}

#[test]
fn what_changed_is_told_as_the_command_line_tells_it() {
    let stage = Stage::new();
    let to = LOOPED.replace("\"maxTraversals\": 2", "\"maxTraversals\": 3");
    let found = stage.post("/api/diff", &json!({ "from": LOOPED, "to": to })).json();
    assert_eq!(found["changed"][0]["kind"], "edge", "{found}");
    assert_eq!(found["changed"][0]["path"], "/loadouts/W/sockets/judge/edges/0");
    let comments = LOOPED.replace("// The workflow.", "// Another word.");
    let same = stage.post("/api/diff", &json!({ "from": LOOPED, "to": comments })).json();
    assert_eq!(same, json!({ "added": [], "removed": [], "changed": [] }));
    assert_eq!(stage.post("/api/diff", &json!({ "from": "[1]", "to": "{}" })).status, 422);
}

#[test]
fn a_cast_is_opened_as_a_walk_and_compared_with_its_fork() {
    let stage = Stage::new();
    stage.trust();
    stage.post("/api/casts", &json!({ "loadout": "Quick", "castId": "one" }));
    stage.until("one", "completed");
    let choices = stage.get("/api/casts/one/choices").json();
    assert_eq!(choices["loadout"], "Quick");
    let ends: Vec<&str> = choices["choices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|choice| choice["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(ends, ["satisfied", "satisfied"]);
    let body = json!({ "loadout": "Quick", "choices": choices["choices"] });
    assert_eq!(stage.post("/api/simulate", &body).json()["status"], "completed");
    stage.post("/api/casts/one/commands", &json!({ "do": "fork", "at": 6, "castId": "two" }));
    stage.until("two", "completed");
    let compared = stage.get("/api/casts/one/compare/two").json();
    assert_eq!(compared["forkedAt"], 6, "{compared}");
    assert!(
        compared["rows"].as_array().unwrap().iter().all(|row| row["verdict"] == "same"),
        "{compared}"
    );
    assert_eq!(stage.get("/api/casts/one/compare/none").status, 404);
}
