//! A server that dies again and again while casts are started through it, and readers that are cut off while others
//! drive what they read.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::bench::{Bench, until};
use crate::random::{self, Random};

/// How long it lives at the most.
const LIFE_MAX: Duration = Duration::from_millis(400);

/// Asks the server that runs; `None` where nobody answers.
pub(crate) fn ask(
    bench: &Bench,
    method: &str,
    path: &str,
    key: &str,
    body: &Value,
) -> Option<(u16, Value)> {
    let said = std::fs::read(bench.state().join("server.json")).ok()?;
    let server: Value = serde_json::from_slice(&said).ok()?;
    let host = server["url"].as_str()?.strip_prefix("http://")?.to_owned();
    let mut stream = TcpStream::connect(&host).ok()?;
    stream.set_read_timeout(Some(Duration::from_mins(5))).ok()?;
    let body = if method == "GET" { String::new() } else { body.to_string() };
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nIdempotency-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        server["token"].as_str()?,
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let status = text.split(' ').nth(1)?.parse().ok()?;
    let body = text.split_once("\r\n\r\n")?.1;
    Some((status, serde_json::from_str(body).ok()?))
}

fn get(bench: &Bench, path: &str) -> Option<Value> {
    ask(bench, "GET", path, "x", &Value::Null).filter(|(status, _)| *status == 200).map(|it| it.1)
}

/// A project whose cast runs three short programs.
fn stage() -> Bench {
    let program = |word: &str| json!({ "type": "utility", "command": ["sh", "-c", format!("sleep 0.0{word}; echo '{{\"satisfied\": true}}'")] });
    let socket = |name: &str, to: Option<&str>| {
        let edges: Vec<Value> =
            to.map(|to| json!({ "when": "always", "to": to })).into_iter().collect();
        json!({ "materia": name, "parse": "json", "edges": edges })
    };
    Bench::with(&json!({
        "materia": { "One": program("2"), "Two": program("5"), "Three": program("3") },
        "loadouts": { "L": { "entry": "A", "sockets": {
            "A": socket("One", Some("B")), "B": socket("Two", Some("C")), "C": socket("Three", None) } } },
        "activeLoadout": "L"
    }))
}

#[test]
fn what_was_answered_is_there_once_however_often_the_server_dies() {
    let mut random = Random::new(random::seed(), 0);
    let bench = stage();
    // Approved once, by a cast of a person's own.
    bench.run(&["cast", "--no-request", "--cast-id", "first"]).exits(0);
    let (mut answered, mut number) = (BTreeMap::new(), 0);
    let (rounds, mut round) = (random::rounds(30, 100), 0);
    // On a busy machine few servers live long enough to answer: they live longer in further rounds.
    while round < rounds || answered.len() <= 10 {
        let life = random.time_below(LIFE_MAX * (1 + u32::try_from(round / rounds).unwrap()));
        round += 1;
        let _ = std::fs::remove_file(bench.state().join("server.json"));
        let mut server = bench
            .command(&["serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until("the server answers", || get(&bench, "/api/health").is_some());
        let pid = Pid::from_child(&server);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(life);
                kill_process(pid, Signal::KILL).unwrap();
            });
            loop {
                let key = format!("key-{number}");
                let body = json!({ "loadout": "L", "noRequest": true });
                match ask(&bench, "POST", "/api/casts", &key, &body) {
                    Some((201, cast)) => {
                        let id = cast["castId"].as_str().unwrap().to_owned();
                        assert!(answered.insert(key, id).is_none());
                        number += 1;
                        std::thread::sleep(Duration::from_millis(50));
                    }
                    Some((status, body)) => panic!("{status} {body}"),
                    // It died; the same key is sent to the next one.
                    None => break,
                }
            }
        });
        server.wait().unwrap();
    }
    let server = bench.start(&["serve", "--listen", "127.0.0.1:0"]);
    until("the server answers", || get(&bench, "/api/projects").is_some());
    let all = |bench: &Bench| {
        get(bench, "/api/casts?limit=1000").unwrap()["items"].as_array().unwrap().clone()
    };
    until("all casts have ended", || {
        let casts = all(&bench);
        for cast in
            casts.iter().filter(|cast| cast["status"] == "running" && cast["driven"] == false)
        {
            // Three servers in a row died while they drove it: a person carries it on.
            let path = format!("/api/casts/{}/commands", cast["castId"].as_str().unwrap());
            ask(&bench, "POST", &path, "resume", &json!({ "do": "resume" }));
        }
        casts.iter().all(|cast| cast["status"] == "completed")
    });
    let casts = all(&bench);
    let mut keys = BTreeMap::<String, Vec<String>>::new();
    for cast in &casts {
        let id = cast["castId"].as_str().unwrap();
        let path = format!("/api/casts/{id}/events?limit=1000");
        let events = get(&bench, &path).unwrap()["items"].as_array().unwrap().clone();
        if let Some(key) = events[0]["data"]["key"]["key"].as_str() {
            keys.entry(key.to_owned()).or_default().push(id.to_owned());
        }
        for socket in ["A", "B", "C"] {
            let of = |kind: &str| {
                events
                    .iter()
                    .filter(|it| it["type"] == kind && it["nodeId"] == socket)
                    .map(|it| it["seq"].as_u64().unwrap())
                    .collect::<Vec<_>>()
            };
            let (started, completed) = (of("turn.started"), of("turn.completed"));
            assert_eq!(completed.len(), 1, "{id} {socket}");
            assert!(
                started.iter().all(|seq| *seq < completed[0]),
                "{id}: what had finished ran again"
            );
        }
    }
    for (key, id) in &answered {
        assert_eq!(keys.get(key).map(Vec::as_slice), Some(&[id.clone()][..]), "{key}");
    }
    assert!(keys.values().all(|casts| casts.len() == 1), "{keys:?}");
    bench.run(&["replay", answered.values().next().unwrap()]).exits(0);
    bench.run(&["stop"]).exits(0);
    crate::bench::finish(server).exits(0);
}

