//! Workers that die or stop: others carry their casts on (M5, M6, M13).

use std::path::Path;

use serde_json::{Value, json};

use crate::bench::{Bench, until};
use crate::server::Servers;
use crate::workers::{Worker, events, status, workers};
use crate::{ANSWERS, config, on};

/// Casts whose second turn lasts until the file `go` is there. Leases are short.
fn waiting_bench() -> Bench {
    let mut config = config();
    let command = "echo $$ >> begun-$MATERIA_CAST_ID; while [ ! -e go ]; do sleep 0.05; done; \
                   echo '{\"state\": {\"x\": 1}}'";
    config["materia"]["Own"]["command"] = json!(["sh", "-c", command]);
    let bench = Bench::with(&config);
    bench.write("answers.json", ANSWERS);
    std::fs::create_dir_all(bench.profile()).unwrap();
    let profile = json!({"leaseSeconds": 3}).to_string();
    std::fs::write(bench.profile().join("materia.json"), profile).unwrap();
    bench
}

fn cast(bench: &Bench, servers: &Servers, id: &str) {
    let words = ["cast", "--detach", "--script", "answers.json", "--cast-id", id, "go"];
    on(bench, servers, &words).exits(0);
}

fn times_begun(bench: &Bench, id: &str) -> usize {
    let name = format!("begun-{id}");
    if bench.has(&name) { bench.read(&name).lines().count() } else { 0 }
}

fn count(events: &[String], kind: &str) -> usize {
    events.iter().filter(|it| *it == kind).count()
}

/// M6, M13: one of two workers is killed; every cast ends as it does undisturbed.
#[test]
fn casts_outlive_a_killed_worker() {
    let servers = Servers::start(1, "");
    let bench = waiting_bench();
    let mut first = Worker::start(&bench, &servers, &["--slots", "3"]);
    let ids = ["c1", "c2", "c3", "c4", "c5"];
    for id in ids {
        cast(&bench, &servers, id);
    }
    let begun = |id: &&str| times_begun(&bench, id) > 0;
    until("three have begun", || ids.into_iter().filter(begun).count() == 3);
    let lost: Vec<&str> = ids.into_iter().filter(begun).collect();
    let _second = Worker::start(&bench, &servers, &["--slots", "5"]);
    until("all have begun", || ids.iter().all(&begun));
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    until("the lost turns run again", || lost.iter().all(|id| times_begun(&bench, id) == 2));
    bench.write("go", "");
    for id in ids {
        until("the cast is completed", || status(&bench, &servers, id) == "completed");
        let all = events(&bench, &servers, id);
        let expected = usize::from(lost.contains(&id));
        assert_eq!(count(&all, "turn.interrupted"), expected, "{id}: {all:?}");
        assert_eq!(count(&all, "turn.completed"), 3, "{id}: {all:?}");
        let shown = on(&bench, &servers, &["show", id, "--json"]).exits(0).json();
        assert_eq!(shown["state"]["x"], 1, "{id}");
        on(&bench, &servers, &["replay", id]).exits(0);
    }
    until("the dead worker is forgotten", || workers(&bench, &servers).len() == 1);
}

/// M5, M6: the programs of a stopped worker end by themselves, another one carries the cast on, and the stopped one
/// adds nothing when it wakes.
#[test]
fn a_stopped_worker_loses_its_cast() {
    let servers = Servers::start(1, "");
    let bench = waiting_bench();
    let first = Worker::start(&bench, &servers, &[]);
    cast(&bench, &servers, "c1");
    bench.wait_for("begun-c1");
    until("its process is known", || times_begun(&bench, "c1") == 1);
    let program = format!("/proc/{}", bench.read("begun-c1").trim());
    first.signal("STOP");
    until("the program has ended", || !Path::new(&program).exists());
    bench.write("go", "");
    let _second = Worker::start(&bench, &servers, &[]);
    until("the cast is completed", || status(&bench, &servers, "c1") == "completed");
    let before = on(&bench, &servers, &["events", "c1", "--json"]).exits(0).out;
    first.signal("CONT");
    until("it knows", || first.said().contains("cast `c1`: its lease was lost"));
    // It still works.
    until("it gives a sign of life", || {
        let pid = json!(first.child.id());
        let idle = |it: &Value| it["pid"] == pid && it["runs"] == json!([]);
        workers(&bench, &servers).iter().any(idle)
    });
    assert_eq!(on(&bench, &servers, &["events", "c1", "--json"]).exits(0).out, before);
    let all = events(&bench, &servers, "c1");
    assert_eq!(count(&all, "turn.interrupted"), 1, "{all:?}");
    assert_eq!(count(&all, "turn.completed"), 3, "{all:?}");
    on(&bench, &servers, &["replay", "c1"]).exits(0);
}

/// M5: a worker that has lost its servers ends its turns, and carries the cast on when they are back.
#[test]
fn a_worker_without_servers_gives_its_cast_up() {
    let mut servers = Servers::start(1, "");
    let bench = waiting_bench();
    let worker = Worker::start(&bench, &servers, &[]);
    cast(&bench, &servers, "c1");
    until("its process is known", || times_begun(&bench, "c1") == 1);
    let program = format!("/proc/{}", bench.read("begun-c1").trim());
    servers.kill(0);
    until("the program has ended", || !Path::new(&program).exists());
    until("it knows", || worker.said().contains("cast `c1`: its lease was lost"));
    until("it says so", || worker.said().contains("the casts that wait cannot be read"));
    bench.write("go", "");
    servers.begin(0);
    until("it says so", || worker.said().contains("the casts that wait can be read again"));
    until("it rests", || worker.said().contains("cast `c1`: rests (completed)"));
    let all = events(&bench, &servers, "c1");
    assert_eq!(count(&all, "turn.interrupted"), 1, "{all:?}");
    assert_eq!(count(&all, "turn.completed"), 3, "{all:?}");
    on(&bench, &servers, &["replay", "c1"]).exits(0);
}
