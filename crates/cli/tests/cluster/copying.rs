//! Casts that move between a file and a server (M12).

use std::process::Stdio;
use std::sync::atomic::Ordering;

use serde_json::json;

use crate::bench::{Bench, Ran, until};
use crate::proxy::Halting;
use crate::server::Servers;
use crate::{CAST, bench, hashes, on};

fn copy(bench: &Bench, servers: &Servers, home: bool, ids: &[&str]) -> Ran {
    let url = servers.url();
    let places = if home { [url.as_str(), "sqlite"] } else { ["sqlite", url.as_str()] };
    let mut words = vec!["journal", "copy", places[0], places[1], "--space", "tests", "--json"];
    words.extend(ids);
    bench.run(&words)
}

/// M12: a cast that waits is copied, goes on at the server only, and comes home with what happened there.
#[test]
fn a_copied_cast_goes_on_there_and_comes_home() {
    let servers = Servers::start(1, "");
    let bench = bench();
    let mut words = CAST.to_vec();
    words.insert(1, "--interactive");
    bench.run(&words).exits(3);
    let before = hashes(&bench.run(&["events", "c1", "--json"]).exits(0));

    let copied = copy(&bench, &servers, false, &["c1"]).exits(0).json();
    assert_eq!((&copied["castId"], &copied["added"]), (&json!("c1"), &json!(before.len())));
    let told = on(&bench, &servers, &["events", "c1", "--json"]).exits(0);
    assert_eq!(hashes(&told), before);
    on(&bench, &servers, &["replay", "c1"]).exits(0);

    // The source can be read, and nobody drives it.
    bench.run(&["replay", "c1"]).exits(0);
    let refused = bench.run(&["trigger", "c1", "ask"]);
    assert!(refused.exit != 0 && refused.err.contains("goes on there"), "{refused:?}");
    assert_eq!(hashes(&bench.run(&["events", "c1", "--json"]).exits(0)), before);
    let shown = bench.run(&["show", "c1"]).exits(0).out;
    assert!(
        shown.contains("it goes on in nats://127.0.0.1") && !shown.contains("resume"),
        "{shown}"
    );

    let script = ["--script", "answers.json", "--virtual-time"];
    let mut trigger = vec!["trigger", "c1", "ask"];
    trigger.extend(script);
    on(&bench, &servers, &trigger);
    let there = hashes(&on(&bench, &servers, &["events", "c1", "--json"]).exits(0));
    assert!(there.len() > before.len() && there.starts_with(&before));

    let home = copy(&bench, &servers, true, &[]).exits(0).json();
    assert_eq!(home["added"], json!(there.len() - before.len()));
    assert_eq!(hashes(&bench.run(&["events", "c1", "--json"]).exits(0)), there);
    bench.run(&["replay", "c1"]).exits(0);
    let refused = on(&bench, &servers, &["abort", "c1"]);
    assert!(refused.exit != 0 && refused.err.contains("goes on there"), "{refused:?}");
    bench.run(&["abort", "c1"]);
    let here = hashes(&bench.run(&["events", "c1", "--json"]).exits(0));
    assert!(here.len() >= there.len() && here.starts_with(&there));
}

/// M12: the same again changes nothing; casts that parted, and casts that are not there, are refused.
#[test]
fn what_parted_is_not_copied() {
    let servers = Servers::start(1, "");
    let bench = bench();
    bench.run(&CAST).exits(0);
    let first = copy(&bench, &servers, false, &[]).exits(0).json();
    let again = copy(&bench, &servers, false, &[]).exits(0).json();
    assert_eq!((&again["events"], &again["added"]), (&first["events"], &json!(0)));
    assert!(copy(&bench, &servers, false, &["nobody"]).exits(2).err.contains("there is no cast"));

    let other = crate::bench();
    let mut words = CAST.to_vec();
    *words.last_mut().unwrap() = "something else";
    other.run(&words).exits(0);
    let refused = copy(&other, &servers, false, &["c1"]).exits(2);
    assert!(refused.err.contains("other events"), "{refused:?}");
    other.run(&["journal", "copy", "sqlite", "sqlite"]).exits(2);
}

/// The leases that are held.
fn leases(servers: &Servers) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = async_nats::connect(servers.url()).await.unwrap();
        let context = async_nats::jetstream::new(client);
        let stream = context.get_stream("KV_materia-tests-leases").await.unwrap();
        stream.cached_info().state.messages
    })
}

/// Copies a cast through a connection that stands still after so many messages, and kills the copy there. Returns whether it
/// was killed.
fn copy_until(bench: &Bench, servers: &Servers, home: bool, id: &str, most: u64) -> bool {
    let halting = Halting::start(servers.port(0), most);
    let url = format!("nats://127.0.0.1:{}", halting.port);
    let places = if home { [url.as_str(), "sqlite"] } else { ["sqlite", url.as_str()] };
    let words = ["journal", "copy", places[0], places[1], "--space", "tests", id];
    let mut command = bench.command(&words);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut ended = false;
    until("the copy has ended or stands still", || {
        ended = child.try_wait().unwrap().is_some();
        ended || halting.halted.load(Ordering::SeqCst)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    !ended
}

/// Whether a cast is there and takes a command.
fn takes(ran: &Ran) -> bool {
    let refused = ["goes on there", "there is no cast"].iter().any(|why| ran.err.contains(why));
    assert!(ran.exit == 0 || refused, "{ran:?}");
    ran.exit == 0
}

/// M12: a copy that is killed anywhere leaves one place at most where the cast goes on, and the same command completes it.
#[test]
fn a_copy_that_is_killed_is_run_again() {
    let servers = Servers::start(1, "");
    let bench = bench();
    std::fs::create_dir_all(bench.profile()).unwrap();
    let profile = json!({"leaseSeconds": 3}).to_string();
    std::fs::write(bench.profile().join("materia.json"), profile).unwrap();
    for home in [false, true] {
        let way = if home { "home" } else { "out" };
        let begin = |id: &str| {
            let words = ["cast", "--interactive", "--virtual-time", "--script", "answers.json"];
            let words = [&words[..], &["--cast-id", id, "go"]].concat();
            let begun = if home { on(&bench, &servers, &words) } else { bench.run(&words) };
            begun.exits(3);
        };
        let mut killed: Vec<String> = Vec::new();
        for most in 0.. {
            let id = format!("{way}-{most}");
            begin(&id);
            if !copy_until(&bench, &servers, home, &id, most) {
                break;
            }
            killed.push(id);
        }
        assert!(killed.len() >= 4, "{killed:?}");
        until("the leases of the killed have lapsed", || leases(&servers) == 0);
        let command = |id: &str| {
            let words = ["budget", id, "--max-turns", "9", "--no-run"];
            let (here, there) = (bench.run(&words), on(&bench, &servers, &words));
            if home { [there, here] } else { [here, there] }
        };
        for id in killed {
            let [source, target] = command(&id).map(|ran| takes(&ran));
            assert!(!(source && target), "{id} goes on in both places");
            if !target {
                copy(&bench, &servers, home, &[&id]).exits(0);
            }
            let [source, target] = command(&id).map(|ran| takes(&ran));
            assert!(!source && target, "{id} goes on in the place of the copy only");
            for ran in [bench.run(&["replay", &id]), on(&bench, &servers, &["replay", &id])] {
                ran.exits(0);
            }
        }
    }
}
