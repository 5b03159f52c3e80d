//! Readers that take nothing, and readers of large turns: what the server's process takes stays bounded, and comes back.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bench::{Bench, until};
use crate::serving::ask;

/// Readers that take nothing.
const READERS: usize = 240;
/// Turns, and the bytes that each says: below what is kept apart, so that events have them.
const TURNS: usize = 120;
const BYTES: usize = 60_000;

/// What a process has in memory, in KiB.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn get(bench: &Bench, path: &str) -> Option<Value> {
    ask(bench, "GET", path, "x", &Value::Null).filter(|(status, _)| *status == 200).map(|it| it.1)
}

/// Asks for something and takes nothing of it.
fn take_nothing(bench: &Bench, path: &str) -> TcpStream {
    let said = std::fs::read(bench.state().join("server.json")).unwrap();
    let server: Value = serde_json::from_slice(&said).unwrap();
    let host = server["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
    let token = server["token"].as_str().unwrap();
    let mut stream = TcpStream::connect(&host).unwrap();
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

#[test]
fn readers_take_bounded_memory_and_it_comes_back() {
    let program = format!("printf '%0{BYTES}d' 7");
    let bench = Bench::with(&json!({
        "materia": { "Heavy": { "type": "utility", "command": ["sh", "-c", program] } },
        "loadouts": { "Heavy": { "entry": "A", "sockets": {
            "A": { "materia": "Heavy", "edges": [{ "to": "A", "maxTraversals": TURNS }] } } } },
        "activeLoadout": "Heavy"
    }));
    bench.run(&["cast", "--no-request", "--cast-id", "heavy"]).exits(1);
    let server = bench.start(&["serve", "--listen", "127.0.0.1:0"]);
    until("the server answers", || get(&bench, "/api/projects").is_some());
    let pages = "/api/casts/heavy/events?limit=1000";
    // Once each, so that what is loaded once is loaded.
    for _ in 0..8 {
        get(&bench, pages).unwrap();
    }
    std::thread::sleep(Duration::from_secs(1));
    let before = resident(server.id());
    // Six pages at once, again and again.
    let mut most = 0;
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..6)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..5 {
                        get(&bench, pages).unwrap();
                    }
                })
            })
            .collect();
        while !asking.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            most = most.max(resident(server.id()));
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    // What a server keeps that has been used once is no matter of who uses it next.
    std::thread::sleep(Duration::from_secs(15));
    let used = resident(server.id());
    eprintln!("before {before} KiB; six pages at once {most} KiB, afterwards {used} KiB");
    assert!(most < before + 200 * 1_024, "six pages at once: {before} KiB, then {most} KiB");
    let readers: Vec<TcpStream> = (0..READERS)
        .map(|number| match number % 2 {
            0 => take_nothing(&bench, "/api/casts/heavy/stream"),
            _ => take_nothing(&bench, pages),
        })
        .collect();
    let (begun, mut most) = (Instant::now(), 0);
    while begun.elapsed() < Duration::from_secs(30) {
        most = most.max(resident(server.id()));
        assert!(get(&bench, "/api/health").is_some(), "nobody else is harmed");
        std::thread::sleep(Duration::from_millis(100));
    }
    eprintln!("{READERS} readers that take nothing: {most} KiB");
    // 1 MiB for each in buffers, and what is being read for them. It was 1.8 GB before buffers were bounded.
    assert!(most < before + 700 * 1_024, "{READERS} readers: {before} KiB, then {most} KiB");
    drop(readers);
    let (mut least, mut after) = (u64::MAX / 8, 0);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_mins(1) && least * 5 > used * 6 {
        get(&bench, "/api/casts").unwrap();
        after = resident(server.id());
        least = least.min(after);
        std::thread::sleep(Duration::from_millis(200));
    }
    eprintln!("afterwards {after} KiB");
    assert!(least * 5 <= used * 6, "before {used} KiB, afterwards {after} KiB");
    bench.run(&["stop"]).exits(0);
    crate::bench::finish(server).exits(0);
}
