//! Requests with idempotency keys over connections that break, to a server that is killed repeatedly: each key acts
//! once, and a retry gets the same answer.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::bench::{Bench, until};
use crate::random::{self, Random};
use crate::serving::ask;

/// How many requests; `KEYED_REQUESTS` says another number.
const REQUESTS: usize = 120;
/// How many ask at a time.
const AT_ONCE: usize = 8;
/// Requests between two deaths of the server.
const BETWEEN_DEATHS: usize = 30;

fn stage() -> Bench {
    let program = |script: &str| json!({ "type": "utility", "command": ["sh", "-c", script] });
    let said = "echo '{\"satisfied\": true}'";
    Bench::with(&json!({
        "materia": {
            "Say": program(said),
            // Longer than any run of this test: a turn that fails ends the cast.
            "Sleep": { "type": "utility", "command": ["sleep", "3600"], "timeoutMs": 3_600_000 }
        },
        "loadouts": {
            "Quick": { "entry": "A", "sockets": { "A": { "materia": "Say", "parse": "json" } } },
            "Asks": { "entry": "A", "sockets": {
                "A": { "materia": "Say", "parse": "json", "approval": "before" } } },
            "Sleeps": { "entry": "A", "sockets": {
                "A": { "materia": "Sleep", "edges": [{ "to": "B" }] },
                "B": { "materia": "Say", "parse": "json" } } }
        },
        "activeLoadout": "Quick"
    }))
}

/// Request for the key with this number.
fn asked(number: usize) -> (String, &'static str, Value) {
    let key = format!("key-{number}");
    let say = json!({ "do": "say", "node": "A", "text": format!("<{number}>") });
    let (path, body) = match number % 4 {
        0 => ("/api/casts", json!({ "loadout": "Quick", "noRequest": true })),
        1 => ("/api/casts/first/commands", json!({ "do": "fork", "at": 2 })),
        2 => ("/api/casts/rests/commands", say),
        _ => ("/api/casts/sleeps/commands", say),
    };
    (key, path, body)
}

/// Sends as much of a request as chance will have it, and breaks the connection.
fn break_off(bench: &Bench, number: usize, random: &mut Random) -> Option<()> {
    let said = std::fs::read(bench.state().join("server.json")).ok()?;
    let server: Value = serde_json::from_slice(&said).ok()?;
    let host = server["url"].as_str()?.strip_prefix("http://")?.to_owned();
    let (key, path, body) = asked(number);
    let body = body.to_string();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nIdempotency-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        server["token"].as_str()?,
        body.len()
    );
    let mut stream = TcpStream::connect(&host).ok()?;
    // Mostly whole: what is cut off before its end begins nothing.
    let sent = if random.below(4) == 0 { random.below(request.len()) } else { request.len() };
    stream.write_all(&request.as_bytes()[..sent]).ok()?;
    std::thread::sleep(random.time_below(Duration::from_millis(25)));
    if random.below(4) == 0 {
        stream.set_read_timeout(Some(Duration::from_millis(50))).ok()?;
        let _ = stream.read(&mut [0; 16]);
    }
    Some(())
}

/// Identity of the answer: the cast that started, or the events that followed.
fn answer(bench: &Bench, number: usize) -> Value {
    let (key, path, body) = asked(number);
    let mut found = Value::Null;
    until("the request is answered", || match ask(bench, "POST", path, &key, &body) {
        Some((200 | 201, said)) => {
            let name = if number % 4 < 2 { "castId" } else { "events" };
            found = said[name].clone();
            assert!(!found.is_null() && found != json!([]), "{key}: {said}");
            true
        }
        // The server has died or ends.
        None | Some((503, _)) => false,
        Some((status, said)) => panic!("{key}: {status} {said}"),
    });
    found
}

