//! Ctrl-C, kill, resume and abort.

use std::io::{BufRead, BufReader};
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::bench::{Bench, finish, until, utilities};

/// Waits in its first run and comes straight through in any later one.
const SLOW: &str = "
import os, sys, time
first = not os.path.exists('began.txt')
open('began.txt', 'a').write('x')
if first:
    time.sleep(60)
";
const COUNT: &str = "open('count.txt', 'a').write('x')";

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

fn started(bench: &Bench) -> Child {
    let child = bench.start(&["cast", "--trust", "--cast-id", "c1", "--json", "go"]);
    bench.wait_for("began.txt");
    child
}

fn report(bench: &Bench) -> Value {
    bench.run(&["show", "c1", "--json"]).exits(0).json()
}

#[test]
fn ctrl_c_stops_in_good_order_and_resume_completes() {
    for (sent, name) in
        [(Signal::INT, "Ctrl-C"), (Signal::TERM, "SIGTERM"), (Signal::HUP, "SIGHUP")]
    {
        let bench = Bench::with(&utilities(&[("a", COUNT), ("b", SLOW), ("c", COUNT)]));
        let child = started(&bench);
        signal(&child, sent);
        let ran = finish(child).exits(130);
        assert!(ran.err.contains(name) && ran.err.contains("materia resume c1"), "{}", ran.err);
        assert_eq!(ran.json()["status"], "waiting");
        assert_eq!(report(&bench)["visits"][1]["outcome"], "interrupted");
        let after = bench.run(&["resume", "c1", "--json"]).exits(0).json();
        assert_eq!(after["status"], "completed");
        assert_eq!(bench.read("count.txt"), "xx", "what had ended did not run again");
        assert_eq!(after["visits"][2]["attempt"], 2);
        bench.run(&["replay", "c1"]).exits(0);
    }
}

/// Comes to a good end when it is asked to end, like a program that finishes what it has begun.
const FINISHES: &str = "
import os, signal, sys, time
def finish(*_):
    open('count.txt', 'a').write('x')
    sys.exit(0)
signal.signal(signal.SIGTERM, finish)
open('began.txt', 'a').write('x')
time.sleep(60)
";

#[test]
fn what_came_to_a_good_end_while_it_was_stopped_does_not_run_again() {
    let bench = Bench::with(&utilities(&[("a", FINISHES), ("b", COUNT)]));
    let child = started(&bench);
    signal(&child, Signal::INT);
    let ran = finish(child).exits(130);
    assert_eq!(ran.json()["status"], "waiting");
    assert_eq!(report(&bench)["visits"][0]["outcome"], "completed", "its report was taken");
    let after = bench.run(&["resume", "c1", "--json"]).exits(0).json();
    assert_eq!(after["status"], "completed");
    assert_eq!(after["visits"].as_array().unwrap().len(), 2);
    assert_eq!((bench.read("began.txt").as_str(), bench.read("count.txt").as_str()), ("x", "xx"));
    bench.run(&["replay", "c1"]).exits(0);
}

/// Whoever is ended finds in the journal that the cast is stopped (D57).
#[test]
fn a_stop_is_durable_before_anything_is_ended() {
    let looks = format!(
        "
import os, signal, subprocess, sys, time
def look(*_):
    subprocess.run([{:?}, 'events', 'c1', '--json'], stdout=open('seen.txt', 'w'))
    os._exit(1)
signal.signal(signal.SIGTERM, look)
first = not os.path.exists('began.txt')
open('began.txt', 'a').write('x')
if first:
    time.sleep(60)
",
        env!("CARGO_BIN_EXE_materia")
    );
    let bench = Bench::with(&utilities(&[("a", &looks)]));
    let child = started(&bench);
    signal(&child, Signal::INT);
    finish(child).exits(130);
    let seen = bench.read("seen.txt");
    let seen: Vec<Value> = seen.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = seen.last().unwrap();
    assert_eq!((&last["type"], &last["data"]["reason"]), (&"mode.changed".into(), &"stop".into()));
    let kinds: Vec<Value> = bench.run(&["events", "c1", "--json"]).exits(0).lines();
    let end: Vec<&str> =
        kinds[seen.len()..].iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(end, ["turn.interrupted", "run.waiting"]);
    let after = bench.run(&["resume", "c1", "--json"]).exits(0).json();
    assert_eq!(
        (&after["status"], after["visits"].as_array().unwrap().len()),
        (&"completed".into(), 2)
    );
    bench.run(&["replay", "c1"]).exits(0);
}

