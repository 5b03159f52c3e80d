//! Every response matches `openapi.json`.

#![expect(clippy::wildcard_enum_match_arm, reason = "most endpoints need nothing in particular")]

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};

use materia_contract::api::{Answer as Shape, ENDPOINTS, Endpoint, Method, Name};
use serde_json::{Value, json};

use crate::stage::{Answer, CONFIG, Stage};
use crate::workspaces;

/// Violations of a schema; it knows the keywords that our schemas use, and no others. `whole`
/// forbids properties that the schema does not list.
fn faults(
    root: &Value,
    schema: &Value,
    (value, whole): (&Value, bool),
    at: &str,
    found: &mut Vec<String>,
) {
    let Some(rules) = schema.as_object() else {
        if schema == &json!(false) {
            found.push(format!("{at}: nothing may stand here"));
        }
        return;
    };
    let fits = |schema: &Value| {
        let mut found = Vec::new();
        faults(root, schema, (value, false), at, &mut found);
        found.is_empty()
    };
    for (rule, says) in rules {
        let list = || says.as_array().unwrap().iter();
        match rule.as_str() {
            "$ref" => {
                let pointer = says.as_str().unwrap().trim_start_matches('#');
                let referred = root.pointer(pointer).unwrap();
                faults(root, referred, (value, whole && rules.len() == 1), at, found);
            }
            "allOf" => list().for_each(|one| faults(root, one, (value, false), at, found)),
            "anyOf" if !list().any(fits) => found.push(format!("{at}: fits none: {value}")),
            "oneOf" if list().filter(|one| fits(one)).count() != 1 => {
                found.push(format!("{at}: fits not one of them: {value}"));
            }
            "enum" if !list().any(|one| one == value) => found.push(format!("{at}: {value}")),
            "const" if says != value => found.push(format!("{at}: {value} is not {says}")),
            "type" => {
                let is = |kind: &str| match kind {
                    "null" => value.is_null(),
                    "boolean" => value.is_boolean(),
                    "integer" => value.is_u64() || value.is_i64(),
                    "number" => value.is_number(),
                    "string" => value.is_string(),
                    "array" => value.is_array(),
                    "object" => value.is_object(),
                    other => panic!("{other}"),
                };
                let kinds = says.as_array().cloned().unwrap_or_else(|| vec![says.clone()]);
                if !kinds.iter().any(|kind| is(kind.as_str().unwrap())) {
                    found.push(format!("{at}: {value} is no {says}"));
                }
            }
            "required" => {
                if let Some(fields) = value.as_object() {
                    let missing =
                        list().filter(|name| !fields.contains_key(name.as_str().unwrap()));
                    found.extend(missing.map(|name| format!("{at}: {name} is missing")));
                }
            }
            "items" => {
                for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                    faults(root, says, (item, true), &format!("{at}/{number}"), found);
                }
            }
            _ => {}
        }
    }
    let known = rules.get("properties").and_then(Value::as_object);
    for (name, field) in value.as_object().into_iter().flatten() {
        let at = format!("{at}/{name}");
        match (known.and_then(|known| known.get(name)), rules.get("additionalProperties")) {
            (Some(schema), _) | (None, Some(schema)) => {
                faults(root, schema, (field, true), &at, found);
            }
            // What no schema names would be overlooked by whoever reads by it.
            (None, None) if whole && known.is_some() && !is_part(rules) => {
                found.push(format!("{at}: not described"));
            }
            (None, None) => {}
        }
    }
}

/// Whether a schema says only a part of what an object has.
fn is_part(rules: &serde_json::Map<String, Value>) -> bool {
    ["allOf", "anyOf", "oneOf", "$ref"].iter().any(|word| rules.contains_key(*word))
}