/// Casts that are read, half of which the server drives.
const CASTS: usize = 10;
/// Readers in all.
const READERS: usize = 20;
/// How often each is cut off.
const CUTS: usize = 50;

/// Reads the events behind `after` until it is cut off behind `most` of them; says whether the cast has ended.
pub(crate) fn read(bench: &Bench, id: &str, after: u64, most: usize) -> Option<(Vec<u64>, bool)> {
    let said = std::fs::read(bench.state().join("server.json")).ok()?;
    let server: Value = serde_json::from_slice(&said).ok()?;
    let host = server["url"].as_str()?.strip_prefix("http://")?.to_owned();
    let mut stream = TcpStream::connect(&host).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
    let token = server["token"].as_str()?;
    let request = format!(
        "GET /api/casts/{id}/stream HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nLast-Event-ID: {after}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut seen = Vec::new();
    for line in BufReader::new(stream).lines() {
        // A stream that ends says so by a piece of no length; its connection may stay.
        let Some(line) = line.ok().filter(|line| line != "0") else { break };
        let Some(data) = line.strip_prefix("data: ") else { continue };
        let event: Value = serde_json::from_str(data).ok()?;
        let Some(seq) = event["seq"].as_u64() else { continue };
        seen.push(seq);
        if event["type"] == "run.completed" {
            return Some((seen, true));
        }
        if seen.len() >= most {
            break;
        }
    }
    Some((seen, false))
}

#[test]
fn readers_that_are_cut_off_see_everything_once_whoever_drives_and_dies() {
    let seed = random::seed();
    let bench = stage();
    bench.run(&["cast", "--no-request", "--cast-id", "first"]).exits(0);
    let server = bench.start(&["serve", "--listen", "127.0.0.1:0"]);
    until("the server answers", || get(&bench, "/api/projects").is_some());
    let id = |number: usize| format!("cast-{number}");
    std::thread::scope(|scope| {
        for number in 0..CASTS {
            let (bench, id) = (&bench, id(number));
            scope.spawn(move || {
                if number % 2 == 0 {
                    let body = json!({ "loadout": "L", "noRequest": true, "castId": id });
                    let answer = ask(bench, "POST", "/api/casts", &id, &body);
                    assert_eq!(answer.map(|it| it.0), Some(201));
                    return;
                }
                // A terminal's own cast: it is killed in the middle, and carried on.
                let mut cast = bench.start(&["cast", "--no-request", "--cast-id", &id]);
                let mut random = Random::new(seed, 100 + number as u64);
                std::thread::sleep(
                    Duration::from_millis(60) + random.time_below(Duration::from_millis(150)),
                );
                let _ = cast.kill();
                cast.wait().unwrap();
                let status =
                    || get(bench, &format!("/api/casts/{id}")).map(|cast| cast["status"].clone());
                match status() {
                    None => drop(bench.run(&["cast", "--no-request", "--cast-id", &id])),
                    Some(status) if status == "completed" => {}
                    Some(_) => drop(bench.run(&["resume", &id])),
                }
            });
        }
        for reader in 0..READERS {
            let (bench, id) = (&bench, id(reader % CASTS));
            scope.spawn(move || {
                let mut random = Random::new(seed, reader as u64);
                until("the cast is there", || get(bench, &format!("/api/casts/{id}")).is_some());
                let (mut all, mut ended) = (Vec::<u64>::new(), false);
                for _ in 0..CUTS {
                    let (told, end) =
                        read(bench, &id, all.last().copied().unwrap_or(0), random.below(2))
                            .unwrap();
                    all.extend(told);
                    ended |= end;
                    if ended {
                        break;
                    }
                }
                while !ended {
                    let (told, end) =
                        read(bench, &id, all.last().copied().unwrap_or(0), usize::MAX).unwrap();
                    all.extend(told);
                    ended = end;
                }
                assert_eq!(all, (1..=all.len() as u64).collect::<Vec<_>>(), "{id}");
            });
        }
    });
    for number in 0..CASTS {
        bench.run(&["replay", &id(number)]).exits(0);
    }
    bench.run(&["stop"]).exits(0);
    crate::bench::finish(server).exits(0);
}