#[test]
fn a_second_ctrl_c_leaves_at_once() {
    let deaf = "
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
first = not os.path.exists('began.txt')
open('began.txt', 'a').write('x')
if first:
    time.sleep(60)
";
    let bench = Bench::with(&utilities(&[("a", deaf)]));
    let mut child = started(&bench);
    let mut err = BufReader::new(child.stderr.take().unwrap());
    signal(&child, Signal::INT);
    let mut line = String::new();
    while !line.contains("stopping") {
        line.clear();
        assert_ne!(err.read_line(&mut line).unwrap(), 0, "it says that it stops");
    }
    signal(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(report(&bench)["status"], "running", "nothing was recorded any more");
    bench.run(&["resume", "c1"]).exits(0);
}

#[test]
fn a_killed_cast_can_be_resumed_by_the_beginning_of_its_id() {
    let bench = Bench::with(&utilities(&[("a", COUNT), ("b", SLOW)]));
    let child = bench.start(&["cast", "--trust", "--cast-id", "long-name-1", "go"]);
    bench.wait_for("began.txt");
    signal(&child, Signal::KILL);
    finish(child).exits(-1);
    assert_eq!(bench.run(&["show", "long", "--json"]).exits(0).json()["status"], "running");
    for listed in [&["show", "long"][..], &["casts"]] {
        assert!(bench.run(listed).exits(0).out.contains("interrupted: no process drives it"));
    }
    let after = bench.run(&["resume", "last", "--json"]).exits(0).json();
    assert_eq!(after["status"], "completed");
    assert_eq!(bench.read("count.txt"), "x");
    bench.run(&["show", "lon"]).exits(2);
}

#[test]
fn another_process_can_abort_a_cast_under_way() {
    let bench = Bench::with(&utilities(&[("a", SLOW)]));
    let child = started(&bench);
    let shown = bench.run(&["show", "c1"]).exits(0).out;
    assert!(shown.contains("status    running\n"), "{shown}");
    assert!(shown.contains("next      materia attach c1\n"), "{shown}");
    // Who resumes it lets it go on there (D59); what only its own process can do is refused.
    assert_eq!(bench.run(&["resume", "c1", "--json"]).exits(0).json()["told"], true);
    let refused = bench.run(&["recast", "c1", "--json"]).exits(2);
    assert!(refused.json()["error"]["message"].as_str().unwrap().contains("another process"));
    let aborted = bench.run(&["abort", "c1", "--json"]).exits(0);
    assert_eq!(aborted.json()["status"], "aborted");
    let ran = finish(child).exits(1);
    assert_eq!(ran.json()["status"], "aborted");
    assert_eq!(report(&bench)["visits"][0]["outcome"], "interrupted");
    bench.run(&["resume", "c1"]).exits(2);
}

#[test]
fn events_can_be_followed_until_the_end() {
    let program = "
import os, time
open('began.txt', 'w')
while not os.path.exists('go.txt'):
    time.sleep(0.01)
";
    let bench = Bench::with(&utilities(&[("a", program), ("b", COUNT)]));
    let child = started(&bench);
    let follower = bench.start(&["events", "c1", "--follow", "--json"]);
    bench.write("go.txt", "");
    let ran = finish(follower).exits(0);
    let events = ran.lines();
    assert_eq!(events.last().unwrap()["type"], "run.completed");
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event["seq"], index as u64 + 1);
        if index > 0 {
            assert_eq!(event["prevHash"], events[index - 1]["hash"]);
        }
    }
    finish(child).exits(0);
}

#[test]
fn following_a_cast_whose_process_died_ends() {
    let bench = Bench::with(&utilities(&[("a", SLOW)]));
    let child = started(&bench);
    let follower = bench.start(&["events", "c1", "--follow"]);
    signal(&child, Signal::KILL);
    finish(child).exits(-1);
    let ran = finish(follower).exits(0);
    assert!(ran.err.contains("materia resume c1"), "{}", ran.err);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let bench = Bench::with(&utilities(&[("a", COUNT)]));
    bench.run(&["cast", "--trust", "--cast-id", "c1", "go"]).exits(0);
    for args in [&["events", "c1", "--json"][..], &["show", "c1"], &["grid"]] {
        let mut child = bench.start(args);
        drop(child.stdout.take());
        let mut status = None;
        until("it ends", || {
            status = child.try_wait().unwrap();
            status.is_some()
        });
        assert_eq!(status.unwrap().code(), Some(0), "{args:?}");
    }
}
