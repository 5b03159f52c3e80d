//! The binary with its journal on NATS servers (M1–M4, M13).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../cli/bench.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod bench;
mod copying;
mod corpus;
mod deploy;
mod exactly_once;
mod files;
mod kills;
mod losses;
#[path = "../../../nats/tests/nats/proxy.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod proxy;
mod same;
mod secure;
#[path = "../../../nats/tests/nats/server.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod server;
mod serving;
mod takeover;
mod trust;
mod workers;

use serde_json::{Value, json};

use bench::{Bench, Ran};
use server::Servers;

/// Two sockets, a command between them, and a question to a person.
fn config() -> Value {
    json!({
        "materia": {
            "Ask": {"prompt": "say something"},
            "Own": {"type": "utility", "command": ["sh", "-c", "echo '{\"state\": {\"x\": 1}}'"], "parse": "json"},
            "Last": {"prompt": "say it again"}
        },
        "loadouts": {"L": {"entry": "ask", "sockets": {
            "ask": {"materia": "Ask", "edges": [{"to": "own"}]},
            "own": {"materia": "Own", "edges": [{"to": "last"}]},
            "last": {"materia": "Last"}
        }}},
        "activeLoadout": "L"
    })
}

const ANSWERS: &str = r#"{"turns": {"ask": [{"text": "something"}], "last": [{"text": "something"}, {"text": "more"}]}}"#;

fn bench() -> Bench {
    let bench = Bench::with(&config());
    bench.write("answers.json", ANSWERS);
    bench
}

/// Runs `materia` with its journal on these servers.
fn on(bench: &Bench, servers: &Servers, words: &[&str]) -> Ran {
    let mut command = bench.command(words);
    command.env("MATERIA_JOURNAL", servers.url()).env("MATERIA_SPACE", "tests");
    command.output().unwrap().into()
}

const CAST: [&str; 8] =
    ["cast", "--json", "--virtual-time", "--script", "answers.json", "--cast-id", "c1", "go"];

/// Casts until the budget of one turn is used.
fn rests_after_one_turn(bench: &Bench, servers: &Servers) {
    let mut words = CAST.to_vec();
    words.insert(1, "--max-turns");
    words.insert(2, "1");
    on(bench, servers, &words).exits(3);
}

/// Types and hashes of events; under simulated time they do not depend on the clock.
fn hashes(ran: &Ran) -> Vec<(Value, Value)> {
    ran.lines().into_iter().map(|event| (event["type"].clone(), event["hash"].clone())).collect()
}

/// M1, M2, M13: the same cast has the same events but for times in a file and on a server.
#[test]
fn a_cast_on_a_server_is_the_same_cast() {
    let servers = Servers::start(1, "");
    let (file, remote) = (bench(), bench());
    let here = file.run(&CAST).exits(0).json();
    let there = on(&remote, &servers, &CAST).exits(0).json();
    for field in ["status", "state", "events", "turns"] {
        assert_eq!(here[field], there[field], "{field}");
    }
    assert!(!remote.has(".materia/journal.db"), "nothing is kept in a file");
    let told = file.run(&["events", "c1", "--json"]).exits(0);
    let heard = on(&remote, &servers, &["events", "c1", "--json"]).exits(0);
    assert_eq!(hashes(&told), hashes(&heard));
    for words in [&["show", "c1"][..], &["why", "c1", "last"], &["replay", "c1"], &["grid", "c1"]] {
        let ran = on(&remote, &servers, words).exits(0);
        assert!(!ran.out.is_empty(), "{words:?}: {ran:?}");
    }
    let list = on(&remote, &servers, &["casts", "--json"]).exits(0).lines();
    assert_eq!((list.len(), &list[0]["castId"]), (1, &json!("c1")));
    // The files beside the journal are on the machine that drove the cast.
    assert!(remote.has(".materia/c1/events.jsonl"));
    assert!(remote.has(".materia/.gitignore"), "and kept out of version control");
    // Another space on the same server has none of it.
    let mut other = remote.command(&["--space", "other", "casts", "--json"]);
    let other: Ran = other.env("MATERIA_JOURNAL", servers.url()).output().unwrap().into();
    assert_eq!(other.exits(0).out, "");
    let mut other = remote.command(&["--space", "other", "show", "c1"]);
    let other: Ran = other.env("MATERIA_JOURNAL", servers.url()).output().unwrap().into();
    assert!(other.err.contains("space `other`"), "{other:?}");
    other.exits(2);
}

/// M7: commands of people reach a cast on a server, and it is carried on.
#[test]
fn a_cast_on_a_server_is_steered() {
    let servers = Servers::start(1, "");
    let bench = bench();
    rests_after_one_turn(&bench, &servers);
    on(&bench, &servers, &["say", "c1", "last", "be brief"]).exits(0);
    on(&bench, &servers, &["budget", "c1", "--max-turns", "9"]).exits(0);
    let show = on(&bench, &servers, &["show", "c1", "--json"]).exits(0).json();
    assert_eq!(show["status"], "completed");
    let ran = on(&bench, &servers, &["abort", "c1"]).exits(2);
    assert!(ran.err.contains("completed"), "{ran:?}");
}

