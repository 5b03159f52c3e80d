//! Starting casts and doing things to them: each once under its key, whatever becomes of connections and servers.

use std::fs;
use std::io::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::stage::{CONFIG, Stage};

#[test]
fn nothing_runs_before_it_was_approved_by_its_hash() {
    let stage = Stage::new();
    let start = json!({ "loadout": "Quick", "castId": "one" });
    let refused = stage.post_as("k", "/api/casts", &start);
    assert_eq!((refused.status, refused.json()["code"].as_str()), (409, Some("trust_required")));
    let question = refused.json()["questions"][0].clone();
    assert!(question["text"].as_str().unwrap().contains("satisfied"), "{question}");
    assert!(!stage.project().join(".materia").exists(), "nothing was written");
    assert_eq!(stage.post("/api/trust", &json!({ "hash": "0".repeat(64) })).status, 409);
    let hash = question["hash"].as_str().unwrap();
    let approved = stage.post("/api/trust", &json!({ "hash": hash }));
    assert_eq!(approved.json()["hash"], hash);
    let started = stage.post_as("k", "/api/casts", &start);
    assert_eq!(started.status, 201, "{started:?}");
    assert_eq!(stage.until("one", "completed")["sockets"][0]["state"], "done");
    // What is saved over HTTP is not trusted by that.
    let config = stage.get("/api/config").json();
    let file = config["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["layer"] == "project")
        .unwrap()
        .clone();
    let text = file["text"].as_str().unwrap().replace("echo", "printf %s");
    let hash = format!("If-Match: \"{}\"\r\n", file["hash"].as_str().unwrap());
    let saved = stage.ask(
        "PUT",
        "/api/config/project/materia.json",
        &hash,
        &json!({ "text": text }).to_string(),
    );
    assert_eq!(saved.status, 200, "{saved:?}");
    assert_eq!(fs::read_to_string(stage.project().join("materia.json")).unwrap(), text);
    assert_eq!(
        stage.post("/api/casts", &json!({ "loadout": "Quick" })).json()["code"],
        "trust_required"
    );
    let late = stage.ask(
        "PUT",
        "/api/config/project/materia.json",
        &hash,
        &json!({ "text": "{}" }).to_string(),
    );
    assert_eq!(late.status, 412, "{late:?}");
    assert_eq!(
        (late.json()["yours"].as_str(), late.json()["theirs"]["text"].as_str()),
        (Some("{}"), Some(text.as_str()))
    );
}

#[test]
fn nothing_executable_and_no_path_comes_in_with_a_request() {
    let stage = Stage::new();
    stage.trust();
    for body in [
        json!({ "loadout": "Quick", "script": "/etc/passwd" }),
        json!({ "loadout": "Quick", "replay": "x" }),
        json!({ "loadout": "Quick", "record": "x" }),
        json!({ "loadout": "Quick", "config": "x.json" }),
        json!({ "loadout": "Quick", "command": ["sh"] }),
        json!({ "loadout": "../../x" }),
        json!({ "loadout": "Quick", "castId": "../x" }),
        json!({ "loadout": "Quick", "link": ["Say"] }),
        json!({ "loadout": { "entry": "A" } }),
    ] {
        let answer = stage.post("/api/casts", &body);
        assert_eq!(answer.status, 422, "{body}: {answer:?}");
    }
    for path in [
        "/api/config/project/..%20x",
        "/api/config/project/other.json",
        "/api/config/shipped/(shipped)",
    ] {
        let answer =
            stage.ask("PUT", path, "If-Match: x\r\n", &json!({ "text": "{}" }).to_string());
        assert!(matches!(answer.status, 400 | 404 | 409 | 412), "{path}: {answer:?}");
    }
    assert_eq!(stage.get("/api/casts").json()["items"], json!([]));
}

#[test]
fn a_cast_is_handed_over_to_go_on_and_for_nothing_else() {
    let stage = Stage::new();
    stage.trust();
    stage.post("/api/casts", &json!({ "loadout": "Asks", "castId": "asks" }));
    stage.until("asks", "waiting");
    for body in [
        json!({ "do": { "do": "approve", "node": "A" } }),
        json!({ "do": { "do": "abort" } }),
        json!({ "config": "evil.json" }),
        json!({ "script": "x" }),
    ] {
        let answer = stage.post("/api/casts/asks/drive", &body);
        assert_eq!(answer.status, 422, "{body}: {answer:?}");
    }
    assert_eq!(stage.get("/api/casts/asks").json()["status"], "waiting");
    let answer =
        stage.post("/api/casts/asks/drive", &json!({ "needs": ["MATERIA_NO_SUCH_VARIABLE"] }));
    assert_eq!(answer.status, 409, "{answer:?}");
    assert!(answer.body.contains("MATERIA_NO_SUCH_VARIABLE"), "{answer:?}");
}

#[test]
fn a_key_acts_once_also_after_the_server_began_anew() {
    let mut stage = Stage::new();
    stage.trust();
    let start = json!({ "loadout": "Asks" });
    let first = stage.post_as("start-1", "/api/casts", &start).json();
    let id = first["castId"].as_str().unwrap().to_owned();
    stage.until(&id, "waiting");
    assert_eq!(stage.post_as("start-1", "/api/casts", &start).json()["castId"], id.as_str());
    assert_eq!(stage.post_as("start-1", "/api/casts", &json!({ "loadout": "Quick" })).status, 422);
    let bad = json!({ "loadout": "none such" });
    let refused = stage.post_as("start-2", "/api/casts", &bad);
    assert_eq!(refused.status, 422);
    let inbox = stage.get("/api/inbox").json();
    let hash = inbox["items"][0]["approval"]["hash"].clone();
    assert_eq!(inbox["items"][0]["reason"], "approval");
    let commands = format!("/api/casts/{id}/commands");
    let approve = json!({ "do": "approve", "node": "A", "hash": hash });
    let wrong = stage.post_as(
        "wrong",
        &commands,
        &json!({ "do": "approve", "node": "A", "hash": "0".repeat(64) }),
    );
    assert_eq!(wrong.status, 409, "{wrong:?}");
    let done = stage.post_as("act-1", &commands, &approve);
    assert_eq!(done.status, 200, "{done:?}");
    stage.until(&id, "completed");
    stage.end();
    stage.begin();
    assert_eq!(stage.post_as("start-1", "/api/casts", &start).json()["castId"], id.as_str());
    assert_eq!(stage.post_as("start-1", "/api/casts", &json!({ "loadout": "Quick" })).status, 422);
    let again = stage.post_as("start-2", "/api/casts", &bad);
    assert_eq!(
        (again.status, again.json()),
        (422, refused.json()),
        "a refused start keeps its key with the refusal"
    );
    assert_eq!(stage.post_as("act-1", &commands, &approve).json(), done.json());
    assert_eq!(stage.post_as("act-1", &commands, &json!({ "do": "pause" })).status, 422);
    assert_eq!(
        stage
            .post_as(
                "wrong",
                &commands,
                &json!({ "do": "approve", "node": "A", "hash": "0".repeat(64) })
            )
            .status,
        409
    );
    let events = stage.get(&format!("/api/casts/{id}/events?type=approval&limit=1000")).json();
    let granted = events["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["type"] == "approval.given")
        .count();
    assert_eq!(granted, 1, "{events}");
}

#[test]
fn whoever_answers_a_question_that_has_changed_hears_what_it_is_now() {
    let stage = Stage::new();
    stage.trust();
    stage.post("/api/casts", &json!({ "loadout": "Asks", "castId": "asks" }));
    stage.until("asks", "waiting");
    let shown = || {
        let inbox = stage.get("/api/inbox").json();
        inbox["items"][0]["approval"]["hash"].as_str().unwrap().to_owned()
    };
    let path = "/api/casts/asks/commands";
    let approve = |hash: &str| json!({ "do": "approve", "node": "A", "hash": hash });
    let before = shown();
    let said = json!({ "do": "say", "node": "A", "text": "and this" });
    assert_eq!(stage.post(path, &said).status, 200);
    let answer = stage.post_as("a1", path, &approve(&before));
    if answer.status == 409 {
        // The question had changed with what was said, and the answer to the old one counts for nothing.
        assert!(answer.body.contains(&shown()), "{answer:?}");
    } else {
        assert_eq!(answer.json()["questions"][0]["hash"], shown(), "{answer:?}");
    }
    assert_ne!(shown(), before);
    assert_eq!(stage.post_as("a1", path, &approve(&before)).body, answer.body, "the same again");
    let answer = stage.post_as("a2", path, &approve(&shown()));
    assert_eq!((answer.status, &answer.json()["questions"]), (200, &Value::Null), "{answer:?}");
    stage.until("asks", "completed");
}

#[test]
fn commands_over_connections_that_break_act_once_each() {
    let stage = Stage::new();
    stage.trust();
    let id = stage.post("/api/casts", &json!({ "loadout": "Asks" })).json()["castId"]
        .as_str()
        .unwrap()
        .to_owned();
    stage.until(&id, "waiting");
    let path = format!("/api/casts/{id}/commands");
    let mut dice = 7_u64;
    let mut roll = move |most: u64| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) % most
    };
    let count = if std::env::var_os("MATERIA_LONG").is_some() { 1_000 } else { 200 };
    for number in 0..count {
        let body =
            json!({ "do": "say", "node": "A", "text": format!("word {number}.") }).to_string();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nIdempotency-Key: key-{number}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            stage.host(),
            stage.server.token,
            body.len()
        );
        for _ in 0..roll(3) {
            let mut stream = stage.connect();
            // Cut off anywhere: before, in the middle of, or behind the request.
            let cut = usize::try_from(roll(request.len() as u64 + 40)).unwrap().min(request.len());
            let _ = stream.write_all(&request.as_bytes()[..cut]);
            drop(stream);
        }
        let answer = stage.raw(request.as_bytes());
        assert_eq!(answer.status, 200, "{number}: {answer:?}");
    }
    let events =
        stage.get(&format!("/api/casts/{id}/events?type=message.received&limit=1000")).json();
    let words: Vec<String> =
        events["items"].as_array().unwrap().iter().map(|it| it["data"].to_string()).collect();
    for number in 0..count {
        let said = words.iter().filter(|word| word.contains(&format!("word {number}."))).count();
        assert_eq!(said, 1, "word {number}");
    }
}