fn serve(bench: &Bench) -> Child {
    let _ = std::fs::remove_file(bench.state().join("server.json"));
    let server = bench
        .command(&["serve", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("the server answers", || ask(bench, "GET", "/api/projects", "x", &Value::Null).is_some());
    server
}

#[test]
#[expect(clippy::too_many_lines, reason = "one story from its beginning to its end")]
fn each_key_acts_once_over_connections_that_break_and_servers_that_die() {
    let count = std::env::var("KEYED_REQUESTS").map_or(REQUESTS, |text| text.parse().unwrap());
    let seed = random::seed();
    let bench = stage();
    bench.run(&["cast", "--no-request", "--cast-id", "first"]).exits(0);
    let mut server = serve(&bench);
    for (id, loadout) in [("rests", "Asks"), ("sleeps", "Sleeps")] {
        let body = json!({ "loadout": loadout, "noRequest": true, "castId": id });
        assert_eq!(ask(&bench, "POST", "/api/casts", id, &body).map(|it| it.0), Some(201));
    }
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let mut deaths = 0;
    let answers: BTreeMap<usize, Value> = std::thread::scope(|scope| {
        let (bench, next, done) = (&bench, &next, &done);
        let workers: Vec<_> = (0..AT_ONCE)
            .map(|worker| {
                scope.spawn(move || {
                    let mut random = Random::new(seed, worker as u64);
                    let mut answers = Vec::new();
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= count {
                            return answers;
                        }
                        for _ in 0..random.below(3) {
                            let _ = break_off(bench, number, &mut random);
                        }
                        answers.push((number, answer(bench, number)));
                        let _ = break_off(bench, number, &mut random);
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        let mut random = Random::new(seed, 1_000);
        while done.load(Ordering::Relaxed) < count {
            std::thread::sleep(Duration::from_millis(5));
            if done.load(Ordering::Relaxed) < (deaths + 1) * BETWEEN_DEATHS {
                let over = workers.iter().all(std::thread::ScopedJoinHandle::is_finished);
                assert!(!over || done.load(Ordering::Relaxed) == count, "they have all failed");
                continue;
            }
            std::thread::sleep(random.time_below(Duration::from_millis(30)));
            kill_process(Pid::from_child(&server), Signal::KILL).unwrap();
            server.wait().unwrap();
            server = serve(bench);
            deaths += 1;
            // What three servers in a row drove when they died is carried on by hand.
            let resume = json!({ "do": "resume" });
            let key = format!("resume-{deaths}");
            until("the cast is driven", || {
                ask(bench, "POST", "/api/casts/sleeps/commands", &key, &resume).is_some()
            });
        }
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    eprintln!("{count} requests, {deaths} servers killed");
    assert_eq!(answers.len(), count);
    for (number, before) in &answers {
        assert_eq!(answer(&bench, *number), *before, "key-{number}: the same answer");
    }
    let get = |path: &str| ask(&bench, "GET", path, "x", &Value::Null).unwrap().1;
    // Every cast that began under a key, by its key.
    let (mut began, mut cursor) = (BTreeMap::<String, Vec<Value>>::new(), String::new());
    loop {
        let page = get(&format!("/api/casts?limit=100{cursor}"));
        for cast in page["items"].as_array().unwrap() {
            let id = cast["castId"].as_str().unwrap();
            let first = get(&format!("/api/casts/{id}/events?limit=1"));
            if let Some(key) = first["items"][0]["data"]["key"]["key"].as_str() {
                began.entry(key.to_owned()).or_default().push(json!(id));
            }
        }
        let Some(next) = page["next"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    let said: Vec<String> = ["rests", "sleeps"]
        .iter()
        .flat_map(|id| {
            let (mut words, mut from) = (Vec::new(), 1);
            loop {
                let path =
                    format!("/api/casts/{id}/events?type=message.received&limit=500&from={from}");
                let page = get(&path);
                let items = page["items"].as_array().unwrap();
                words
                    .extend(items.iter().map(|it| it["data"]["text"].as_str().unwrap().to_owned()));
                let Some(next) = page["next"].as_u64() else { return words };
                from = next;
            }
        })
        .collect();
    for number in 0..count {
        if number % 4 < 2 {
            let casts = began.remove(&format!("key-{number}")).unwrap_or_default();
            assert_eq!(casts, [answers[&number].clone()], "key-{number}");
        } else {
            let word = format!("<{number}>");
            assert_eq!(said.iter().filter(|it| **it == word).count(), 1, "key-{number}");
        }
    }
    let stray: Vec<&String> = began.keys().filter(|key| key.starts_with("key-")).collect();
    assert!(stray.is_empty(), "{stray:?}");
    bench.run(&["abort", "sleeps"]).exits(0);
    bench.run(&["stop"]).exits(0);
    server.wait().unwrap();
}

/// Begins a cast whose process is killed in the middle of its first turn.
fn without_driver(bench: &Bench, id: &str) {
    let words = ["cast", "--loadout", "Sleeps", "--no-request", "--cast-id", id];
    let mut cast = bench.start(&words);
    until("its turn is under way", || {
        bench.run(&["events", id, "--json"]).out.contains("turn.started")
    });
    cast.kill().unwrap();
    cast.wait().unwrap();
}

#[test]
fn acts_on_a_cast_whose_process_died_are_answered_with_their_events() {
    let bench = stage();
    bench.run(&["cast", "--no-request", "--cast-id", "first"]).exits(0);
    without_driver(&bench, "noted");
    without_driver(&bench, "resumed");
    let mut server = serve(&bench);
    let driven = |id: &str| {
        let path = format!("/api/casts?text={id}");
        ask(&bench, "GET", &path, "x", &Value::Null).unwrap().1["items"][0]["driven"].clone()
    };
    let say = |node: &str| json!({ "do": "say", "node": node, "text": "hello" });
    let acts = [
        say("A"),
        json!({ "do": "globalMode", "value": "PLANNING" }),
        say("A"),
        json!({ "do": "pause" }),
        say("B"),
        say("A"),
    ];
    // Nothing has to start for these, in whatever order they come.
    std::thread::scope(|scope| {
        for (number, act) in acts.iter().enumerate().filter(|(number, _)| *number != 4) {
            let bench = &bench;
            scope.spawn(move || {
                let path = "/api/casts/noted/commands";
                let answer = ask(bench, "POST", path, &format!("k{number}"), act).unwrap();
                assert_eq!(answer.0, 200, "{act}: {answer:?}");
                assert!(answer.1["events"].is_array(), "{act}: {answer:?}");
                assert_eq!(ask(bench, "POST", path, &format!("k{number}"), act), Some(answer));
            });
        }
    });
    assert_eq!(driven("noted"), false);
    // A turn of `B` starts for this one: the server drives the cast from then on.
    let answer = ask(&bench, "POST", "/api/casts/resumed/commands", "b", &acts[4]).unwrap();
    assert_eq!(answer.0, 200, "{answer:?}");
    assert!(answer.1["events"].is_array(), "{answer:?}");
    assert_eq!(driven("resumed"), true);
    bench.run(&["abort", "resumed"]).exits(0);
    bench.run(&["stop"]).exits(0);
    server.wait().unwrap();
    bench.run(&["replay", "noted"]).exits(0);
    bench.run(&["replay", "resumed"]).exits(0);
}
