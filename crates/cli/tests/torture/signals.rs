//! Signals at bad moments: to `materia`, to the supervisor, to programs that do not listen.

use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::bench::{Bench, Ran, finish, until};
use crate::tree::{self, GONE_BY, Mark};

const CAST: [&str; 6] = ["cast", "--trust", "--cast-id", "c1", "--json", "go"];

/// Waits while `go.txt` is not there. What it starts tries to get away in every manner.
const WAITS: &str = "
setsid sleep 60 >/dev/null 2>&1 &
(sleep 60 &)
echo x >>began.txt
until [ -e go.txt ]; do sleep 0.02; done
";

/// The same, and deaf to a polite end, as is all it starts.
const DEAF: &str = "
trap '' TERM INT HUP
setsid sleep 60 >/dev/null 2>&1 &
echo x >>began.txt
until [ -e go.txt ]; do sleep 0.02; done
";

fn one(program: &str) -> Value {
    json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "a", "sockets": {
            "a": { "materia": "M", "edges": [{ "to": "end" }] }
        } } },
        "materia": { "M": { "type": "utility", "command": ["sh", "-c", program] } },
    })
}

/// A cast whose program is under way.
fn under_way(program: &str, name: &str) -> (Bench, Mark, Child) {
    let (bench, mark) = (Bench::with(&one(program)), Mark::new(name));
    let child = start(&bench, &mark);
    bench.wait_for("began.txt");
    (bench, mark, child)
}

fn start(bench: &Bench, mark: &Mark) -> Child {
    mark.on(&mut bench.command(&CAST)).spawn().unwrap()
}

/// How a command ended, and in which time since `begun`.
fn timed(child: Child, begun: Instant) -> (Ran, Duration) {
    let ran = finish(child);
    (ran, begun.elapsed())
}

fn completes(bench: &Bench) {
    bench.write("go.txt", "");
    let after = bench.run(&["resume", "c1", "--json"]).exits(0).json();
    assert_eq!(after["status"], "completed", "{after}");
    bench.run(&["replay", "c1"]).exits(0);
}

#[test]
fn a_supervisor_that_sleeps_a_while_harms_nothing() {
    let (bench, mark, child) = under_way(WAITS, "nap");
    let supervisor = mark.supervisor();
    tree::send(supervisor.pid, Signal::STOP);
    bench.write("go.txt", "");
    std::thread::sleep(Duration::from_millis(300));
    tree::send(supervisor.pid, Signal::CONT);
    let report = finish(child).exits(0).json();
    assert_eq!(report["status"], "completed", "{report}");
    mark.gone("after a nap of the supervisor");
    bench.run(&["replay", "c1"]).exits(0);
}

#[test]
fn ctrl_c_ends_everything_even_while_the_supervisor_is_stopped() {
    let (bench, mark, child) = under_way(WAITS, "stopped");
    tree::send(mark.supervisor().pid, Signal::STOP);
    let begun = Instant::now();
    tree::signal(&child, Signal::INT);
    let (ran, took) = timed(child, begun);
    let ran = ran.exits(130);
    mark.gone("Ctrl-C while the supervisor was stopped");
    assert!(took < GONE_BY, "it took {took:?}: {ran:?}");
    completes(&bench);
}

#[test]
fn a_stopped_supervisor_whose_materia_was_killed_ends_everything_once_it_wakes() {
    let (bench, mark, child) = under_way(WAITS, "orphan");
    let supervisor = mark.supervisor();
    tree::send(supervisor.pid, Signal::STOP);
    tree::signal(&child, Signal::KILL);
    finish(child).exits(-1);
    tree::send(supervisor.pid, Signal::CONT);
    mark.gone("after the supervisor woke up");
    completes(&bench);
}

#[test]
fn a_killed_supervisor_fails_the_turn_and_leaves_nobody() {
    let (bench, mark, child) = under_way(WAITS, "headless");
    tree::send(mark.supervisor().pid, Signal::KILL);
    let ran = finish(child).exits(1);
    assert_eq!(ran.json()["error"]["code"], "internal", "{ran:?}");
    assert!(ran.err.contains("supervisor"), "{}", ran.err);
    mark.gone("after the supervisor was killed");
    bench.run(&["replay", "c1"]).exits(0);
}

