//! Servers whose disk is full, or that come back without their files (M1, M3, M5).

use std::path::Path;

use serde_json::json;

use crate::bench::{Bench, until};
use crate::on;
use crate::server::Servers;
use crate::workers::{Worker, status};

/// A cast of two agents that take turns, with many answers.
fn long_bench() -> Bench {
    let again = json!({"to": "a", "maxTraversals": 1_000});
    let bench = Bench::with(&json!({
        "materia": {"A": {"prompt": "say something"}, "B": {"prompt": "say more"}},
        "loadouts": {"L": {"entry": "a", "sockets": {
            "a": {"materia": "A", "edges": [{"to": "b"}]},
            "b": {"materia": "B", "parse": "json", "edges": [{"when": "satisfied", "to": "end"}, again]}
        }}},
        "activeLoadout": "L"
    }));
    let answers = |nth: usize| json!({"json": {"satisfied": nth == VISITS}});
    let last: Vec<_> = (1..=VISITS).map(answers).collect();
    let script = json!({"turns": {"a": vec![json!({"text": "something"}); VISITS], "b": last}});
    bench.write("answers.json", &script.to_string());
    short_leases(&bench);
    bench
}

/// Visits of each socket: more than fit into the small store.
const VISITS: usize = 150;

fn short_leases(bench: &Bench) {
    std::fs::create_dir_all(bench.profile()).unwrap();
    let profile = json!({"leaseSeconds": 3}).to_string();
    std::fs::write(bench.profile().join("materia.json"), profile).unwrap();
}

/// A server that keeps its files in `folder`.
fn server(folder: &Path, more: &str) -> Servers {
    let store = folder.display();
    Servers::start(
        1,
        &format!("jetstream {{ store_dir: \"{store}\", sync_interval: always{more} }}"),
    )
}

/// M1, M3: a server without room: the cast rests with what was acknowledged, and goes on when there is room.
#[test]
fn a_full_server_lets_a_cast_rest() {
    let (bench, folder) = (long_bench(), tempfile::tempdir().unwrap());
    let full = server(folder.path(), ", max_file_store: 200KB");
    let words = ["cast", "--script", "answers.json", "--cast-id", "c1", "go"];
    let ran = on(&bench, &full, &words).exits(3);
    assert!(ran.err.contains("the disk is full"), "{ran:?}");
    on(&bench, &full, &["replay", "c1"]).exits(0);
    let before = on(&bench, &full, &["events", "c1", "--json"]).exits(0).lines();
    drop(full);
    let roomy = server(folder.path(), "");
    until("it goes on", || {
        on(&bench, &roomy, &["resume", "c1", "--script", "answers.json"]);
        status(&bench, &roomy, "c1") == "completed"
    });
    let after = on(&bench, &roomy, &["events", "c1", "--json"]).exits(0).lines();
    assert_eq!(after[..before.len()], before[..], "what was acknowledged is there");
    on(&bench, &roomy, &["replay", "c1"]).exits(0);
}

/// M5: a server that comes back without its files: a worker ends the turns of casts that are gone, and runs new ones.
#[test]
fn a_worker_outlives_the_loss_of_a_space() {
    let bench = Bench::with(&json!({
        "materia": {"A": {"type": "utility", "command": ["sh", "-c", "echo $$ > began; while [ ! -e go ]; do sleep 0.05; done"]}},
        "loadouts": {"L": {"entry": "a", "sockets": {"a": {"materia": "A"}}}},
        "activeLoadout": "L"
    }));
    short_leases(&bench);
    let folder = tempfile::tempdir().unwrap();
    let mut servers = server(folder.path(), "");
    let worker = Worker::start(&bench, &servers, &[]);
    let cast = |servers: &Servers, id: &str| {
        on(&bench, servers, &["cast", "--detach", "--cast-id", id, "go"])
    };
    cast(&servers, "c1").exits(0);
    until("its program runs", || bench.has("began") && !bench.read("began").trim().is_empty());
    let program = format!("/proc/{}", bench.read("began").trim());
    servers.kill(0);
    std::fs::remove_dir_all(folder.path()).unwrap();
    servers.begin(0);
    until("the program has ended", || !Path::new(&program).exists());
    until("it knows", || worker.said().contains("cast `c1`: its lease was lost"));
    bench.write("go", "");
    cast(&servers, "c2").exits(0);
    until("a new cast runs", || worker.said().contains("cast `c2`: rests (completed)"));
    let list = on(&bench, &servers, &["casts", "--json"]).exits(0).lines();
    assert_eq!((list.len(), &list[0]["castId"]), (1, &json!("c2")));
}
