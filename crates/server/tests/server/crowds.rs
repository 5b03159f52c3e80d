//! Many clients at once.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::stage::Stage;

#[test]
fn three_hundred_connections_harm_nobody() {
    let stage = Stage::new();
    let request = format!(
        "GET /api/casts HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        stage.host(),
        stage.server.token
    );
    let mut own = stage.connect();
    own.write_all(request.as_bytes()).unwrap();
    let mut first = [0; 12];
    own.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    // None of them authenticates, and some have begun a request. So the oldest are closed for those who come now.
    let mut idle: Vec<_> = (0..300).map(|_| stage.connect()).collect();
    for stream in &mut idle[200..] {
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: ");
    }
    for _ in 0..5 {
        assert_eq!(stage.get("/api/health").status, 200);
    }
    assert_eq!(idle[0].read(&mut first).unwrap(), 0, "it was closed");
    own.write_all(request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
    let mut rest = String::new();
    own.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("HTTP/1.1 200"), "a caller who has authenticated keeps its connection");
    drop(idle);
    assert_eq!(stage.get("/api/casts").status, 200);
}

#[test]
fn streams_beyond_the_limit_are_refused_and_room_comes_back() {
    let stage = Stage::new();
    stage.trust();
    stage.post("/api/casts", &json!({ "loadout": "Quick", "castId": "one" }));
    stage.until("one", "completed");
    let request = format!(
        "GET /api/casts/one/stream HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        stage.host(),
        stage.server.token
    );
    let mut readers = Vec::new();
    for _ in 0..64 {
        let mut stream = stage.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        readers.push(stream);
    }
    let refused =
        stage.raw(request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n").as_bytes());
    assert_eq!((refused.status, refused.json()["code"].as_str()), (429, Some("limit")));
    drop(readers);
    let begun = Instant::now();
    loop {
        let mut stream = stage.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).unwrap();
        if &first == b"HTTP/1.1 200" {
            return;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "the room of those who have gone is not free"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Enough turns to fill all buffers towards a client that does not read.
const HEAVY_TURNS: usize = 150;

#[test]
fn a_reader_who_takes_nothing_is_cut_off_and_harms_nobody() {
    let stage = Stage::new();
    let last = heavy(&stage, "heavy", 64_000, HEAVY_TURNS);
    // Nobody takes anything here, and little has room on the way.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let request = format!(
        "GET /api/casts/heavy/stream HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        stage.host(),
        stage.server.token
    );
    let mut slow = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4_096).unwrap();
        let mut stream = socket.connect(stage.host().parse().unwrap()).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, request.as_bytes()).await.unwrap();
        stream
    });
    let cut_off = || {
        let told = stage.get("/metrics").body;
        let line = told.lines().find(|line| line.starts_with("materia_readers_cut_off_total"));
        line.and_then(|line| line.rsplit(' ').next()?.parse::<u64>().ok())
    };
    let begun = Instant::now();
    while cut_off() != Some(1) {
        assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", cut_off());
        assert_eq!(stage.get("/api/health").status, 200);
        std::thread::sleep(Duration::from_millis(500));
    }
    // Its connection is closed: what is left on the way is all that it can read.
    let mut rest = Vec::new();
    let read = tokio::io::AsyncReadExt::read_to_end(&mut slow, &mut rest);
    let read = runtime.block_on(async { tokio::time::timeout(Duration::from_mins(1), read).await });
    assert!(read.is_ok(), "its connection is still open");
    // Whoever takes what comes gets all of it.
    let mut stream = stage.connect();
    stream.write_all(request.as_bytes()).unwrap();
    let mut reader = std::io::BufReader::new(stream);
    let (mut expected, mut line) = (1, String::new());
    while expected <= last {
        line.clear();
        std::io::BufRead::read_line(&mut reader, &mut line).unwrap();
        if let Some(id) = line.strip_prefix("id: ") {
            assert_eq!(id.trim().parse::<u64>().unwrap(), expected);
            expected += 1;
        }
    }
}

/// Events whose texts are kept apart, and events that are large without that.
fn heavy(stage: &Stage, id: &str, bytes: usize, turns: usize) -> u64 {
    let config = json!({
        "materia": { "Heavy": { "type": "utility", "command": ["sh", "-c", format!("printf '%0{bytes}d' 7")] } },
        "loadouts": { "Heavy": { "entry": "A", "sockets": {
            "A": { "materia": "Heavy", "edges": [{ "to": "A", "maxTraversals": turns }] } } } },
        "activeLoadout": "Heavy"
    });
    std::fs::write(stage.project().join("materia.json"), config.to_string()).unwrap();
    stage.trust();
    stage.post("/api/casts", &json!({ "loadout": "Heavy", "castId": id, "noRequest": true }));
    stage.until(id, "failed")["lastSeq"].as_u64().unwrap()
}

#[test]
fn pages_of_events_end_at_four_mebibytes_and_long_texts_are_named() {
    let stage = Stage::new();
    for (id, bytes, turns) in [("inline", 60_000, 90), ("apart", 600_000, 10)] {
        let last = heavy(&stage, id, bytes, turns);
        for order in ["asc", "desc"] {
            let (mut seen, mut pages) = (Vec::new(), 0);
            let mut place = String::new();
            loop {
                let path = format!("/api/casts/{id}/events?order={order}&limit=1000{place}");
                let answer = stage.get(&path);
                assert!(answer.body.len() < (4 << 20) + 4_096, "{} bytes", answer.body.len());
                let page = answer.json();
                let items = page["items"].as_array().unwrap();
                seen.extend(items.iter().map(|it| it["seq"].as_u64().unwrap()));
                pages += 1;
                let Some(next) = page["next"].as_u64() else { break };
                let end = if order == "asc" { "from" } else { "to" };
                place = format!("&{end}={next}");
            }
            let mut all: Vec<u64> = (1..=last).collect();
            if order == "desc" {
                all.reverse();
            }
            assert_eq!(seen, all, "{id} {order}: each once");
            assert_eq!(pages > 1, id == "inline", "{id} {order}: {pages} pages");
        }
    }
    let page = stage.get("/api/casts/apart/events?type=turn.completed&limit=1").body;
    let hash = page.split(r#"{"$blob":""#).nth(1).unwrap_or_else(|| panic!("{page}"));
    let text = stage.get(&format!("/api/blobs/{}", &hash[..64]));
    assert_eq!((text.status, text.body.len()), (200, 600_000));
    // On the command line they stand where they are.
    let journal =
        stage.get("/api/casts/apart/events?type=turn.completed&limit=1&order=desc").json();
    assert!(journal["items"][0].to_string().len() < 10_000);
}
