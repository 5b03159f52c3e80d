//! Commands of people to casts that workers run, with a takeover in between (M7).

use std::process::Child;

use serde_json::json;

use crate::bench::{Bench, finish, until};
use crate::server::Servers;
use crate::workers::{Worker, events, status};
use crate::{ANSWERS, config, on};

/// A cast with two branches: a turn that lasts until the file `go` is there, and one that asks a person. Leases are short.
fn branching_bench() -> Bench {
    let mut config = config();
    let command = "echo x >> begun; while [ ! -e go ]; do sleep 0.05; done; echo '{}'";
    config["materia"]["Own"]["command"] = json!(["sh", "-c", command]);
    let sockets = &mut config["loadouts"]["L"]["sockets"];
    sockets["ask"]["routing"] = json!("all");
    sockets["ask"]["edges"] = json!([{"to": "own"}, {"to": "last"}]);
    sockets["own"]["edges"] = json!([]);
    sockets["last"]["approval"] = json!("before");
    let bench = Bench::with(&config);
    bench.write("answers.json", ANSWERS);
    std::fs::create_dir_all(bench.profile()).unwrap();
    let profile = json!({"leaseSeconds": 3}).to_string();
    std::fs::write(bench.profile().join("materia.json"), profile).unwrap();
    bench
}

fn begun(bench: &Bench) -> usize {
    if bench.has("begun") { bench.read("begun").lines().count() } else { 0 }
}

fn count(events: &[String], kind: &str) -> usize {
    events.iter().filter(|it| *it == kind).count()
}

/// Casts, and waits until one branch runs and the other one asks.
fn cast_on(bench: &Bench, servers: &Servers) {
    let words = ["cast", "--detach", "--script", "answers.json", "--cast-id", "c1", "go"];
    on(bench, servers, &words).exits(0);
    until("the turn runs", || begun(bench) == 1);
    until("it asks", || count(&events(bench, servers, "c1"), "approval.requested") == 1);
}

fn started(bench: &Bench, servers: &Servers, words: &[&str]) -> Child {
    let mut command = bench.command(words);
    command.env("MATERIA_JOURNAL", servers.url()).env("MATERIA_SPACE", "tests");
    command.spawn().unwrap()
}

/// M7: `say` and `approve` reach the worker that runs the cast, and act once.
#[test]
fn a_worker_takes_a_message_and_an_approval_once() {
    let servers = Servers::start(1, "");
    let bench = branching_bench();
    let _worker = Worker::start(&bench, &servers, &[]);
    cast_on(&bench, &servers);
    on(&bench, &servers, &["say", "c1", "last", "be brief"]).exits(0);
    on(&bench, &servers, &["approve", "c1", "last"]).exits(0);
    let refused = on(&bench, &servers, &["approve", "c1", "last"]);
    assert_ne!(refused.exit, 0, "nothing is left to approve: {refused:?}");
    bench.write("go", "");
    until("the cast is completed", || status(&bench, &servers, "c1") == "completed");
    let all = events(&bench, &servers, "c1");
    assert_eq!(count(&all, "message.received"), 1, "{all:?}");
    assert_eq!(count(&all, "approval.given"), 1, "{all:?}");
    on(&bench, &servers, &["replay", "c1"]).exits(0);
}

/// M6, M7: commands that a worker did not take before it was lost are taken by the next one, each once.
#[test]
fn commands_outlive_a_takeover() {
    let servers = Servers::start(1, "");
    let bench = branching_bench();
    let first = Worker::start(&bench, &servers, &[]);
    cast_on(&bench, &servers);
    first.signal("STOP");
    let say = started(&bench, &servers, &["say", "c1", "last", "be brief"]);
    let posted = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = async_nats::connect(servers.url()).await.unwrap();
            let stream = async_nats::jetstream::new(client).get_stream("materia-tests").await;
            let stream = stream.unwrap();
            stream.get_last_raw_message_by_subject("materia.tests.inbox.c1").await.is_ok()
        })
    };
    until("the message is in the inbox", posted);
    assert_eq!(count(&events(&bench, &servers, "c1"), "message.received"), 0);
    let _second = Worker::start(&bench, &servers, &[]);
    finish(say).exits(0);
    until("the turn runs again", || begun(&bench) == 2);
    let approve = started(&bench, &servers, &["approve", "c1", "last"]);
    finish(approve).exits(0);
    first.signal("CONT");
    until("it knows", || first.said().contains("cast `c1`: its lease was lost"));
    bench.write("go", "");
    until("the cast is completed", || status(&bench, &servers, "c1") == "completed");
    let all = events(&bench, &servers, "c1");
    for kind in ["message.received", "approval.given", "turn.interrupted"] {
        assert_eq!(count(&all, kind), 1, "{kind}: {all:?}");
    }
    on(&bench, &servers, &["replay", "c1"]).exits(0);
}