/// M1: nobody answers, or the address is none.
#[test]
fn a_server_that_is_not_there_is_a_refusal() {
    let mut servers = Servers::start(1, "");
    servers.kill(0);
    let bench = bench();
    for words in [&CAST[..], &["casts"], &["show", "c1"]] {
        let ran = on(&bench, &servers, words).exits(2);
        assert!(ran.err.contains("no NATS server answers at"), "{ran:?}");
    }
    assert!(!bench.has(".materia"), "nothing was written");
    let ran = bench.run(&["--journal", "http://x", "casts"]).exits(2);
    assert!(ran.err.contains("is no address of a journal"), "{ran:?}");
    let ran = bench.run(&["--journal", "nats://x", "--space", "A B", "casts"]).exits(2);
    assert!(ran.err.contains("cannot name a space"), "{ran:?}");
}

/// M1: the profile names the journal; a project that does is not believed.
#[test]
fn only_the_profile_names_a_journal() {
    let servers = Servers::start(1, "");
    let bench = bench();
    let named = json!({"journal": servers.url(), "space": "mine"});
    let mut config = config();
    config["journal"] = json!("nats://127.0.0.1:1");
    bench.write("materia.json", &config.to_string());
    let ran = bench.run(&["check"]).exits(0);
    assert!(ran.out.contains("config::journal") || ran.err.contains("config::journal"), "{ran:?}");
    bench.run(&["casts"]).exits(0);
    std::fs::create_dir_all(bench.profile()).unwrap();
    std::fs::write(bench.profile().join("materia.json"), named.to_string()).unwrap();
    bench.run(&CAST).exits(0);
    assert!(!bench.has(".materia/journal.db"));
    let ran = bench.run(&["--journal", "sqlite", "casts", "--json"]).exits(0);
    assert_eq!(ran.out, "", "an option is above the profile");
}

/// M1: a server that goes away during a cast is waited for; then the cast rests (exit status 3), and goes on later.
#[test]
fn a_server_that_goes_away_lets_a_cast_rest() {
    let mut servers = Servers::start(1, "");
    let mut config = config();
    // The turn ends once the test has killed the server.
    let command = "touch begun; while [ ! -e go ]; do sleep 0.05; done; echo '{}'";
    config["materia"]["Own"]["command"] = json!(["sh", "-c", command]);
    let bench = Bench::with(&config);
    bench.write("answers.json", ANSWERS);
    let words = ["cast", "--script", "answers.json", "--cast-id", "c1", "go"];
    let mut command = bench.command(&words);
    command.env("MATERIA_JOURNAL", servers.url()).env("MATERIA_SPACE", "tests");
    let child = command.env("MATERIA_NATS_WAIT", "0.5").spawn().unwrap();
    while !bench.has("begun") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    servers.kill(0);
    bench.write("go", "");
    let ran: Ran = child.wait_with_output().unwrap().into();
    let ran = ran.exits(3);
    assert!(ran.err.contains("the NATS server was lost"), "{ran:?}");
    servers.begin(0);
    let resumed = Servers::ready(|| {
        let ran = on(&bench, &servers, &["resume", "c1"]);
        if ran.exit == 0 { Ok(ran) } else { Err(ran.err) }
    });
    assert_eq!(resumed.exit, 0);
    on(&bench, &servers, &["replay", "c1"]).exits(0);
}

/// M2: messages of others among those of a cast are named, and `replay` exits with 1.
#[test]
fn replay_names_messages_of_others() {
    let servers = Servers::start(1, "");
    let bench = bench();
    on(&bench, &servers, &CAST).exits(0);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let stranger = async_nats::connect(servers.url()).await.unwrap();
        stranger.publish("materia.tests.run.c1", "nonsense".into()).await.unwrap();
        stranger.flush().await.unwrap();
    });
    let ran = on(&bench, &servers, &["replay", "c1"]).exits(1);
    let said = format!("{}{}", ran.out, ran.err);
    assert!(said.contains("were not written by Materia"), "{ran:?}");
    on(&bench, &servers, &["show", "c1"]).exits(0);
}

/// M3: whether events are durable is read from the monitor of the server.
#[test]
fn doctor_says_whether_events_are_durable() {
    let servers = Servers::start(1, "");
    let bench = bench();
    let doctor = |monitor: &str| {
        let mut command = bench.command(&["doctor", "--json"]);
        command.env("MATERIA_JOURNAL", servers.url()).env("MATERIA_NATS_MONITOR", monitor);
        let ran: Ran = command.output().unwrap().into();
        ran.json()["journal"].clone()
    };
    assert_eq!(doctor(&servers.monitor())["durable"], "yes");
    let unknown = doctor("");
    assert_eq!((&unknown["durable"], &unknown["replicas"]), (&json!("unknown"), &json!(1)));
    // The same server with its own interval, which is two minutes.
    let folder = tempfile::tempdir().unwrap();
    let usual = format!("jetstream {{ store_dir: \"{}\" }}", folder.path().display());
    let servers = Servers::start(1, &usual);
    let mut command = bench.command(&["doctor", "--json"]);
    command.env("MATERIA_JOURNAL", servers.url()).env("MATERIA_NATS_MONITOR", servers.monitor());
    let ran: Ran = command.output().unwrap().into();
    assert_eq!(ran.json()["journal"]["durable"], "no", "{ran:?}");
    let ran = bench.run(&["doctor", "--json"]);
    assert_eq!(ran.json().get("journal"), None, "a user without a server hears nothing of one");
}
