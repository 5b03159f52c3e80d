//! Connections that break, and many who act at once: what has begun comes to its end, once for its key.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::stage::{Answer, Stage};

/// Sends a request under a key and leaves after a while, without having read anything.
fn send_and_leave(stage: &Stage, key: &str, path: &str, body: &Value, after: Duration) {
    let mut stream = stage.connect();
    let _ = stream.write_all(&request(stage, key, path, body));
    std::thread::sleep(after);
}

fn request(stage: &Stage, key: &str, path: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nIdempotency-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        stage.host(),
        stage.server.token,
        body.len()
    )
    .into_bytes()
}

fn id_of(answer: &Answer) -> String {
    answer.json()["castId"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

fn all_ids(stage: &Stage) -> BTreeSet<String> {
    let list = stage.get("/api/casts?limit=1000").json();
    let items = list["items"].as_array().unwrap().iter();
    items.map(|it| it["castId"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_key_begins_one_cast_or_fork_although_its_connections_break() {
    let mut stage = Stage::new();
    stage.trust();
    stage.post("/api/casts", &json!({ "loadout": "Quick", "castId": "first" }));
    stage.until("first", "completed");
    let start = ("/api/casts", json!({ "loadout": "Quick" }));
    let fork = ("/api/casts/first/commands", json!({ "do": "fork", "at": 3 }));
    let mut known = Vec::new();
    for number in 0..30_u64 {
        let (path, body) = if number % 3 == 2 { &fork } else { &start };
        let key = format!("key-{number}");
        for again in 0..2 {
            let after = Duration::from_millis(1 + (number * 7 + again * 5) % 20);
            send_and_leave(&stage, &key, path, body, after);
        }
        let answer = stage.post_as(&key, path, body);
        assert!(matches!(answer.status, 200 | 201), "{key}: {answer:?}");
        known.push((key, *path, body.clone(), id_of(&answer)));
    }
    let ids: BTreeSet<String> = known.iter().map(|it| it.3.clone()).collect();
    assert_eq!(ids.len(), known.len(), "one cast a key");
    let mut all = all_ids(&stage);
    assert!(all.remove("first"));
    assert_eq!(all, ids, "and no other cast");
    stage.end();
    stage.begin();
    for (key, path, body, id) in &known {
        assert_eq!(id_of(&stage.post_as(key, path, body)), *id, "{key} after a restart");
    }
    let other = stage.post_as("key-2", "/api/casts", &json!({ "loadout": "Quick" }));
    assert_eq!(other.status, 422, "a fork's key begins no cast: {other:?}");
}

#[test]
fn a_request_that_was_left_alone_is_done_before_the_server_ends() {
    let mut stage = Stage::new();
    stage.trust();
    for number in 0..6 {
        let body = json!({ "loadout": "Long" });
        send_and_leave(
            &stage,
            &format!("k{number}"),
            "/api/casts",
            &body,
            Duration::from_millis(4),
        );
    }
    stage.end();
    stage.begin();
    for number in 0..6 {
        let answer =
            stage.post_as(&format!("k{number}"), "/api/casts", &json!({ "loadout": "Long" }));
        assert_eq!(answer.status, 201, "{answer:?}");
    }
    assert_eq!(all_ids(&stage).len(), 6);
}

/// Asks all of these at once, each under a key of its own.
fn at_once(stage: &Stage, name: &str, path: &str, bodies: &[Value]) -> Vec<Answer> {
    let start = std::sync::Barrier::new(bodies.len());
    let ask = |(number, body): (usize, &Value)| {
        start.wait();
        stage.post_as(&format!("{name}-{number}"), path, body)
    };
    let ask = &ask;
    std::thread::scope(|scope| {
        let all = bodies.iter().enumerate();
        let asked: Vec<_> = all.map(|it| scope.spawn(move || ask(it))).collect();
        asked.into_iter().map(|it| it.join().unwrap()).collect()
    })
}

#[test]
fn acts_at_once_on_a_cast_that_nobody_drives_are_each_answered() {
    let stage = Stage::new();
    stage.trust();
    stage.post("/api/casts", &json!({ "loadout": "Asks", "castId": "asks" }));
    stage.until("asks", "waiting");
    let path = "/api/casts/asks/commands";
    let word = |number: usize| json!({ "do": "say", "node": "A", "text": format!("w{number}.") });
    let words: Vec<Value> = (0..32).map(word).collect();
    let begun = Instant::now();
    let answers = at_once(&stage, "say", path, &words);
    assert!(begun.elapsed() < Duration::from_secs(18), "somebody waited: {:?}", begun.elapsed());
    let mut places = BTreeSet::new();
    for answer in &answers {
        assert_eq!(answer.status, 200, "{answer:?}");
        let event = answer.json()["events"][0].as_u64().unwrap_or_else(|| panic!("{answer:?}"));
        assert!(places.insert(event), "each has events of its own");
    }
    // One of these ends it; the others hear that.
    let ends: Vec<Value> = (0..8)
        .map(|number| match number % 2 {
            0 => json!({ "do": "abort" }),
            _ => json!({ "do": "pause" }),
        })
        .collect();
    let ended = at_once(&stage, "end", path, &ends);
    assert!(ended.iter().all(|it| matches!(it.status, 200 | 409)), "{ended:?}");
    let aborted = ended.iter().step_by(2).filter(|it| it.status == 200).count();
    assert_eq!(aborted, 1, "{ended:?}");
    stage.until("asks", "aborted");
    let late = stage.post_as("late", path, &word(99));
    assert_eq!(late.status, 409, "{late:?}");
}

#[test]
fn a_body_that_is_announced_too_large_is_not_waited_for() {
    let stage = Stage::new();
    for (method, path, length) in [
        ("POST", "/api/casts", (1 << 20) + 1),
        ("PUT", "/api/config/project/materia.json", (4 << 20) + 1),
        ("GET", "/api/casts", 1),
        ("POST", "/api/session", 1_u64 << 40),
    ] {
        let begun = Instant::now();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n",
            stage.host(),
            stage.server.token
        );
        let answer = stage.raw(head.as_bytes());
        assert_eq!(answer.status, 413, "{method} {path}: {answer:?}");
        assert!(answer.head.contains("connection: close"), "{answer:?}");
        assert!(begun.elapsed() < Duration::from_secs(15), "it was waited for");
    }
}
