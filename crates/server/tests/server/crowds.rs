//! Many who call at once.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::stage::Stage;

#[test]
fn three_hundred_connections_harm_nobody() {
    let stage = Stage::new();
    let mut idle: Vec<_> = (0..300).map(|_| stage.connect()).collect();
    // Whoever comes now waits until somebody has gone.
    idle.drain(..200);
    for _ in 0..5 {
        assert_eq!(stage.get("/api/health").status, 200);
    }
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

/// What a reader who takes nothing lets pile up: more than buffers on the way hold.
const HEAVY_TURNS: usize = 60;

#[test]
fn a_reader_who_takes_nothing_is_cut_off_and_harms_nobody() {
    let stage = Stage::new();
    let heavy = json!({
        "materia": { "Heavy": { "type": "utility", "command": ["sh", "-c", "printf '%0600000d' 7"] } },
        "loadouts": { "Heavy": { "entry": "A", "sockets": {
            "A": { "materia": "Heavy", "edges": [{ "to": "A", "maxTraversals": HEAVY_TURNS }] } } } },
        "activeLoadout": "Heavy"
    });
    std::fs::write(stage.project().join("materia.json"), heavy.to_string()).unwrap();
    stage.trust();
    stage.post("/api/casts", &json!({ "loadout": "Heavy", "castId": "heavy", "noRequest": true }));
    // Nobody takes anything here, and little has room on the way.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let request = format!(
        "GET /api/casts/heavy/stream HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        stage.host(),
        stage.server.token
    );
    let _slow = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4_096).unwrap();
        let mut stream = socket.connect(stage.host().parse().unwrap()).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, request.as_bytes()).await.unwrap();
        stream
    });
    let ended = stage.until("heavy", "failed");
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
    // Whoever takes what comes gets all of it.
    let mut stream = stage.connect();
    stream.write_all(request.as_bytes()).unwrap();
    let last = ended["lastSeq"].as_u64().unwrap();
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
