//! Clients that do not read, and clients that read large turns: the server's memory stays bounded, and is freed.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bench::{Bench, until, until_within};
use crate::serving::ask;

/// How long something may take that is done for hundreds.
const PATIENCE: Duration = Duration::from_mins(3);
/// Readers that take nothing.
const READERS: usize = 240;
/// Streams that a server has open at once; one more is refused.
const STREAMS: usize = 64;
/// KiB that the server's process may take for one reader.
const EACH: u64 = 1_024;
/// KiB that a fresh server's process keeps after its first readers, however many: code that was never needed before,
/// connections to the journal, room that its threads keep for the next ones.
const FIRST_TIME: u64 = 24 << 10;
/// Turns, and the bytes that each says: below what is kept apart, so that events have them.
const TURNS: usize = 120;
const BYTES: usize = 60_000;
/// A page of as many of its events as a page has room for, and all of them as they come.
const PAGE: &str = "/api/casts/heavy/events?limit=1000";
const STREAM: &str = "/api/casts/heavy/stream";
/// Pages that are asked for at once, and the KiB that one may take while it is made: what it has, twice.
const AT_ONCE: usize = 6;
const PAGE_COST: u64 = 2 * 4_096;

/// A figure that the system keeps of a process.
fn figure(pid: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Resident memory of a process, in KiB.
fn resident(pid: u32) -> u64 {
    figure(pid, "VmRSS:")
}

fn get(bench: &Bench, path: &str) -> Option<Value> {
    ask(bench, "GET", path, "x", &Value::Null).filter(|(status, _)| *status == 200).map(|it| it.1)
}

/// Connections that a process has open.
fn connections(pid: u32) -> usize {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let targets = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    targets.filter(|target| target.to_string_lossy().starts_with("socket:")).count()
}

/// Readers that the server has cut off so far.
fn cut_off(bench: &Bench) -> usize {
    let mut metrics = take_nothing(bench, "/metrics", "Connection: close\r\n");
    let mut text = String::new();
    metrics.read_to_string(&mut text).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("materia_readers_cut_off_total "));
    line.unwrap_or_else(|| panic!("{text}")).parse().unwrap()
}

/// Asks for something and takes nothing of it.
fn take_nothing(bench: &Bench, path: &str, headers: &str) -> TcpStream {
    let said = std::fs::read(bench.state().join("server.json")).unwrap();
    let server: Value = serde_json::from_slice(&said).unwrap();
    let host = server["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
    let token = server["token"].as_str().unwrap();
    let mut stream = TcpStream::connect(&host).unwrap();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n{headers}\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// Has readers of both kinds take nothing until the server cuts them off. Returns the most that its process took.
fn stuck(bench: &Bench, pid: u32, count: usize) -> u64 {
    let (before, open) = (cut_off(bench), connections(pid));
    let readers: Vec<TcpStream> = (0..count)
        .map(|number| match number % 2 {
            0 => take_nothing(bench, STREAM, ""),
            _ => take_nothing(bench, PAGE, ""),
        })
        .collect();
    let mut most = 0;
    let mut look = || {
        most = most.max(resident(pid));
        assert!(get(bench, "/api/health").is_some(), "nobody else is harmed");
    };
    until_within(PATIENCE, "each has the beginning of its answer", || {
        look();
        readers.iter().all(|reader| {
            reader.set_nonblocking(true).unwrap();
            // One that was cut off already has had it.
            !reader.peek(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
        })
    });
    let expected = before + count / 2 + (count / 2).min(STREAMS);
    until_within(PATIENCE, "they are cut off", || {
        look();
        cut_off(bench) >= expected
    });
    // The readers still hold their ends.
    until_within(PATIENCE, "the server has closed its own", || connections(pid) <= open);
    drop(readers);
    most
}

/// A server with a cast of large turns.
fn stage() -> (Bench, Child) {
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
    (bench, server)
}

/// Waits until the process takes no more than so much.
fn comes_back(pid: u32, before: u64, most: u64) {
    let (begun, mut now) = (Instant::now(), u64::MAX);
    while now > most {
        assert!(begun.elapsed() < PATIENCE, "before {before} KiB, afterwards {now} KiB");
        std::thread::sleep(Duration::from_millis(100));
        now = resident(pid);
    }
    eprintln!("before {before} KiB, afterwards {now} KiB");
}

#[test]
fn readers_that_take_nothing_take_bounded_memory_and_it_comes_back() {
    let (bench, server) = stage();
    let threads = figure(server.id(), "Threads:");
    let idle = || {
        until_within(PATIENCE, "threads that nobody needs end", || {
            figure(server.id(), "Threads:") <= threads
        });
    };
    let before = resident(server.id());
    let most = stuck(&bench, server.id(), READERS);
    eprintln!("{READERS} readers that take nothing: {before} KiB, then {most} KiB");
    assert!(most <= before + READERS as u64 * EACH, "{before} KiB, then {most} KiB");
    idle();
    comes_back(server.id(), before, before + FIRST_TIME);
    // More readers must not add to what the first ones left.
    let before = resident(server.id());
    stuck(&bench, server.id(), STREAMS);
    idle();
    comes_back(server.id(), before, before * 6 / 5);
    bench.run(&["stop"]).exits(0);
    crate::bench::finish(server).exits(0);
}

#[test]
fn readers_of_large_pages_take_bounded_memory_and_it_comes_back() {
    let (bench, server) = stage();
    let pid = server.id();
    assert!(get(&bench, PAGE).is_some());
    let before = resident(pid);
    let mut most = 0;
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..AT_ONCE)
            .map(|_| {
                scope.spawn(|| {
                    for path in [PAGE, "/api/casts/heavy/events?limit=1000&order=desc"].repeat(3) {
                        let page = get(&bench, path).unwrap();
                        assert!(page["next"].is_u64(), "{path} ends at its bytes");
                    }
                })
            })
            .collect();
        until_within(PATIENCE, "all are answered", || {
            most = most.max(resident(pid));
            asking.iter().all(std::thread::ScopedJoinHandle::is_finished)
        });
    });
    eprintln!("{AT_ONCE} pages at once: {before} KiB, then {most} KiB");
    assert!(most <= before + AT_ONCE as u64 * PAGE_COST, "{before} KiB, then {most} KiB");
    comes_back(pid, before, before * 6 / 5);
    bench.run(&["stop"]).exits(0);
    crate::bench::finish(server).exits(0);
}
