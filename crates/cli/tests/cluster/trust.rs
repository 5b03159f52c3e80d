//! Scripts and files of casts that workers run, and commands of people to such casts (M7, M8).

use serde_json::json;

use crate::bench::{Bench, Ran, until};
use crate::server::Servers;
use crate::workers::{Worker, events, status, workers};
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

/// M8: the first event of a cast that is handed over names the approved files and the user; that of another has neither.
#[test]
fn the_first_event_names_the_approval() {
    let servers = Servers::start(1, "");
    let bench = script_bench();
    on(&bench, &servers, &DETACHED).exits(0);
    let created = on(&bench, &servers, &["events", "c1", "--json"]).exits(0).lines()[0].clone();
    let approved = &created["data"]["approved"];
    assert!(approved["files"]["own.sh"].is_string(), "{created}");
    assert!(approved["by"].as_str().unwrap().contains(" on "), "{created}");
    on(&bench, &servers, &["cast", "--script", "answers.json", "--cast-id", "c2", "go"]).exits(0);
    let created = on(&bench, &servers, &["events", "c2", "--json"]).exits(0).lines()[0].clone();
    assert_eq!(created["data"].get("approved"), None, "{created}");
}

/// A cast whose second turn runs a script of the project.
fn script_bench() -> Bench {
    let mut config = config();
    config["materia"]["Own"]["command"] = json!(["sh", "own.sh"]);
    let bench = Bench::with(&config);
    bench.write("answers.json", ANSWERS);
    bench.write("own.sh", "echo '{\"state\": {\"x\": 1}}'\n");
    bench
}

/// M8: an approved script comes with its cast to a worker whose disk does not have it.
#[test]
fn an_approved_file_travels_with_its_cast() {
    let servers = Servers::start(1, "");
    let bench = script_bench();
    on(&bench, &servers, &DETACHED).exits(0);
    std::fs::remove_file(bench.project().join("own.sh")).unwrap();
    let worker = Worker::start(&bench, &servers, &[]);
    until("the cast is completed", || status(&bench, &servers, "c1") == "completed");
    assert!(worker.said().contains("`own.sh` was missing here"), "{}", worker.said());
    assert_eq!(bench.read("own.sh"), "echo '{\"state\": {\"x\": 1}}'\n");
    let shown = on(&bench, &servers, &["show", "c1", "--json"]).exits(0).json();
    assert_eq!(shown["state"]["x"], 1);
}

/// Replaces the content of every blob of the space `tests` that satisfies.
fn forge(servers: &Servers, is_meant: impl Fn(&str) -> bool, content: &str) -> usize {
    use futures_util::StreamExt as _;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = async_nats::connect(servers.url()).await.unwrap();
        let jetstream = async_nats::jetstream::new(client);
        let store = jetstream.get_object_store("materia-tests-blobs").await.unwrap();
        let mut names = Vec::new();
        let mut list = store.list().await.unwrap();
        while let Some(object) = list.next().await {
            names.push(object.unwrap().name);
        }
        let mut forged = 0;
        for name in names {
            let mut text = String::new();
            let mut object = store.get(&name).await.unwrap();
            tokio::io::AsyncReadExt::read_to_string(&mut object, &mut text).await.unwrap();
            if is_meant(&text) {
                store.put(name.as_str(), &mut content.as_bytes()).await.unwrap();
                forged += 1;
            }
        }
        forged
    })
}

/// M8: other content under the hash of a file or of a script does not run.
#[test]
fn a_forged_blob_does_not_run() {
    let servers = Servers::start(1, "");
    let bench = script_bench();
    on(&bench, &servers, &DETACHED).exits(0);
    std::fs::remove_file(bench.project().join("own.sh")).unwrap();
    assert_eq!(forge(&servers, |text| text.starts_with("echo"), "touch evil; echo '{}'\n"), 1);
    let worker = Worker::start(&bench, &servers, &[]);
    until("it is left alone", || {
        worker.said().contains("cast `c1` is left alone: its file `own.sh`")
    });
    assert!(!bench.has("evil") && !bench.has("own.sh"));
    drop(worker);
    bench.write("own.sh", "echo '{\"state\": {\"x\": 1}}'\n");
    let answers = ANSWERS.replace("something", "evil");
    assert_eq!(forge(&servers, |text| text.starts_with("{\"turns\""), &answers), 1);
    let worker = Worker::start(&bench, &servers, &[]);
    until("it is left alone", || worker.said().contains("cast `c1` is left alone: its script"));
    assert_eq!(events(&bench, &servers, "c1"), ["run.created", "payload.delivered"]);
}

/// M8: a worker whose shipped utility has another content leaves the cast alone, and says why.
#[test]
fn a_worker_with_another_utility_leaves_a_cast_alone() {
    let servers = Servers::start(1, "");
    let mut config = config();
    config["loadouts"]["L"]["sockets"]["own"]["materia"] = json!("Detect-VCS");
    let bench = Bench::with(&config);
    bench.write("answers.json", ANSWERS);
    on(&bench, &servers, &DETACHED).exits(0);
    // The worker of another user, with an own version of that utility.
    let profile = bench.state().with_file_name("other-profile");
    let utilities = profile.join("utilities");
    std::fs::create_dir_all(&utilities).unwrap();
    let own = bench.profile().join("utilities");
    for file in std::fs::read_dir(&own).unwrap() {
        let file = file.unwrap();
        let mut bytes = std::fs::read(file.path()).unwrap();
        if file.path().extension().is_some_and(|ending| ending == "mjs") {
            bytes.extend_from_slice(b"// mine\n");
        }
        std::fs::write(utilities.join(file.file_name()), bytes).unwrap();
    }
    let profile = profile.to_string_lossy().into_owned();
    let other = Worker::start_with(&bench, &servers, &[], &[("MATERIA_PROFILE_DIR", &profile)]);
    until("it is left alone", || other.said().contains("has another content here"));
    until("the list says so", || {
        let left = workers(&bench, &servers)[0]["leftAlone"][0].clone();
        left["why"].as_str().is_some_and(|why| why.contains("has another content here"))
    });
    assert_eq!(events(&bench, &servers, "c1"), ["run.created", "payload.delivered"]);
    let _same = Worker::start(&bench, &servers, &[]);
    until("the cast is completed", || status(&bench, &servers, "c1") == "completed");
}
