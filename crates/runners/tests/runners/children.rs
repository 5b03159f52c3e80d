//! Programs that refuse to exit, or leave processes behind.

use std::fs;
use std::time::{Duration, Instant};

use materia_contract::{ErrorCode, TurnOutput};
use materia_engine::{Runner, StopSource, TurnFault};
use materia_runners::STREAM_BYTES_MAX;
use serde_json::json;

use crate::stage::{Stage, eventually, runtime};

/// Runs a shell script under a short limit and expects it to be ended in good time.
fn ended_by_limit(script: &str) -> (Stage, TurnFault) {
    let mut stage = Stage::new();
    stage.job.timeout = Some(Duration::from_millis(500));
    let begun = Instant::now();
    let fault = stage.fault(&["sh", "-c", script]);
    assert_eq!(fault.code, ErrorCode::UtilityTimeout, "{}", fault.message);
    assert!(begun.elapsed() < Duration::from_secs(30), "took {:?}", begun.elapsed());
    (stage, fault)
}

#[test]
fn a_limit_ends_the_program_and_says_so() {
    let (stage, fault) = ended_by_limit("echo so far; exec sleep 60");
    assert!(fault.message.starts_with("`sh -c "), "{}", fault.message);
    assert!(fault.message.contains("limit of 500 ms"), "{}", fault.message);
    assert_eq!(fault.report.output, "so far\n");
    assert_eq!(fault.report.signal, Some(15));
    stage.assert_nobody_left();
}

#[test]
fn one_that_tidies_up_when_asked_gets_the_time_to() {
    let (stage, fault) =
        ended_by_limit("trap 'echo tidy; exit 0' TERM; echo up; while :; do sleep 0.05; done");
    assert_eq!(fault.report.output, "up\ntidy\n");
    assert_eq!(fault.report.exit_code, Some(0));
    stage.assert_nobody_left();
}

#[test]
fn one_that_ignores_the_request_is_killed() {
    let (stage, fault) = ended_by_limit("trap '' TERM INT HUP; sleep 60 & sleep 60");
    assert_eq!(fault.report.signal, Some(9));
    stage.assert_nobody_left();
}

#[test]
fn one_that_stopped_itself_is_ended_too() {
    let (stage, fault) = ended_by_limit("echo up; kill -STOP $$");
    assert_eq!(fault.report.output, "up\n");
    assert_eq!(fault.report.signal, Some(15), "it was woken to hear the request");
    stage.assert_nobody_left();
}

#[test]
fn grandchildren_in_their_own_sessions_are_ended_at_the_limit() {
    let (stage, fault) = ended_by_limit(
        "trap '' TERM
for i in 1 2 3 4 5; do setsid sh -c 'setsid sleep 60 & echo up; sleep 60' & done
sleep 60",
    );
    assert_eq!(fault.report.output, "up\n".repeat(5));
    stage.assert_nobody_left();
}

#[test]
fn one_that_flees_by_forking_is_caught() {
    let (_, output) = leaves_behind(
        "import os,sys
if os.fork() == 0:
    for hop in range(20000):
        if os.fork(): os._exit(0)
        os.setsid()
        if hop == 3: print('fleeing', flush=True)
        if hop == 3: os.close(1)
import time; time.sleep(0.3)",
    );
    assert_eq!(output.output, "fleeing\n");
}

/// Runs a program that succeeds at once and leaves somebody behind, who must be gone after.
fn leaves_behind(script: &str) -> (Stage, TurnOutput) {
    let stage = Stage::new();
    let begun = Instant::now();
    let output = stage.output(&["python3", "-c", script]);
    assert!(begun.elapsed() < Duration::from_secs(20), "took {:?}", begun.elapsed());
    stage.assert_nobody_left();
    (stage, output)
}

#[test]
fn a_daemon_with_closed_streams_does_not_outlive_its_program() {
    leaves_behind(
        "import os,time
r,w = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    for fd in (0,1,2): os.close(fd)
    os.write(w, b'x'); time.sleep(60)
os.read(r, 1)",
    );
}