#[test]
fn casts_rest_when_the_server_ends_and_a_person_carries_them_on() {
    let mut stage = Stage::new();
    stage.trust();
    let start = json!({ "loadout": "Long", "castId": "long" });
    assert_eq!(stage.post("/api/casts", &start).status, 201);
    std::thread::sleep(Duration::from_millis(100));
    stage.end();
    assert!(!stage.state().join("server.json").exists());
    stage.begin();
    let cast = stage.get("/api/casts/long").json();
    assert_eq!(cast["status"], "waiting", "as after Ctrl-C: {cast}");
    let resumed = stage.post("/api/casts/long/commands", &json!({ "do": "resume" }));
    assert_eq!(resumed.status, 200, "{resumed:?}");
    stage.until("long", "completed");
    let forked = stage.post_as(
        "f",
        "/api/casts/long/commands",
        &json!({ "do": "fork", "at": 4, "castId": "fork" }),
    );
    assert_eq!(forked.json()["castId"], "fork", "{forked:?}");
    assert_eq!(
        stage
            .post_as(
                "f",
                "/api/casts/long/commands",
                &json!({ "do": "fork", "at": 4, "castId": "fork" })
            )
            .status,
        200
    );
    stage.until("fork", "completed");
    let list: Value = stage.get("/api/casts?text=fork&status=completed").json();
    assert_eq!(list["items"].as_array().unwrap().len(), 1, "{list}");
}

