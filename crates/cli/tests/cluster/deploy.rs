//! The files of `deploy/`: they can be read, and their command lines and users work (M8, M14).

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::bench::{Bench, Ran, until};
use crate::server::Servers;
use crate::workers::Worker;
use crate::{ANSWERS, CAST, bench};

fn deployed(name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    std::fs::read_to_string(root.join(name)).unwrap()
}

/// Starts a worker as a file says, with the servers of this test.
fn starts(words: &[&str]) {
    let servers = Servers::start(1, "");
    let bench = bench();
    assert_eq!(words[0], "worker", "{words:?}");
    let is_address = |word: &&str| word.starts_with("nats://");
    assert_eq!(words.iter().filter(|it| is_address(it)).count(), 1, "{words:?}");
    let url = servers.url();
    let words: Vec<&str> =
        words.iter().map(|word| if is_address(word) { url.as_str() } else { word }).collect();
    let worker = Worker::run(bench.command(&words), &bench);
    assert!(worker.said().contains("the space `shop`"), "{}", worker.said());
}

/// M14: three servers with one cluster, two workers that can take each other's casts.
#[test]
fn the_compose_file_is_sound() {
    let compose: Value = serde_json::from_str(&deployed("compose.json")).unwrap();
    let services = compose["services"].as_object().unwrap();
    assert_eq!(services.len(), 5);
    for (name, service) in services.iter().filter(|(name, _)| name.starts_with("nats-")) {
        let words = service["command"].as_array().unwrap();
        assert!(words.contains(&json!(name)) && words.contains(&json!("--jetstream")), "{name}");
        let routes = words.last().unwrap().as_str().unwrap();
        assert!(routes.contains(&format!("nats://{name}:6222")), "{routes}");
        assert!(compose["volumes"].get(name).is_some(), "{name}");
    }
    let (one, two) = (&services["worker-1"], &services["worker-2"]);
    for field in ["hostname", "working_dir", "command", "volumes"] {
        assert_eq!(one[field], two[field], "{field}");
    }
    let words = one["command"].as_array().unwrap();
    starts(&words.iter().map(|word| word.as_str().unwrap()).collect::<Vec<_>>());
}

/// M14: the units have what systemd needs, and their command line works.
#[test]
fn the_units_are_sound() {
    for name in ["nats.service", "materia-worker.service"] {
        let text = deployed(&format!("systemd/{name}"));
        let lines = || text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let sections: Vec<&str> = lines().filter(|line| line.starts_with('[')).collect();
        assert_eq!(sections, ["[Unit]", "[Service]", "[Install]"], "{name}");
        assert!(lines().all(|line| line.starts_with('[') || line.contains('=')), "{name}");
        let start = lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
        let words: Vec<&str> = start.split(' ').collect();
        assert!(words[0].starts_with('/'), "{start}");
        if words[0].ends_with("/materia") {
            starts(&words[1..]);
        }
    }
}

/// M8, M14: a starter, a worker and a reader can do their work, and no more.
#[test]
fn the_users_of_a_space_can_do_their_work_and_no_more() {
    let servers = Servers::start(1, &deployed("users.conf"));
    let bench = bench();
    let address =
        |user: &str| servers.url().replace("nats://", &format!("nats://{user}:{user}-secret@"));
    let on = |bench: &Bench, user: &str, words: &[&str]| -> Ran {
        let mut command = bench.command(words);
        command.env("MATERIA_JOURNAL", address(user)).env("MATERIA_SPACE", "shop");
        command.env("MATERIA_NATS_WAIT", "3").output().unwrap().into()
    };
    bench.write("answers.json", ANSWERS);
    let mut words = CAST.to_vec();
    words.insert(1, "--detach");
    on(&bench, "starter", &words).exits(0);
    let mut worker = bench.command(&["worker", "--trust-space", "shop"]);
    worker.env("MATERIA_JOURNAL", address("worker")).env("MATERIA_SPACE", "shop");
    let worker = Worker::run(worker, &bench);
    until("the cast is completed", || worker.said().contains("cast `c1`: rests (completed)"));
    let shown = on(&bench, "reader", &["show", "c1", "--json"]).exits(0).json();
    assert_eq!(shown["status"], "completed");
    on(&bench, "reader", &["replay", "c1"]).exits(0);
    assert_eq!(on(&bench, "reader", &["workers", "--json"]).exits(0).lines().len(), 1);
    let mut words = CAST.to_vec();
    words[6] = "c2";
    let refused = on(&bench, "reader", &words);
    assert_ne!(refused.exit, 0, "{refused:?}");
    assert_eq!(on(&bench, "starter", &["casts", "--json"]).exits(0).lines().len(), 1);
    for user in ["starter", "worker", "reader"] {
        let mut other = bench.command(&["casts"]);
        other.env("MATERIA_JOURNAL", address(user)).env("MATERIA_SPACE", "other");
        let other: Ran = other.env("MATERIA_NATS_WAIT", "3").output().unwrap().into();
        let other = other.exits(2);
        assert!(other.err.contains("refuses") && other.err.contains("materia-other"), "{other:?}");
    }
    let mut stranger = bench.command(&["casts"]);
    stranger.env("MATERIA_JOURNAL", servers.url()).env("MATERIA_SPACE", "shop");
    let stranger: Ran = stranger.output().unwrap().into();
    assert!(stranger.exits(2).err.contains("refuses"));
}