#[test]
fn a_grandchild_that_holds_the_pipe_is_not_waited_for() {
    let (_, output) = leaves_behind(
        "import os,sys,time
print('done', flush=True)
if os.fork() == 0: time.sleep(60)",
    );
    assert_eq!(output.output, "done\n");
}

#[test]
fn a_crowd_of_zombies_is_reaped() {
    // Orphans go to the supervisor, which the program can look at; an ended one that nobody has
    // taken note of stays among its children.
    let (_, output) = leaves_behind(
        "import os, time
made = set()
for _ in range(100):
    r, w = os.pipe()
    child = os.fork()
    if child == 0:
        grandchild = os.fork()
        if grandchild: os.write(w, b'%d' % grandchild)
        os._exit(0)
    os.waitpid(child, 0)
    made.add(int(os.read(r, 9)))
    os.close(r); os.close(w)
def left():
    parent = os.getppid()
    children = open(f'/proc/{parent}/task/{parent}/children').read().split()
    return made & set(map(int, children))
for _ in range(300):
    if not left(): break
    time.sleep(0.01)
print(len(made), 'made,', len(left()), 'left')",
    );
    assert_eq!(output.output, "100 made, 0 left\n");
}

#[test]
fn a_stranger_that_holds_the_pipe_is_not_waited_for() {
    let stage = Stage::new();
    let go = stage.cwd().join("go");
    let pid_file = stage.cwd().join("pid");
    let stranger = std::thread::spawn({
        let (go, pid_file) = (go.clone(), pid_file.clone());
        move || {
            let read = || fs::read_to_string(&pid_file).unwrap_or_default().trim().to_owned();
            eventually("a pid", || !read().is_empty());
            // From outside the tree: nothing the supervisor does can close this.
            let held = fs::OpenOptions::new().write(true).open(format!("/proc/{}/fd/1", read()));
            fs::write(go, "").unwrap();
            held.unwrap()
        }
    });
    let script =
        "echo $$ > pid.new; mv pid.new pid; while [ ! -e go ]; do sleep 0.01; done; echo over";
    let begun = Instant::now();
    let output = stage.output(&["sh", "-c", script]);
    assert_eq!(output.output, "over\n");
    assert!(begun.elapsed() < Duration::from_secs(30));
    drop(stranger.join().unwrap());
}

#[test]
fn an_endless_flood_is_ended_in_time_and_takes_no_room() {
    let mut stage = Stage::new();
    stage.job.timeout = Some(Duration::from_millis(1500));
    let fault = stage.fault(&["sh", "-c", "timeout 30 yes & timeout 30 yes >&2"]);
    assert_eq!(fault.code, ErrorCode::UtilityTimeout);
    for stream in [&fault.report.output, &fault.report.stderr] {
        // How much goes by in that time is the machine's matter.
        assert!(stream.len() < STREAM_BYTES_MAX + 300, "{}", stream.len());
    }
    assert!(fault.message.len() < 2000);
    stage.assert_nobody_left();
}

#[test]
fn a_stop_ends_the_tree_before_the_future_resolves() {
    let stage = Stage::new();
    let job = stage.command(&["sh", "-c", "setsid sleep 60 & touch up; sleep 60"], json!({}));
    let (source, stop) = StopSource::new();
    runtime().block_on(async {
        let turn = tokio::spawn(stage.runner.run(job.stopped_by(stop)));
        while !stage.cwd().join("up").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(!stage.processes().is_empty());
        source.ask();
        let report = turn.await.unwrap();
        assert!(report.outcome.is_err());
        stage.assert_nobody_left();
    });
}

#[test]
fn dropping_the_future_ends_the_tree() {
    let stage = Stage::new();
    let job = stage.command(&["sh", "-c", "setsid sleep 60 & touch up; sleep 60"], json!({}));
    let (_source, stop) = StopSource::new();
    runtime().block_on(async {
        tokio::select! {
            _ = stage.runner.run(job.stopped_by(stop)) => panic!("it sleeps for a minute"),
            () = async {
                while !stage.cwd().join("up").exists() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            } => {}
        }
    });
    eventually("an empty tree", || stage.processes().is_empty());
}