/// A fork without a place is made before the turn that failed (D71), and the same key gets the same answer.
#[test]
fn a_failed_cast_is_forked_before_the_turn_that_failed() {
    let mut config: Value = serde_json::from_str(CONFIG).unwrap();
    config["materia"]["Breaks"] = json!({ "type": "utility", "command": ["false"] });
    config["loadouts"]["Breaks"] = json!({ "entry": "A", "sockets": {
        "A": { "materia": "Say", "parse": "json", "edges": [{ "to": "B" }] },
        "B": { "materia": "Breaks" },
    } });
    let stage = Stage::new();
    std::fs::write(stage.project().join("materia.json"), config.to_string()).unwrap();
    stage.trust();
    stage.post("/api/casts", &json!({ "loadout": "Breaks", "castId": "broken" }));
    stage.until("broken", "failed");
    let events = stage.get("/api/casts/broken/events?type=turn.started").json();
    let last = events["items"][1]["seq"].as_u64().unwrap();
    let ask = || {
        let body = json!({ "do": "fork", "castId": "again" });
        stage.post_as("fork-1", "/api/casts/broken/commands", &body)
    };
    let forked = ask();
    assert_eq!(forked.json()["castId"], "again", "{forked:?}");
    let at = forked.json()["events"][1].as_u64().unwrap();
    assert!(at < last && last - at <= 3, "{at} before {last}");
    stage.until("again", "failed");
    assert_eq!(ask().json(), forked.json());

    stage.post("/api/casts", &json!({ "loadout": "Quick", "castId": "fine" }));
    stage.until("fine", "completed");
    let refused = stage.post("/api/casts/fine/commands", &json!({ "do": "fork" }));
    assert_eq!(refused.status, 400, "{refused:?}");
    assert!(refused.body.contains("suitable events"), "{refused:?}");
}

