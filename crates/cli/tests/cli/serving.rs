//! A server in the background, and what is handed to it.

use std::os::unix::fs::PermissionsExt as _;

use materia_server::client::Client;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::bench::{Bench, until};

fn slow(seconds: &str) -> Value {
    json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "a", "sockets": {
            "a": { "materia": "Quick", "parse": "json", "edges": [{ "to": "b" }] },
            "b": { "materia": "Slow", "parse": "json" } } } },
        "materia": {
            "Quick": { "type": "utility", "command": ["sh", "-c", "echo '{}'"] },
            "Slow": { "type": "utility", "command": ["sh", "-c", format!("sleep {seconds}; echo '{{}}'")] },
        },
    })
}

fn server(bench: &Bench) -> Client {
    let mut found = None;
    until("the server is there", || {
        found = Client::of(&bench.state());
        found.is_some()
    });
    found.unwrap()
}

fn cast(client: &Client, id: &str) -> Value {
    client.get(&format!("/api/casts/{id}")).unwrap_or_default()
}

#[test]
fn a_cast_in_the_background_is_followed_and_its_server_ended() {
    let bench = Bench::with(&slow("0.6"));
    let begun =
        bench.run(&["cast", "--trust", "--detach", "--no-request", "--cast-id", "c1"]).exits(0);
    assert_eq!(begun.out, "c1\n");
    let mode = std::fs::metadata(bench.state().join("server.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let second = bench.run(&["serve", "--listen", "127.0.0.1:0"]).exits(75);
    assert!(second.err.contains("materia ui"), "{}", second.err);
    let followed = bench.run(&["attach", "c1"]).exits(0);
    assert!(followed.err.contains("completed"), "{}", followed.err);
    let attempts: Value = bench.run(&["show", "c1", "--json"]).exits(0).json();
    assert_eq!(attempts["visits"].as_array().unwrap().len(), 2, "nothing ran twice: {attempts}");
    bench.run(&["stop"]).exits(0);
    until("it is gone", || Client::of(&bench.state()).is_none());
    let none = bench.run(&["stop"]).exits(0);
    assert!(none.err.contains("No server of yours runs"), "{}", none.err);
}

#[test]
fn a_server_that_is_told_to_end_lets_its_casts_rest() {
    let bench = Bench::with(&slow("30"));
    bench.run(&["cast", "--trust", "--detach", "--no-request", "--cast-id", "c1"]).exits(0);
    let client = server(&bench);
    until("the slow one runs", || {
        let sockets = cast(&client, "c1")["sockets"].clone();
        sockets
            .as_array()
            .is_some_and(|all| all.iter().any(|it| it["socket"] == "b" && it["state"] == "running"))
    });
    let pid = i32::try_from(client.server().pid).unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::TERM).unwrap();
    until("it is gone", || Client::of(&bench.state()).is_none());
    let shown: Value = bench.run(&["show", "c1", "--json"]).exits(0).json();
    assert_eq!(shown["status"], "waiting", "{shown}");
    // What finished is not done again.
    bench.write("materia.json", &slow("0").to_string());
    bench.run(&["replay", "c1"]).exits(0);
    assert_eq!(shown["visits"][0]["outcome"], "completed");
    assert_eq!(shown["visits"][1]["outcome"], "interrupted", "{shown}");
}
