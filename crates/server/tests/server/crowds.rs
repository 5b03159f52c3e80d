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