#[test]
fn materia_stopped_and_continued_goes_on() {
    let (bench, mark, child) = under_way(WAITS, "paused");
    tree::signal(&child, Signal::STOP);
    bench.write("go.txt", "");
    std::thread::sleep(Duration::from_millis(300));
    let meanwhile = bench.run(&["events", "c1"]).exits(0);
    assert!(!meanwhile.out.contains("turn.completed"), "it was not stopped: {meanwhile:?}");
    tree::signal(&child, Signal::CONT);
    let report = finish(child).exits(0).json();
    assert_eq!(report["status"], "completed", "{report}");
    assert_eq!(report["visits"].as_array().unwrap().len(), 1, "once, and not again: {report}");
    mark.gone("after a pause");
    bench.run(&["replay", "c1"]).exits(0);
}

#[test]
fn a_program_that_ignores_the_polite_end_gets_another() {
    for signal in [Signal::INT, Signal::TERM] {
        let (bench, mark, child) = under_way(DEAF, format!("deaf-{}", signal.as_raw()).as_str());
        let begun = Instant::now();
        tree::signal(&child, signal);
        let (ran, took) = timed(child, begun);
        let ran = ran.exits(130);
        mark.gone("Ctrl-C before deaf ears");
        assert!(took < GONE_BY, "it took {took:?}: {ran:?}");
        assert_eq!(ran.json()["status"], "waiting");
        completes(&bench);
    }
}

#[test]
fn a_second_ctrl_c_or_a_kill_leaves_no_deaf_program_behind() {
    let (bench, mark, child) = under_way(DEAF, "twice");
    tree::signal(&child, Signal::INT);
    std::thread::sleep(Duration::from_millis(100));
    tree::signal(&child, Signal::INT);
    finish(child).exits(130);
    mark.gone("a second Ctrl-C before deaf ears");
    completes(&bench);

    let (bench, mark, child) = under_way(DEAF, "kill");
    tree::signal(&child, Signal::KILL);
    finish(child).exits(-1);
    mark.gone("kill -9 before deaf ears");
    completes(&bench);
}

/// Fast for the first two items; waits at the third, unless it did so before.
const EACH: &str = "
read -r given
item=${given#*'\"itemKey\":\"'}; item=${item%%'\"'*}
echo $item >>items.txt
if [ $item = WI-3 ]; then echo x >>began.txt; until [ -e go.txt ]; do sleep 0.02; done; fi
";

#[test]
fn ctrl_c_in_the_middle_of_a_list_keeps_what_is_done() {
    let mut config = one(EACH);
    config["materia"]["List"] = json!({
        "type": "utility", "parse": "json",
        "command": ["sh", "-c", r#"echo '{"state":{"list":[1,2,3,4,5]}}'"#],
    });
    let sockets = &mut config["loadouts"]["L"]["sockets"];
    sockets["a"]["foreach"] = json!({ "items": "state.list", "as": "entry", "cursor": "n" });
    sockets["list"] = json!({ "materia": "List", "edges": [{ "to": "a" }] });
    config["loadouts"]["L"]["entry"] = json!("list");
    let (bench, mark) = (Bench::with(&config), Mark::new("list"));
    let child = start(&bench, &mark);
    bench.wait_for("began.txt");
    tree::signal(&child, Signal::INT);
    let ran = finish(child).exits(130);
    assert_eq!(ran.json()["status"], "waiting", "{ran:?}");
    mark.gone("Ctrl-C in a list");
    completes(&bench);
    assert_eq!(bench.read("items.txt"), "WI-1\nWI-2\nWI-3\nWI-3\nWI-4\nWI-5\n");
}

#[test]
fn ctrl_c_at_any_moment_of_the_start_is_either_a_stop_or_nothing() {
    let (mut stopped, mut nothing) = (0, 0);
    for millis in (0..60).step_by(4) {
        let (bench, mark) = (Bench::with(&one("sleep 0.02")), Mark::new(millis));
        let child = start(&bench, &mark);
        std::thread::sleep(Duration::from_millis(millis));
        tree::signal(&child, Signal::INT);
        let ran = finish(child);
        mark.gone("Ctrl-C at the start");
        // Before it listens, the signal ends it as any program; later it stops in good order.
        assert!(matches!(ran.exit, -1 | 0 | 130), "after {millis} ms: {ran:?}");
        let shown = bench.run(&["show", "c1", "--json"]);
        if shown.exit != 0 {
            nothing += 1;
            continue;
        }
        let status = shown.json()["status"].as_str().unwrap().to_owned();
        if status != "completed" {
            stopped += 1;
            let mut resumed = None;
            until("it can be resumed", || {
                let ran = bench.run(&["resume", "c1"]);
                resumed = Some(ran.exit);
                ran.exit == 0
            });
            assert_eq!(resumed, Some(0), "after {millis} ms");
        }
        bench.run(&["replay", "c1"]).exits(0);
    }
    eprintln!("{stopped} stopped, {nothing} had not begun");
}
