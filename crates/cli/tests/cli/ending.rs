//! Ending casts: commands that arrive meanwhile, and files left beside the journal.

use std::process::Child;

use serde_json::json;

use crate::bench::{Bench, Ran, finish, until};

/// How many casts are looked at for what they leave.
const CLOSED: usize = 50;

/// Commands to a cast that another process runs (D59). None of them continues a cast that waits.
const ASKED: [&[&str]; 6] = [
    &["say", "c", "b", "hello"],
    &["pause", "c"],
    &["mode", "c", "INTERACTIVE", "--no-run"],
    &["budget", "c", "--max-turns", "99", "--no-run"],
    &["approve", "c", "b", "--no-run"],
    &["trigger", "c", "b", "--no-run"],
];

/// A socket that is under way until it is told.
fn patient(after: &str) -> Bench {
    Bench::with(&json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "a", "sockets": {
            "a": { "materia": "A", "edges": [{ "to": "b" }] },
            "b": { "materia": "B", "edges": [{ "to": "end" }] },
        } } },
        "materia": {
            "A": { "type": "utility", "command": ["sh", "-c", "touch began; while ! [ -e go ]; do sleep 0.01; done"] },
            "B": { "type": "utility", "command": ["sh", "-c", after] },
        },
    }))
}

/// Every command that reached a cast while it ended was taken or refused, and whoever sent it was told which.
#[expect(clippy::print_stderr, reason = "whoever asks for more casts wants the figures")]
#[test]
fn whoever_asks_something_of_a_cast_that_ends_hears_what_became_of_it() {
    let casts = if std::env::var_os("MATERIA_LONG").is_some() { 300 } else { 12 };
    let (mut taken, mut refused, mut noted) = (0, 0, 0);
    for nth in 0..casts {
        let bench = patient(if nth % 3 == 2 { "exit 1" } else { "true" });
        let cast = bench.start(&["cast", "--trust", "--cast-id", "c", "go"]);
        bench.wait_for("began");
        let mut senders: Vec<(&[&str], Child)> = Vec::new();
        for (place, args) in ASKED.iter().enumerate() {
            // Some before the end begins, some in its midst.
            if place == nth % ASKED.len() {
                bench.write("go", "");
            }
            senders.push((*args, bench.start(args)));
        }
        let _ = finish(cast);
        for (args, sender) in senders {
            let ran = finish(sender);
            let what = format!("cast {nth}, {args:?}: {ran:?}");
            assert!(!ran.err.contains("has not taken the command yet"), "{what}");
            match ran.exit {
                0 if ran.err.contains("took the command") => taken += 1,
                0 => noted += 1,
                2 => {
                    assert!(ran.err.contains("error:"), "{what}");
                    refused += 1;
                }
                _ => panic!("{what}"),
            }
        }
        let left = left_in_inbox(&bench);
        // What was noted for a cast that waits is done when somebody carries it on.
        let status = bench.run(&["show", "c", "--json"]).exits(0).json()["status"].clone();
        assert!(left == 0 || status == "waiting", "cast {nth} ({status}): {left} commands wait");
    }
    eprintln!(
        "{casts} casts: {taken} taken, {refused} refused, {noted} noted where nobody drove the cast"
    );
}

fn left_in_inbox(bench: &Bench) -> i64 {
    let journal = bench.project().join(".materia/journal.db");
    let connection = rusqlite::Connection::open(journal).unwrap();
    connection.query_row("SELECT count(*) FROM inbox", [], |row| row.get(0)).unwrap()
}

/// A command to a cast that has ended is refused at once, with what it is.
#[test]
fn a_cast_that_has_ended_refuses_at_once() {
    let bench = patient("true");
    bench.write("go", "");
    bench.run(&["cast", "--trust", "--cast-id", "c", "go"]).exits(0);
    let others: [&[&str]; 4] =
        [&["mode", "c", "AUTO"], &["continue", "c"], &["abort", "c"], &["deny", "c", "b"]];
    for args in ASKED.iter().chain(&others) {
        let ran = bench.run(args).exits(2);
        assert!(ran.err.contains("ended"), "{args:?}: {ran:?}");
    }
    assert_eq!(left_in_inbox(&bench), 0);
}

/// Files that `SQLite` keeps beside the journal while it is open.
fn beside(bench: &Bench) -> Vec<&'static str> {
    ["journal.db-wal", "journal.db-shm"]
        .into_iter()
        .filter(|name| bench.has(&format!(".materia/{name}")))
        .collect()
}

fn closed(bench: &Bench, ran: &Ran, what: &str) {
    assert_eq!(beside(bench), Vec::<&str>::new(), "{what}: {ran:?}");
}

#[test]
fn the_last_connection_closes_before_the_process_ends() {
    let bench = patient("[ -z \"$FAILS\" ]");
    bench.write("go", "");
    for nth in 0..CLOSED {
        let ran = bench.run(&["cast", "--trust", "go"]).exits(0);
        closed(&bench, &ran, &format!("cast {nth}"));
    }
    for args in [&["show", "last"][..], &["casts"], &["events", "last"], &["replay", "last"]] {
        let ran = bench.run(args).exits(0);
        closed(&bench, &ran, args[0]);
    }
    // Where it fails, and where a person stops it.
    let failing = patient("exit 1");
    failing.write("go", "");
    let ran = failing.run(&["cast", "--trust", "--cast-id", "c", "go"]).exits(1);
    closed(&failing, &ran, "failed");
    let ran = failing.run(&["recast", "c"]).exits(1);
    closed(&failing, &ran, "recast");
    let bench = patient("true");
    let cast = bench.start(&["cast", "--trust", "--cast-id", "c", "go"]);
    bench.wait_for("began");
    let pid = rustix::process::Pid::from_raw(i32::try_from(cast.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ran = finish(cast).exits(130);
    closed(&bench, &ran, "Ctrl-C");
    // And a server that is stopped.
    let server = bench.start(&["serve", "--listen", "127.0.0.1:0"]);
    until("the server runs", || {
        bench.run(&["casts"]).exit == 0 && bench.state().join("server.json").exists()
    });
    bench.run(&["stop"]).exits(0);
    let ran = finish(server);
    closed(&bench, &ran, "serve");
}

#[test]
fn a_cast_that_ends_with_the_verdict_false_says_so_everywhere() {
    // D65: the status stays `completed`; people read more.
    let bench = Bench::with(&json!({
        "materia": {"T": {"type": "utility", "command": ["false"], "verdict": "exitCode"}},
        "loadouts": {"L": {"entry": "a", "sockets": {"a": {"materia": "T", "edges": [{"to": "end"}]}}}},
        "activeLoadout": "L"
    }));
    let ran = bench.run(&["cast", "--trust", "--cast-id", "c1", "go"]);
    assert_eq!(ran.exit, 0, "{}", ran.err);
    assert!(ran.err.contains("c1 completed, not satisfied"), "{}", ran.err);
    for command in [&["casts"][..], &["show", "c1"], &["events", "c1"]] {
        let ran = bench.run(command);
        assert!(ran.out.contains("completed, not satisfied"), "{command:?}: {}", ran.out);
    }
    let strict = bench.run(&["cast", "--strict-end", "--cast-id", "c2", "go"]);
    assert_eq!(strict.exit, 1, "{}", strict.err);
}
