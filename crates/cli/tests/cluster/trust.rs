//! Scripts and files of casts that workers run, and commands of people to such casts (M7, M8).

use serde_json::json;

use crate::bench::{Bench, Ran, until};
use crate::server::Servers;
use crate::workers::{Worker, events, status};
use crate::{ANSWERS, bench, config, on};

const DETACHED: [&str; 7] =
    ["cast", "--detach", "--script", "answers.json", "--cast-id", "c1", "go"];

/// A cast whose second turn lasts until the file `go` is there.
fn waiting_bench() -> Bench {
    let mut config = config();
    let command = "echo x >> begun; while [ ! -e go ]; do sleep 0.05; done; echo '{}'";
    config["materia"]["Own"]["command"] = json!(["sh", "-c", command]);
    let bench = Bench::with(&config);
    bench.write("answers.json", ANSWERS);
    bench
}

/// M8: the script of a cast comes with the cast, not from the disk of the worker.
#[test]
fn a_script_travels_with_its_cast() {
    let servers = Servers::start(1, "");
    let bench = bench();
    on(&bench, &servers, &DETACHED).exits(0);
    std::fs::remove_file(bench.project().join("answers.json")).unwrap();
    let _worker = Worker::start(&bench, &servers, &[]);
    until("the cast is completed", || status(&bench, &servers, "c1") == "completed");
    assert!(!bench.has("answers.json"));
    on(&bench, &servers, &["replay", "c1"]).exits(0);
}

/// M8: a file that has changed since it was approved does not run, and the worker approves nothing for the user.
#[test]
fn a_worker_runs_only_files_that_were_approved() {
    let servers = Servers::start(1, "");
    let mut config = config();
    config["materia"]["Own"]["command"] = json!(["sh", "own.sh"]);
    let bench = Bench::with(&config);
    bench.write("answers.json", ANSWERS);
    bench.write("own.sh", "echo '{\"state\": {\"x\": 1}}'\n");
    on(&bench, &servers, &DETACHED).exits(0);
    bench.write("own.sh", "touch evil; echo '{}'\n");
    // The worker of another user, who has approved nothing here.
    let profile = bench.state().with_file_name("other-profile");
    let profile = profile.to_string_lossy().into_owned();
    let other = Worker::start_with(&bench, &servers, &[], &[("MATERIA_PROFILE_DIR", &profile)]);
    until("it is left alone", || {
        other.said().contains("`own.sh` is not the file that was approved")
    });
    assert!(!bench.has("evil"));
    drop(other);
    bench.write("own.sh", "echo '{\"state\": {\"x\": 1}}'\n");
    let _again = Worker::start_with(&bench, &servers, &[], &[("MATERIA_PROFILE_DIR", &profile)]);
    until("the cast is completed", || status(&bench, &servers, "c1") == "completed");
    let mut asking = bench.command(&["cast", "--script", "answers.json", "go"]);
    asking.env("MATERIA_PROFILE_DIR", &profile);
    let words: Vec<_> = asking.get_args().map(std::ffi::OsStr::to_owned).collect();
    let mut asking = bench.command(&[]);
    asking.env("MATERIA_PROFILE_DIR", &profile);
    asking.args(words.into_iter().filter(|word| word != "--trust"));
    let ran: Ran = asking.output().unwrap().into();
    assert_eq!(ran.exit, 2, "{ran:?}");
    assert!(ran.err.contains("not approved"), "{ran:?}");
}

/// M7: commands of people reach the worker that runs the cast, and act once.
#[test]
fn commands_reach_the_worker() {
    let servers = Servers::start(1, "");
    let bench = waiting_bench();
    let _worker = Worker::start(&bench, &servers, &[]);
    on(&bench, &servers, &DETACHED).exits(0);
    bench.wait_for("begun");
    let ran = on(&bench, &servers, &["budget", "c1", "--max-turns", "2"]).exits(0);
    assert!(ran.err.contains("is running and took the command"), "{ran:?}");
    bench.write("go", "");
    until("the cast waits", || status(&bench, &servers, "c1") == "waiting");
    let all = events(&bench, &servers, "c1");
    let changed = all.iter().filter(|it| it.starts_with("budget.")).count();
    assert!(changed >= 1, "{all:?}");
    // Nobody runs it now: the command carries it on in this terminal, where the files are.
    on(&bench, &servers, &["budget", "c1", "--max-turns", "9"]).exits(0);
    assert_eq!(status(&bench, &servers, "c1"), "completed");
    on(&bench, &servers, &["replay", "c1"]).exits(0);
}

/// M7: `abort` ends a cast on its worker; the program of its turn ends with it.
#[test]
fn a_cast_on_a_worker_is_aborted() {
    let servers = Servers::start(1, "");
    let bench = waiting_bench();
    let worker = Worker::start(&bench, &servers, &[]);
    on(&bench, &servers, &DETACHED).exits(0);
    bench.wait_for("begun");
    on(&bench, &servers, &["abort", "c1"]).exits(0);
    assert_eq!(status(&bench, &servers, "c1"), "aborted");
    until("it has left the list", || worker.said().contains("cast `c1`: rests (aborted)"));
    let all = events(&bench, &servers, "c1");
    assert_eq!(all.iter().filter(|it| *it == "run.aborted").count(), 1, "{all:?}");
}