fn check(described: &Value, endpoint: &Endpoint, answer: &Answer) {
    let (path, method) = (endpoint.path.replace("{*", "{"), endpoint.method.word());
    let told = &described["paths"][&path][method.to_ascii_lowercase()]["responses"];
    let kind = answer.head.lines().find_map(|line| line.strip_prefix("content-type: ")).unwrap();
    let (body, status) = match told.get(answer.status.to_string()) {
        Some(body) => (body, true),
        None => (&told["default"], answer.status >= 400),
    };
    assert!(status, "{method} {path}: {} is not described", answer.status);
    let content = body["content"].get(kind);
    let content = content.unwrap_or_else(|| panic!("{method} {path}: {kind} is not described"));
    if let Some(schema) = content.get("schema").filter(|_| kind.ends_with("json")) {
        let mut found = Vec::new();
        faults(described, schema, (&answer.json(), true), "", &mut found);
        assert!(found.is_empty(), "{method} {path}: {found:#?}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one request of each kind")]
fn every_answer_is_as_it_is_described() {
    let stage = Stage::new();
    stage.trust();
    workspaces::repository(&stage.project());
    let own = json!({ "loadout": "Quick", "castId": "own", "workspace": "own", "request": "x" });
    stage.post("/api/casts", &own);
    stage.until("own", "completed");
    // Long enough to be kept apart, under its hash.
    let request = "x".repeat(70_000);
    for (id, loadout, status) in
        [("one", "Quick", "completed"), ("asks", "Asks", "waiting"), ("two", "Quick", "completed")]
    {
        let start = json!({ "loadout": loadout, "castId": id, "request": request });
        stage.post("/api/casts", &start);
        stage.until(id, status);
    }
    let created = stage.get("/api/casts/one/events?limit=1").body;
    let blob = created.split("\"$blob\":\"").nth(1).unwrap()[..64].to_owned();
    let code = stage.post("/api/codes", &json!({})).json()["code"].clone();
    let agreed = stage.post("/api/utilities/try", &json!({ "materia": "Say", "input": {} })).json();
    let agreed = agreed["questions"][0]["hash"].clone();
    let described = stage.get("/api/openapi.json").json();
    let turn =
        stage.get("/api/casts/one/events?type=turn.started").json()["items"][0]["seq"].clone();
    let sent = stage.get("/api/casts/one/events?type=handoff.sent").json();
    let file = stage.get("/api/casts/one/files").json()["items"][0]["path"].clone();
    let project = stage.get("/api/projects").json()["items"][0]["id"].clone();
    let config = stage.get("/api/config").json()["items"].as_array().unwrap().clone();
    let own = config.iter().find(|it| it["layer"] == "project").unwrap().clone();
    let text = own["text"].as_str().unwrap();
    let draft = json!({ "layer": "project", "file": "materia.json", "base": own["hash"], "text": text, "history": [] });
    let kept = stage.ask("PUT", "/api/drafts/d0", "If-Match: 0\r\n", &draft.to_string());
    assert_eq!(kept.status, 200, "{kept:?}");
    let mut seen = BTreeSet::new();
    for endpoint in ENDPOINTS {
        let id = match endpoint.name {
            Name::Draft => "d0",
            Name::KeepDraft | Name::DropDraft => "d1",
            Name::Workspace | Name::WorkspaceDiff | Name::ApplyWorkspace | Name::DropWorkspace => {
                "own"
            }
            _ => "one",
        };
        let seq = if endpoint.name == Name::Sent { &sent["items"][0]["seq"] } else { &turn };
        let path = endpoint
            .path
            .replace("{id}", id)
            .replace("{seq}", &seq.to_string())
            .replace("{node}", "A")
            .replace("{*path}", file.as_str().unwrap_or("none"))
            .replace("{other}", "two")
            .replace("{name}", "Quick")
            .replace("{layer}/{*file}", "project/materia.json")
            .replace("{project}", project.as_str().unwrap())
            .replace("{hash}", &blob);
        let body = match endpoint.name {
            Name::AddProject => json!({ "dir": stage.project() }),
            Name::Start => json!({ "loadout": "Quick" }),
            Name::Act => json!({ "do": "fork", "at": 3 }),
            Name::SaveConfig => json!({ "text": text }),
            Name::Check => json!({ "files": {}, "loadout": "Quick" }),
            Name::KeepDraft => draft.clone(),
            Name::Diff => json!({ "from": text, "to": "{}" }),
            Name::Simulate => {
                json!({ "loadout": "Quick", "request": "x", "files": {}, "choices": [] })
            }
            Name::Explore => json!({ "loadout": "Quick", "files": {} }),
            Name::Link => json!({ "parts": ["Quick", "Quick"], "files": {} }),
            Name::DropWorkspace => json!({ "confirm": true }),
            Name::Session => json!({ "code": code }),
            Name::Try => json!({ "materia": "Say", "input": {}, "consent": agreed }),
            _ => json!({}),
        };
        let hash = match endpoint.name {
            Name::SaveConfig => own["hash"].as_str().unwrap().to_owned(),
            Name::DropDraft => "1".to_owned(),
            _ => "0".to_owned(),
        };
        let answer = match (endpoint.answer, endpoint.name) {
            (Shape::Events(_), _) | (_, Name::Stop | Name::RemoveProject) => continue,
            (_, Name::AddProject) => stage.as_person("POST", &path, &body),
            _ if endpoint.method == Method::Get => stage.get(&path),
            _ => {
                let more = format!("If-Match: {hash}\r\n");
                stage.ask(endpoint.method.word(), &path, &more, &body.to_string())
            }
        };
        check(&described, endpoint, &answer);
        if answer.status < 400 {
            seen.insert(endpoint.name);
        }
    }
    // Those that are refused here are refused as it is described; the others were done.
    let refused: Vec<Name> = ENDPOINTS
        .iter()
        .map(|it| it.name)
        .filter(|name| !seen.contains(name))
        .filter(|name| {
            !matches!(name, Name::Stream | Name::Changes | Name::Stop | Name::RemoveProject)
        })
        .collect();
    assert_eq!(refused, [Name::Drive, Name::Approve, Name::StartDemo]);
    answers_of_a_fresh_server(&described);
    let said = json!({ "do": "say", "node": "A", "text": "x" });
    let act = ENDPOINTS.iter().find(|it| it.name == Name::Act).unwrap();
    check(&described, act, &stage.post("/api/casts/asks/commands", &said));
    let hash = stage.get("/api/inbox").json()["items"][0]["approval"]["hash"].clone();
    let approve = json!({ "do": "approve", "node": "A", "hash": hash });
    let approved = stage.post("/api/casts/asks/commands", &approve);
    check(&described, act, &approved);
    // What was said has made another question, which the answer names.
    let approve =
        json!({ "do": "approve", "node": "A", "hash": approved.json()["questions"][0]["hash"] });
    assert_eq!(stage.post("/api/casts/asks/commands", &approve).status, 200, "{approved:?}");
    for (name, path) in [
        (Name::Casts, "/api/casts?limit=2"),
        (Name::Events, "/api/casts/asks/events?order=desc&limit=3"),
        (Name::Cast, "/api/casts/asks?at=2"),
        (Name::Why, "/api/casts/asks/nodes/A/why"),
        (Name::Health, "/api/health?nonce=abc"),
    ] {
        let endpoint = ENDPOINTS.iter().find(|it| it.name == name).unwrap();
        check(&described, endpoint, &stage.get(path));
    }
    let remove = ENDPOINTS.iter().find(|it| it.name == Name::RemoveProject).unwrap();
    let path = format!("/api/projects/{}", project.as_str().unwrap());
    stage.until("asks", "completed");
    check(&described, remove, &stage.ask("DELETE", &path, "", "{}"));
}

/// The data of every event that both streams carry is as it is described.
#[test]
fn every_event_of_a_stream_is_as_it_is_described() {
    let mut config: Value = serde_json::from_str(CONFIG).unwrap();
    // It says something until it is heard.
    let waits = "while ! [ -e seen ]; do echo heard; sleep 0.02; done";
    config["materia"]["Waits"] =
        json!({ "type": "utility", "command": ["sh", "-c", waits], "timeoutMs": 600_000 });
    config["loadouts"]["Waits"] =
        json!({ "entry": "A", "sockets": { "A": { "materia": "Waits" } } });
    let stage = Stage::new();
    std::fs::write(stage.project().join("materia.json"), config.to_string()).unwrap();
    stage.trust();
    let described = stage.get("/api/openapi.json").json();
    stage.post("/api/casts", &json!({ "loadout": "Waits", "castId": "one" }));
    for (name, path, kinds) in [
        (Name::Stream, "/api/casts/one/stream", &["journal", "live"][..]),
        (Name::Changes, "/api/stream?cast=one", &["cast", "journal", "live"]),
    ] {
        let endpoint = ENDPOINTS.iter().find(|it| it.name == name).unwrap();
        let told = &described["paths"][endpoint.path]["get"]["responses"]["200"]["content"];
        let shapes = &told["text/event-stream"]["x-events"];
        assert_eq!(shapes.as_object().unwrap().keys().collect::<Vec<_>>(), kinds);
        let (mut seen, mut kind) = (BTreeSet::new(), String::new());
        let mut stream = stage.connect();
        let (host, token) = (stage.host(), &stage.server.token);
        let asked =
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n");
        stream.write_all(asked.as_bytes()).unwrap();
        for line in BufReader::new(stream).lines().map(Result::unwrap) {
            if let Some(named) = line.strip_prefix("event: ") {
                named.clone_into(&mut kind);
            } else if let Some(data) = line.strip_prefix("data: ") {
                let (value, mut found) = (serde_json::from_str(data).unwrap(), Vec::new());
                faults(&described, &shapes[&kind], (&value, true), &kind, &mut found);
                assert!(found.is_empty(), "{path}: {found:#?}");
                seen.insert(kind.clone());
                if seen.len() == kinds.len() {
                    break;
                }
            }
        }
        assert_eq!(seen.iter().collect::<Vec<_>>(), kinds);
    }
    std::fs::write(stage.project().join("seen"), "").unwrap();
    stage.until("one", "completed");
    // Every kind of event that is in the journal, too.
    let shape = &described["components"]["schemas"]["EventLine"];
    for event in stage.get("/api/casts/one/events").json()["items"].as_array().unwrap() {
        let mut found = Vec::new();
        faults(&described, shape, (event, true), "", &mut found);
        assert!(found.is_empty(), "{event}: {found:#?}");
    }
}

/// The good answers of what a server does once, or only before everything is trusted.
fn answers_of_a_fresh_server(described: &Value) {
    let stage = Stage::with_demo();
    let done = |name: Name, path: &str, body: &Value| {
        let endpoint = ENDPOINTS.iter().find(|it| it.name == name).unwrap();
        let answer = stage.ask(endpoint.method.word(), path, "", &body.to_string());
        assert!(answer.status < 300, "{answer:?}");
        check(described, endpoint, &answer);
        answer
    };
    let hash = stage.get("/api/trust").json()["items"][0]["hash"].clone();
    done(Name::Approve, "/api/trust", &json!({ "hash": hash }));
    stage.post("/api/casts", &json!({ "loadout": "Asks", "castId": "asks" }));
    stage.until("asks", "waiting");
    done(Name::Drive, "/api/casts/asks/drive", &json!({}));
    let demo = done(Name::StartDemo, "/api/demo", &json!({})).json();
    stage.until(demo["castId"].as_str().unwrap(), "completed");
    done(Name::Stop, "/api/stop", &json!({}));
}
