//! Commands of people to casts that workers run, with a takeover in between (M7).

use std::process::Child;

use futures_util::TryStreamExt as _;
use serde_json::json;

use crate::bench::{Bench, finish, until};
use crate::server::Servers;
use crate::workers::{Worker, events, status};
use crate::{ANSWERS, config, on};

/// A cast with two branches: a turn that lasts until the file `go` is there, and one that asks a person. Leases are short.
fn branching_bench() -> Bench {
    let mut config = config();
    let command =
        "echo x >> begun-$MATERIA_CAST_ID; while [ ! -e go ]; do sleep 0.05; done; echo '{}'";
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

fn begun(bench: &Bench, id: &str) -> usize {
    let name = format!("begun-{id}");
    if bench.has(&name) { bench.read(&name).lines().count() } else { 0 }
}

fn count(events: &[String], kind: &str) -> usize {
    events.iter().filter(|it| *it == kind).count()
}

/// Casts, and waits until one branch runs and the other one asks.
fn cast_on(bench: &Bench, servers: &Servers, id: &str) {
    let words = ["cast", "--detach", "--script", "answers.json", "--cast-id", id, "go"];
    on(bench, servers, &words).exits(0);
    until("the turn runs", || begun(bench, id) == 1);
    until("it asks", || count(&events(bench, servers, id), "approval.requested") == 1);
}

fn started(bench: &Bench, servers: &Servers, words: &[&str]) -> Child {
    let mut command = bench.command(words);
    command.env("MATERIA_JOURNAL", servers.url()).env("MATERIA_SPACE", "tests");
    command.spawn().unwrap()
}

/// M7: `say`, `approve` and `budget` reach the worker that runs the cast, and act once.
#[test]
fn a_worker_takes_a_message_and_an_approval_once() {
    let servers = Servers::start(1, "");
    let bench = branching_bench();
    let _worker = Worker::start(&bench, &servers, &[]);
    cast_on(&bench, &servers, "c1");
    on(&bench, &servers, &["say", "c1", "last", "be brief"]).exits(0);
    on(&bench, &servers, &["budget", "c1", "--max-turns", "9"]).exits(0);
    on(&bench, &servers, &["approve", "c1", "last"]).exits(0);
    let refused = on(&bench, &servers, &["approve", "c1", "last"]);
    assert_ne!(refused.exit, 0, "nothing is left to approve: {refused:?}");
    bench.write("go", "");
    until("the cast is completed", || status(&bench, &servers, "c1") == "completed");
    let all = events(&bench, &servers, "c1");
    for kind in ["message.received", "approval.given", "budget.changed"] {
        assert_eq!(count(&all, kind), 1, "{kind}: {all:?}");
    }
    on(&bench, &servers, &["replay", "c1"]).exits(0);
}

/// How many commands are in the inboxes of the space.
fn posted(servers: &Servers) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = async_nats::connect(servers.url()).await.unwrap();
        let stream = async_nats::jetstream::new(client).get_stream("materia-tests").await;
        let subjects = stream.unwrap().info_with_subjects("materia.tests.inbox.>").await.unwrap();
        let all: Vec<(String, usize)> = subjects.try_collect().await.unwrap();
        all.into_iter().map(|(_, count)| count).sum()
    })
}

/// M6, M7: commands that a worker did not take before it was lost are taken by the next one, each once.
#[test]
fn commands_outlive_a_takeover() {
    let servers = Servers::start(1, "");
    let bench = branching_bench();
    let first = Worker::start(&bench, &servers, &[]);
    let commands: [(&[&str], &str); 4] = [
        (&["say", "c0", "last", "be brief"], "message.received"),
        (&["approve", "c1", "last"], "approval.given"),
        (&["budget", "c2", "--max-turns", "9"], "budget.changed"),
        (&["abort", "c3"], "run.aborted"),
    ];
    for (words, _) in commands {
        cast_on(&bench, &servers, words[1]);
    }
    first.signal("STOP");
    let sent = commands.map(|(words, _)| started(&bench, &servers, words));
    until("the commands are in the inboxes", || posted(&servers) == commands.len());
    for (words, kind) in commands {
        assert_eq!(count(&events(&bench, &servers, words[1]), kind), 0, "{kind}");
    }
    let _second = Worker::start(&bench, &servers, &[]);
    for (words, kind) in commands {
        until("it is taken", || count(&events(&bench, &servers, words[1]), kind) == 1);
    }
    for id in ["c0", "c1", "c2"] {
        until("the turn runs again", || begun(&bench, id) == 2);
    }
    on(&bench, &servers, &["approve", "c0", "last"]).exits(0);
    on(&bench, &servers, &["approve", "c2", "last"]).exits(0);
    first.signal("CONT");
    for (words, _) in commands {
        let lost = format!("cast `{}`: its lease was lost", words[1]);
        until("it knows", || first.said().contains(&lost));
    }
    bench.write("go", "");
    // A sender may have found that nobody drives the cast, and have carried it on in its terminal.
    for child in sent {
        finish(child);
    }
    for (words, kind) in commands {
        let (id, ends) = (words[1], if words[0] == "abort" { "aborted" } else { "completed" });
        until("the cast has ended", || status(&bench, &servers, id) == ends);
        let all = events(&bench, &servers, id);
        assert_eq!(count(&all, kind), 1, "{kind}: {all:?}");
        if ends == "completed" {
            assert_eq!(count(&all, "turn.interrupted"), 1, "{kind}: {all:?}");
        }
        on(&bench, &servers, &["replay", id]).exits(0);
    }
}

/// M7, M10: with nobody there to drive a cast, a command carries it on where its files are. Elsewhere it says where that is,
/// and can be stored.
#[test]
fn a_cast_is_carried_on_where_its_files_are() {
    let servers = Servers::start(1, "");
    let (here, there) = (branching_bench(), branching_bench());
    here.write("go", "");
    let words = ["cast", "--script", "answers.json", "--cast-id", "c1", "go"];
    on(&here, &servers, &words).exits(3);
    let before = events(&here, &servers, "c1");
    for words in [&["approve", "c1", "last"][..], &["resume", "c1"], &["resume", "c1", "--detach"]]
    {
        let ran = on(&there, &servers, words).exits(2);
        let folder = here.project().to_string_lossy().into_owned();
        assert!(ran.err.contains(&folder) && ran.err.contains("`--no-run`"), "{words:?} {ran:?}");
    }
    assert_eq!(events(&here, &servers, "c1"), before, "nothing was written");
    on(&there, &servers, &["approve", "c1", "last", "--no-run"]).exits(0);
    on(&here, &servers, &["resume", "c1"]).exits(0);
    assert_eq!(status(&here, &servers, "c1"), "completed");
    assert_eq!(count(&events(&here, &servers, "c1"), "approval.given"), 1);
}
