//! Streams: every event once, in order, however often a reader is cut off.

use std::io::{BufRead as _, BufReader, Write as _};
use std::time::Duration;

use serde_json::{Value, json};

use crate::stage::Stage;

/// Reads a stream from behind an event until it has `most` further ones, or the cast has ended; gives their places.
fn read(stage: &Stage, id: &str, after: u64, most: usize) -> (Vec<u64>, bool) {
    let mut stream = stage.connect();
    let header = if after > 0 { format!("Last-Event-ID: {after}\r\n") } else { String::new() };
    let request = format!(
        "GET /api/casts/{id}/stream HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{header}\r\n",
        stage.host(),
        stage.server.token
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut seen = Vec::new();
    let mut id_line = None;
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { break };
        if let Some(id) = line.strip_prefix("id: ") {
            id_line = id.parse().ok();
        }
        if let Some(data) = line.strip_prefix("data: ") {
            let event: Value = serde_json::from_str(data).unwrap();
            let Some(seq) = event["seq"].as_u64() else { continue };
            assert_eq!(id_line, Some(seq));
            seen.push(seq);
            if event["type"] == "run.completed" {
                return (seen, true);
            }
            if seen.len() >= most {
                return (seen, false);
            }
        }
    }
    (seen, false)
}

#[test]
fn readers_that_are_cut_off_end_with_every_event_once_and_in_order() {
    let stage = Stage::new();
    stage.trust();
    let ids: Vec<String> = (0..4).map(|number| format!("cast-{number}")).collect();
    for id in &ids {
        assert_eq!(
            stage.post("/api/casts", &json!({ "loadout": "Long", "castId": id })).status,
            201
        );
    }
    std::thread::scope(|scope| {
        for (number, id) in ids.iter().enumerate() {
            for reader in 0..3 {
                let stage = &stage;
                scope.spawn(move || {
                    let (mut all, mut dice) = (Vec::new(), (number * 7 + reader * 3) % 5);
                    loop {
                        dice = (dice * 5 + 3) % 7;
                        let (seen, ended) =
                            read(stage, id, all.last().copied().unwrap_or(0), 1 + dice);
                        all.extend(seen);
                        if ended {
                            break;
                        }
                    }
                    let expected: Vec<u64> = (1..=all.len() as u64).collect();
                    assert_eq!(all, expected, "{id}");
                });
            }
        }
    });
    let counted = stage.get("/api/casts/cast-0/events?limit=1000").json();
    let (seen, _) = read(&stage, "cast-0", 0, usize::MAX);
    assert_eq!(counted["items"].as_array().unwrap().len(), seen.len());
    let (tail, _) = read(&stage, "cast-0", 5, 3);
    assert_eq!(tail, [6, 7, 8]);
}