#[test]
fn one_server_a_state_folder() {
    let stage = Stage::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let open: materia_server::OpenProject =
        std::sync::Arc::new(|_| Err(materia_app::Failure::usage("none")));
    let settings = materia_server::Settings {
        listen: materia_server::Listen::parse("127.0.0.1:0").unwrap(),
        projects: Vec::new(),
        open,
        state_dir: stage.state(),
        supervisor: "/none".into(),
        test_hooks: false,
        page_dir: None,
        demo: None,
        resume: false,
        version: "test".to_owned(),
    };
    let Err(error) = runtime.block_on(materia_server::serve(settings)) else {
        panic!("two servers")
    };
    assert!(error.to_string().contains(&stage.server.url), "{error}");
}

/// Acts that arrive while casts end are done or refused, and whoever sent one hears which, now and whenever he asks again.
#[test]
fn acts_on_casts_that_end_are_answered() {
    let stage = Stage::new();
    stage.trust();
    let acts = [
        json!({ "do": "say", "node": "A", "text": "hello" }),
        json!({ "do": "pause" }),
        json!({ "do": "mode", "value": "AUTO" }),
        json!({ "do": "globalMode", "value": "PLANNING" }),
        json!({ "do": "budget", "budget": { "maxTurns": 99 } }),
        json!({ "do": "approve", "node": "A" }),
        json!({ "do": "continue" }),
        json!({ "do": "skip" }),
    ];
    let (mut done, mut refused) = (0, 0);
    for nth in 0..8 {
        let id = format!("ends-{nth}");
        let start = json!({ "loadout": "Quick", "castId": id });
        assert_eq!(stage.post_as(&id, "/api/casts", &start).status, 201);
        let path = format!("/api/casts/{id}/commands");
        // Until well behind the end.
        let mut heard = Vec::new();
        for (place, act) in acts.iter().cycle().skip(nth).take(2 * acts.len()).enumerate() {
            let key = format!("{id}-{place}");
            let answer = stage.post_as(&key, &path, act);
            match answer.status {
                200 => done += 1,
                409 => refused += 1,
                _ => panic!("{id} {act}: {answer:?}"),
            }
            heard.push((key, act, answer));
        }
        stage.post_as(&format!("{id}-end"), &path, &json!({ "do": "mode", "value": "AUTO" }));
        stage.until(&id, "completed");
        for (key, act, answer) in heard.into_iter().filter(|(_, act, _)| act["do"] != "approve") {
            let again = stage.post_as(&key, &path, act);
            assert_eq!(again.status, answer.status, "{key} {act}: {answer:?} and then {again:?}");
        }
        let late = stage.post_as(&format!("{id}-late"), &path, &json!({ "do": "pause" }));
        assert_eq!(late.status, 409, "{late:?}");
        assert!(late.json()["detail"].as_str().unwrap().contains("it is completed"), "{late:?}");
    }
    assert!(refused > 0, "{done} done, {refused} refused");
}
