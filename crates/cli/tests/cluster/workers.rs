//! `materia worker`: claims, hand-over, takeover (M5, M6, M8, M9).

use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::bench::{Bench, Ran, until};
use crate::server::Servers;
use crate::{ANSWERS, CAST, bench, on, rests_after_one_turn};

/// A worker of the space `tests`. It is killed with its value.
pub(crate) struct Worker {
    pub(crate) child: Child,
    log: std::path::PathBuf,
}

impl Worker {
    pub(crate) fn start(bench: &Bench, servers: &Servers, words: &[&str]) -> Self {
        Self::start_with(bench, servers, words, &[])
    }

    /// The same with variables.
    pub(crate) fn start_with(
        bench: &Bench,
        servers: &Servers,
        words: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let mut all = vec!["worker", "--trust-space", "tests"];
        all.extend(words);
        let mut command = bench.command(&all);
        command.env("MATERIA_JOURNAL", servers.url()).env("MATERIA_SPACE", "tests");
        command.envs(variables.iter().copied());
        Self::run(command, bench)
    }

    /// Starts a command that is a worker.
    pub(crate) fn run(mut command: Command, bench: &Bench) -> Self {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let nth = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let log = bench.state().with_file_name(format!("worker-{nth}.log"));
        command.stdout(Stdio::null()).stderr(std::fs::File::create(&log).unwrap());
        let worker = Self { child: command.spawn().unwrap(), log };
        until("the worker is there", || worker.said().contains("runs casts of the space"));
        worker
    }

    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = std::process::Command::new("kill").args([&format!("-{name}"), &pid]).status();
        assert!(sent.unwrap().success());
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn status(bench: &Bench, servers: &Servers, id: &str) -> String {
    let shown = on(bench, servers, &["show", id, "--json"]).exits(0).json();
    shown["status"].as_str().unwrap().to_owned()
}

fn types(ran: &Ran) -> Vec<String> {
    ran.lines().iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

/// Events without their hashes, which cover the id of the command that set the cast going, without the folder of the
/// project, and without the approval, which only a cast names that was handed to workers.
pub(crate) fn contents(ran: &Ran, bench: &Bench) -> Vec<String> {
    let fields = ["seq", "ts", "type", "nodeId", "data"];
    let folder = bench.project().to_string_lossy().into_owned();
    let kept = |mut event: Value| {
        if let Some(data) = event["data"].as_object_mut() {
            data.remove("approved");
        }
        fields.map(|field| event[field].to_string()).join(" ").replace(&folder, "PROJECT")
    };
    ran.lines().into_iter().map(kept).collect()
}

pub(crate) fn events(bench: &Bench, servers: &Servers, id: &str) -> Vec<String> {
    types(&on(bench, servers, &["events", id, "--json"]).exits(0))
}

pub(crate) fn workers(bench: &Bench, servers: &Servers) -> Vec<Value> {
    on(bench, servers, &["workers", "--json"]).exits(0).lines()
}

/// M5, M13: a cast that is handed over is the same cast; nobody starts a server for it.
#[test]
fn a_worker_runs_a_detached_cast() {
    let servers = Servers::start(1, "");
    let (file, remote) = (bench(), bench());
    let mut words = CAST.to_vec();
    words.insert(1, "--detach");
    let ran = on(&remote, &servers, &words).exits(0);
    assert!(ran.err.contains("no worker is there that can run it"), "{ran:?}");
    assert_eq!(ran.json()["castId"], "c1");
    let begun = ["run.created", "payload.delivered"];
    assert_eq!(events(&remote, &servers, "c1"), begun, "nothing has started");
    assert!(!remote.state().join("server.json").exists(), "no server was started");
    let worker = Worker::start(&remote, &servers, &[]);
    until("the cast is completed", || status(&remote, &servers, "c1") == "completed");
    file.run(&words).exits(0);
    until("the cast in a file is completed", || {
        file.run(&["show", "c1", "--json"]).exits(0).json()["status"] == "completed"
    });
    file.run(&["stop"]).exits(0);
    let here = file.run(&["events", "c1", "--json"]).exits(0);
    let there = on(&remote, &servers, &["events", "c1", "--json"]).exits(0);
    assert!(contents(&here, &file) == contents(&there, &remote), "{here:?}\n{there:?}");
    assert!(!types(&there).contains(&"turn.interrupted".to_owned()));
    on(&remote, &servers, &["replay", "c1"]).exits(0);
    until("it has left the list", || worker.said().contains("cast `c1`: rests (completed)"));
    // A second one finds the worker there.
    let mut again = words.clone();
    again[7] = "c2";
    let ran = on(&remote, &servers, &again).exits(0);
    assert!(ran.err.contains("waits for a worker"), "{ran:?}");
    until("the second is completed", || status(&remote, &servers, "c2") == "completed");
}

/// M1: reading makes no space. M5: a cast that was handed over waits for a worker.
#[test]
fn reading_makes_no_space_and_what_is_handed_over_waits() {
    let servers = Servers::start(1, "");
    let bench = bench();
    let none = on(&bench, &servers, &["casts"]).exits(0);
    assert!(none.err.contains("no casts in the space `tests` on nats://127.0.0.1"), "{none:?}");
    on(&bench, &servers, &["show", "c1"]).exits(2);
    on(&bench, &servers, &["workers"]).exits(0);
    assert!(!servers.has_store(), "nothing was made on the server");
    let mut words = CAST.to_vec();
    words.insert(1, "--detach");
    on(&bench, &servers, &words).exits(0);
    let listed = on(&bench, &servers, &["casts"]).exits(0);
    assert!(listed.out.contains("waits for a worker"), "{listed:?}");
    let shown = on(&bench, &servers, &["show", "c1"]).exits(0);
    assert!(shown.out.contains("waits for a worker") && !shown.out.contains("resume"), "{shown:?}");
}

/// M5: `resume --detach` hands over a cast that rests, once.
#[test]
fn a_cast_that_rests_is_handed_over() {
    let servers = Servers::start(1, "");
    let bench = bench();
    rests_after_one_turn(&bench, &servers);
    let worker = Worker::start(&bench, &servers, &[]);
    assert_eq!(status(&bench, &servers, "c1"), "waiting", "no worker takes what a person drives");
    on(&bench, &servers, &["budget", "c1", "--max-turns", "9", "--no-run"]).exits(0);
    on(&bench, &servers, &["resume", "c1", "--detach"]).exits(0);
    until("the cast is completed", || status(&bench, &servers, "c1") == "completed");
    until("it has left the list", || worker.said().contains("cast `c1`: rests (completed)"));
    on(&bench, &servers, &["replay", "c1"]).exits(0);
}

/// M8: a worker says what it means to be one, and does not start without consent.
#[test]
fn a_worker_needs_trust_in_its_space() {
    let servers = Servers::start(1, "");
    let bench = bench();
    for words in [&["worker"][..], &["worker", "--trust-space", "other"]] {
        let ran = on(&bench, &servers, words).exits(2);
        assert!(ran.err.contains("Everyone who can write to the space `tests`"), "{ran:?}");
        assert!(ran.err.contains("--trust-space tests"), "{ran:?}");
    }
    let ran = bench.run(&["worker", "--trust-space", "tests"]).exits(2);
    assert!(ran.err.contains("a worker needs casts on NATS servers"), "{ran:?}");
    let ran =
        on(&bench, &servers, &["worker", "--trust-space", "tests", "--labels", "A B"]).exits(2);
    assert!(ran.err.contains("cannot be a label"), "{ran:?}");
    let help = bench.run(&["worker", "--help"]).exits(0).out;
    assert!(help.contains("can run programs on this machine"), "{help}");
}

/// M9: `workers` lists who is there and what they run; labels decide who takes a cast.
#[test]
fn workers_are_listed_and_labels_decide() {
    let servers = Servers::start(1, "");
    let mut config = crate::config();
    config["loadouts"]["L"]["sockets"]["own"]["policy"] = json!({"labels": ["gpu"]});
    let command = "touch begun; while [ ! -e go ]; do sleep 0.05; done; echo '{}'";
    config["materia"]["Own"]["command"] = json!(["sh", "-c", command]);
    let bench = Bench::with(&config);
    bench.write("answers.json", ANSWERS);
    let none = on(&bench, &servers, &["workers"]).exits(0);
    assert!(none.err.contains("has no workers"), "{none:?}");
    let plain = Worker::start(&bench, &servers, &[]);
    let words = ["cast", "--detach", "--script", "answers.json", "--cast-id", "c1", "go"];
    on(&bench, &servers, &words).exits(0);
    until("it is left alone", || plain.said().contains("labels gpu"));
    until("the list says so", || workers(&bench, &servers)[0]["leftAlone"][0]["castId"] == "c1");
    let able = Worker::start(&bench, &servers, &["--labels", "gpu,big", "--slots", "2"]);
    bench.wait_for("begun");
    let pid = json!(able.child.id());
    until("the list names it", || {
        workers(&bench, &servers).iter().any(|it| it["pid"] == pid && it["runs"] == json!(["c1"]))
    });
    let list = workers(&bench, &servers);
    let it = list.iter().find(|it| it["pid"] == pid).unwrap();
    assert_eq!((&it["slots"], &it["labels"]), (&json!(2), &json!(["big", "gpu"])));
    assert_eq!(it["version"], env!("CARGO_PKG_VERSION"));
    assert!(it["seenAt"].as_str().unwrap().starts_with("20"), "{it}");
    let shown = on(&bench, &servers, &["workers"]).exits(0).out;
    assert!(shown.contains("runs    c1") && shown.contains("leaves  c1"), "{shown}");
    bench.write("go", "");
    until("the cast is completed", || status(&bench, &servers, "c1") == "completed");
}

/// Casts whose second turn notes that it began, and lasts until the file `go` is there.
fn waiting_bench() -> Bench {
    let mut config = crate::config();
    let command = "echo x >> begun; while [ ! -e go ]; do sleep 0.05; done; echo '{}'";
    config["materia"]["Own"]["command"] = json!(["sh", "-c", command]);
    let bench = Bench::with(&config);
    bench.write("answers.json", ANSWERS);
    bench
}

/// M9: SIGTERM begins no further turn, lets the turn in flight end, and hands the cast over.
#[test]
fn a_worker_that_ends_hands_its_casts_over() {
    let servers = Servers::start(1, "");
    let bench = waiting_bench();
    let mut first = Worker::start(&bench, &servers, &[]);
    let words = ["cast", "--detach", "--script", "answers.json", "--cast-id", "c1", "go"];
    on(&bench, &servers, &words).exits(0);
    bench.wait_for("begun");
    first.signal("TERM");
    until("it has heard", || first.said().contains("no further turn begins"));
    until("the list says so", || workers(&bench, &servers)[0]["ends"] == true);
    bench.write("go", "");
    assert!(first.child.wait().unwrap().success());
    assert!(first.said().contains("cast `c1`: handed over"), "{}", first.said());
    assert_eq!(workers(&bench, &servers), Vec::<Value>::new());
    let before = events(&bench, &servers, "c1");
    assert_eq!(before.iter().filter(|it| *it == "turn.started").count(), 2, "{before:?}");
    assert_eq!(before.iter().filter(|it| *it == "turn.completed").count(), 2, "{before:?}");
    let _second = Worker::start(&bench, &servers, &[]);
    until("the cast is completed", || status(&bench, &servers, "c1") == "completed");
    let all = events(&bench, &servers, "c1");
    assert!(!all.contains(&"turn.interrupted".to_owned()), "{all:?}");
    assert_eq!(all.iter().filter(|it| *it == "turn.started").count(), 3, "{all:?}");
    assert_eq!(bench.read("begun"), "x\n", "the turn ran once");
    on(&bench, &servers, &["replay", "c1"]).exits(0);
}

/// M9: after the grace time the turn in flight is lost, and another worker runs it again.
#[test]
fn a_turn_that_outlasts_the_grace_time_runs_again() {
    let servers = Servers::start(1, "");
    let bench = waiting_bench();
    let mut first = Worker::start(&bench, &servers, &["--grace", "0"]);
    let words = ["cast", "--detach", "--script", "answers.json", "--cast-id", "c1", "go"];
    on(&bench, &servers, &words).exits(0);
    bench.wait_for("begun");
    first.signal("TERM");
    assert!(first.child.wait().unwrap().success());
    bench.write("go", "");
    let _second = Worker::start(&bench, &servers, &[]);
    until("the cast is completed", || status(&bench, &servers, "c1") == "completed");
    let all = events(&bench, &servers, "c1");
    assert_eq!(all.iter().filter(|it| *it == "turn.interrupted").count(), 1, "{all:?}");
    assert_eq!(bench.read("begun"), "x\nx\n");
    on(&bench, &servers, &["replay", "c1"]).exits(0);
}

/// M5, M9: entries of strangers on the list: a worker names them, writes nothing for them, and runs the others.
#[test]
fn a_worker_outlives_nonsense_on_its_list() {
    let servers = Servers::start(1, "");
    let bench = bench();
    let worker = Worker::start(&bench, &servers, &[]);
    let mut words = CAST.to_vec();
    words.insert(1, "--detach");
    on(&bench, &servers, &words).exits(0);
    until("the cast is completed", || status(&bench, &servers, "c1") == "completed");
    let rules = materia_contract::RULES_VERSION;
    let entry = json!({
        "what": {"do": "resume"}, "command": "x", "rules": rules,
        "host": workers(&bench, &servers)[0]["host"], "folder": workers(&bench, &servers)[0]["folder"],
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let last = runtime.block_on(async {
        let client = async_nats::connect(servers.url()).await.unwrap();
        let context = async_nats::jetstream::new(client);
        let put = async |key: &str, value: String| {
            let subject = format!("$KV.materia-tests-todo.{key}");
            context.publish(subject, value.into()).await.unwrap().await.unwrap();
        };
        put("odd", "\u{1b}[2Jnonsense".to_owned()).await;
        put("a/b", "{}".to_owned()).await;
        put("ghost", entry.to_string()).await;
        context.get_stream("materia-tests").await.unwrap().cached_info().state.last_sequence
    });
    until("they are named", || {
        let said = worker.said();
        said.contains("cast `odd` is left alone: this version cannot read its entry")
            && said.contains("cast `ghost` is left alone: the space has no such cast")
    });
    let now = runtime.block_on(async {
        let client = async_nats::connect(servers.url()).await.unwrap();
        let stream = async_nats::jetstream::new(client).get_stream("materia-tests").await;
        stream.unwrap().cached_info().state.last_sequence
    });
    assert_eq!(now, last, "nothing was written for them");
    words[7] = "c2";
    on(&bench, &servers, &words).exits(0);
    until("the next cast is completed", || status(&bench, &servers, "c2") == "completed");
    until("they are listed", || {
        workers(&bench, &servers)[0]["leftAlone"].as_array().is_some_and(|left| left.len() == 2)
    });
}

/// M1, M9: a worker without the rights for its space does not start, and says why.
#[test]
fn a_worker_with_wrong_credentials_does_not_start() {
    let servers = Servers::start(1, "authorization { user: me, password: right }");
    let bench = bench();
    let port = servers.port(0);
    let worker = |journal: String| {
        let mut command = bench.command(&["worker", "--trust-space", "tests"]);
        command.env("MATERIA_JOURNAL", journal).env("MATERIA_SPACE", "tests");
        Ran::from(command.output().unwrap())
    };
    for who in ["", "me:wrong@"] {
        let ran = worker(format!("nats://{who}127.0.0.1:{port}")).exits(2);
        assert!(ran.err.contains("refuses"), "{ran:?}");
        assert!(!ran.err.contains("wrong"), "no password is shown: {ran:?}");
    }
    let mut command = bench.command(&["worker", "--space", "../x", "--trust-space", "../x"]);
    let ran: Ran = command.env("MATERIA_JOURNAL", servers.url()).output().unwrap().into();
    assert!(ran.exits(2).err.contains("cannot name a space"));
}

/// M10: a worker of another folder leaves a cast alone that works in its project folder.
#[test]
fn a_worker_of_another_folder_leaves_a_cast_alone() {
    let servers = Servers::start(1, "");
    let (here, there) = (bench(), bench());
    let worker = Worker::start(&there, &servers, &[]);
    let mut words = CAST.to_vec();
    words.insert(1, "--detach");
    let ran = on(&here, &servers, &words).exits(0);
    assert!(ran.err.contains("no worker is there that can run it"), "{ran:?}");
    until("it says why", || worker.said().contains("only a worker that was started there"));
    assert_eq!(events(&here, &servers, "c1"), ["run.created", "payload.delivered"]);
}