#[test]
fn a_cast_is_shown_as_of_any_event() {
    let stage = Stage::new();
    stage.trust();
    stage.post("/api/casts", &json!({ "loadout": "Quick", "castId": "one" }));
    let end = stage.until("one", "completed");
    let last = end["lastSeq"].as_u64().unwrap();
    let mut turns = 0;
    for at in 1..=last {
        let cast = stage.get(&format!("/api/casts/one?at={at}")).json();
        assert_eq!((cast["at"].as_u64(), cast["lastSeq"].as_u64()), (Some(at), Some(at)), "{cast}");
        let now = cast["usage"]["turns"].as_u64().unwrap();
        assert!(now >= turns, "{cast}");
        turns = now;
    }
    assert_eq!(stage.get(&format!("/api/casts/one?at={}", last + 1)).status, 404);
    let down = stage.get("/api/casts/one/events?order=desc&limit=3").json();
    let seqs: Vec<u64> =
        down["items"].as_array().unwrap().iter().map(|it| it["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, [last, last - 1, last - 2]);
    assert_eq!(down["next"].as_u64(), Some(last - 3));
    let started = stage.get("/api/casts/one/events?type=turn.started&node=B").json();
    let seq = started["items"][0]["seq"].as_u64().unwrap();
    let turn = stage.get(&format!("/api/casts/one/turns/{seq}")).json();
    assert_eq!(
        (turn["socket"].as_str(), turn["outcome"].as_str(), &turn["parsed"]),
        (Some("B"), Some("completed"), &json!({ "satisfied": true }))
    );
    assert!(
        turn["input"].is_object() && !turn["artifacts"].as_array().unwrap().is_empty(),
        "{turn}"
    );
    let file = turn["artifacts"][0]["path"].as_str().unwrap();
    assert_eq!(stage.get(&format!("/api/casts/one/files/{file}")).status, 200);
    assert_eq!(stage.get("/api/casts/one/files/events.json").status, 404);
    let why = stage.get("/api/casts/one/nodes/B/why").json();
    assert!(why["sentence"].as_str().is_some_and(|text| !text.is_empty()), "{why}");
    let cost = stage.get("/api/casts/one/cost").json();
    assert_eq!(cost["usage"]["turns"], 2);
    assert_eq!(cost["bySocket"].as_array().unwrap().len(), 2);
}

#[test]
fn summaries_come_as_casts_change_and_go_on_from_the_last_id() {
    let stage = Stage::new();
    stage.trust();
    let read = |more: &str, until: &str| {
        let mut stream = stage.connect();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let request = format!(
            "GET /api/stream HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{more}\r\n",
            stage.host(),
            stage.server.token
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut last = String::new();
        for line in BufReader::new(stream).lines() {
            let line = line.unwrap();
            if let Some(id) = line.strip_prefix("id: ") {
                last = id.to_owned();
            }
            if let Some(data) = line.strip_prefix("data: ") {
                let summary: Value = serde_json::from_str(data).unwrap();
                if summary["castId"] == until && summary["status"] == "completed" {
                    return last;
                }
            }
        }
        panic!("the stream has ended");
    };
    let id = std::thread::scope(|scope| {
        let reader = scope.spawn(|| read("", "one"));
        std::thread::sleep(Duration::from_millis(300));
        stage.post("/api/casts", &json!({ "loadout": "Long", "castId": "one" }));
        reader.join().unwrap()
    });
    stage.post("/api/casts", &json!({ "loadout": "Quick", "castId": "two" }));
    stage.until("two", "completed");
    // What happened while nobody listened is told.
    read(&format!("Last-Event-ID: {id}\r\n"), "two");
}

/// Reads a stream until words come that satisfy; gives all words so far.
fn words_until(stage: &Stage, id: &str, enough: impl Fn(&str) -> bool) -> String {
    let mut stream = stage.connect();
    let request = format!(
        "GET /api/casts/{id}/stream HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        stage.host(),
        stage.server.token
    );
    stream.write_all(request.as_bytes()).unwrap();
    let (mut words, mut is_live) = (String::new(), false);
    for line in BufReader::new(stream).lines() {
        let line = line.unwrap();
        if let Some(kind) = line.strip_prefix("event: ") {
            is_live = kind == "live";
        }
        if let Some(data) = line.strip_prefix("data: ").filter(|_| is_live) {
            let said: Value = serde_json::from_str(data).unwrap();
            words.push_str(said["text"].as_str().unwrap());
            if enough(&words) {
                return words;
            }
        }
    }
    panic!("the stream ended after {words:?}");
}

#[test]
fn what_a_command_says_is_heard_before_it_ends() {
    let stage = Stage::new();
    let script = "while [ ! -e go ]; do echo \"count $GITHUB_TOKEN\"; sleep 0.2; done";
    let config = json!({
        "materia": { "Says": {
            "type": "utility", "command": ["sh", "-c", script],
            "env": { "GITHUB_TOKEN": "hush-hush-hush" } } },
        "loadouts": { "Says": { "entry": "A", "sockets": { "A": { "materia": "Says" } } } }
    });
    std::fs::write(stage.project().join("materia.json"), config.to_string()).unwrap();
    stage.trust();
    let begun = stage.post("/api/casts", &json!({ "loadout": "Says", "castId": "one" }));
    assert_eq!(begun.status, 201, "{begun:?}");
    let words = words_until(&stage, "one", |words| words.matches('\n').count() >= 2);
    assert!(words.contains("count [redacted]\n") && !words.contains("hush"), "{words}");
    assert_eq!(stage.get("/api/casts/one").json()["status"], "running");
    std::fs::write(stage.project().join("go"), "").unwrap();
    stage.until("one", "completed");
}
