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

fn is_running(client: &Client, id: &str, socket: &str) -> bool {
    let cast: Value = client.get(&format!("/api/casts/{id}")).unwrap_or_default();
    let mut sockets = cast["sockets"].as_array().into_iter().flatten();
    sockets.any(|it| it["socket"] == socket && it["state"] == "running")
}

fn end(client: &Client) {
    let pid = i32::try_from(client.server().pid).unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::TERM).unwrap();
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
    assert!(Client::of(&bench.state()).is_none());
    let none = bench.run(&["stop"]).exits(0);
    assert!(none.err.contains("No server is running"), "{}", none.err);
}

#[test]
fn a_server_that_is_told_to_end_lets_its_casts_rest() {
    let bench = Bench::with(&slow("30"));
    bench.run(&["cast", "--trust", "--detach", "--no-request", "--cast-id", "c1"]).exits(0);
    let client = server(&bench);
    until("the slow one runs", || is_running(&client, "c1", "b"));
    end(&client);
    // While its casts come to rest it is not gone: whoever asks for the end waits for it.
    bench.run(&["stop"]).exits(0);
    assert!(!bench.state().join("server.json").exists());
    let shown: Value = bench.run(&["show", "c1", "--json"]).exits(0).json();
    assert_eq!(shown["status"], "waiting", "{shown}");
    // What finished is not done again.
    bench.write("materia.json", &slow("0").to_string());
    bench.run(&["replay", "c1"]).exits(0);
    assert_eq!(shown["visits"][0]["outcome"], "completed");
    assert_eq!(shown["visits"][1]["outcome"], "interrupted", "{shown}");
}

/// The server ends only once its casts rest, which takes as long as a deaf program is given.
#[test]
fn whoever_comes_while_a_server_ends_waits_and_gets_a_new_one() {
    let deaf = slow("30").to_string().replace("sleep 30", "trap '' TERM INT; sleep 30");
    let bench = Bench::with(&serde_json::from_str(&deaf).unwrap());
    bench.run(&["cast", "--trust", "--detach", "--no-request", "--cast-id", "c1"]).exits(0);
    let first = server(&bench);
    until("the slow one runs", || is_running(&first, "c1", "b"));
    end(&first);
    until("it answers no more", || Client::of(&bench.state()).is_none());
    bench.write("materia.json", &slow("0").to_string());
    let begun =
        bench.run(&["cast", "--trust", "--detach", "--no-request", "--cast-id", "c2"]).exits(0);
    assert_eq!(begun.out, "c2\n");
    assert_ne!(server(&bench).server().pid, first.server().pid);
    bench.run(&["attach", "c2"]).exits(0);
    let shown: Value = bench.run(&["show", "c1", "--json"]).exits(0).json();
    assert_eq!(shown["status"], "waiting", "{shown}");
    bench.run(&["stop"]).exits(0);
}

/// Where every user of the machine can read them.
#[test]
fn the_code_is_in_no_arguments_of_the_browser() {
    let bench = Bench::with(&slow("0"));
    bench.run(&["cast", "--trust", "--detach", "--no-request", "--cast-id", "c1"]).exits(0);
    let (bin, seen) = (bench.project().join("../bin"), bench.project().join("../seen"));
    std::fs::create_dir(&bin).unwrap();
    let script = format!(
        "#!/bin/sh\necho \"$@\" > {0}.new; cat \"$1\" >> {0}.new; mv {0}.new {0}\n",
        seen.display()
    );
    std::fs::write(bin.join("xdg-open"), script).unwrap();
    std::fs::set_permissions(bin.join("xdg-open"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let bin = bin.canonicalize().unwrap();
    let ran =
        bench.command(&["ui"]).env("PATH", format!("{}:{path}", bin.display())).output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    let code = said.trim().split("#code=").nth(1).unwrap_or_else(|| panic!("{said}"));
    until("the browser was opened", || seen.exists());
    let told = std::fs::read_to_string(&seen).unwrap();
    let (arguments, file) = told.split_once('\n').unwrap();
    assert!(!arguments.contains(code), "{arguments}");
    assert!(file.contains(code), "{file}");
    let mode = std::fs::metadata(arguments).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    bench.run(&["stop"]).exits(0);
}

#[test]
fn a_folder_is_served_no_longer_when_somebody_says_so() {
    let (bench, other) = (Bench::with(&slow("0")), Bench::with(&slow("0")));
    bench.run(&["cast", "--trust", "--detach", "--no-request", "--cast-id", "c1"]).exits(0);
    let client = server(&bench);
    let served = || {
        let list: Value = client.get("/api/projects").unwrap();
        let items = list["items"].as_array().unwrap().clone();
        items.into_iter().map(|it| it["dir"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (here, there) = (bench.project(), other.project().canonicalize().unwrap());
    let there = there.to_str().unwrap().to_owned();
    bench.run(&["-C", &there, "ui", "--no-open"]).exits(0);
    assert_eq!(served().len(), 2, "whoever types `ui` there has signed in for it");
    bench.run(&["ui", "--remove", &there]).exits(0);
    assert_eq!(served(), [here.canonicalize().unwrap().to_str().unwrap()]);
    bench.run(&["ui", "--remove", &there]).exits(2);
    bench.run(&["stop"]).exits(0);
}

#[test]
fn a_journal_of_another_state_folder_is_followed() {
    let bench = Bench::with(&slow("0"));
    let elsewhere = tempfile::tempdir().unwrap();
    let cast = |id: &str| {
        let args = ["cast", "--trust", "--no-request", "--cast-id", id];
        let ran = bench.command(&args).env("MATERIA_STATE_DIR", elsewhere.path()).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
    };
    cast("first");
    let serving = bench.start(&["serve", "--listen", "127.0.0.1:0"]);
    let client = server(&bench);
    let there = |id: &str| {
        let list: Value = client.get("/api/casts").unwrap();
        list["items"].as_array().unwrap().iter().any(|it| it["castId"] == id)
    };
    until("the first is listed", || there("first"));
    cast("second");
    until("the second is listed", || there("second"));
    bench.run(&["stop"]).exits(0);
    crate::bench::finish(serving).exits(0);
}
