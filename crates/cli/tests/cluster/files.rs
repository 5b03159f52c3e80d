//! Casts with a workspace of their own on workers that have no access to the project (M10).

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::bench::{Bench, Ran, until};
use crate::on;
use crate::server::Servers;
use crate::workers::{Worker, events, status};

/// Four commands: a commit, a change that waits for a file, one that needs both, and one that changes nothing.
fn config(gate: &Path) -> Value {
    let gate = gate.display();
    let command = |text: String| json!({"type": "utility", "command": ["sh", "-c", text + "; echo '{}'"], "parse": "json"});
    json!({
        "materia": {
            "One": command("echo 1 > one.txt; mkdir -p deep/er; ln -sf ../../one.txt deep/er/link; echo l > x.log; git add -A; git commit -q --allow-empty -m one".to_owned()),
            "Two": command(format!("[ ! -e half.txt ] || touch dirty.txt; echo h > half.txt; echo x >> {gate}.begun; while [ ! -e {gate} ]; do sleep 0.05; done; rm half.txt; echo 2 > two.txt")),
            "Three": command("cat one.txt two.txt > three.txt; chmod +x three.txt".to_owned()),
            "Four": command("true".to_owned())
        },
        "loadouts": {"L": {"workspace": "own", "entry": "one", "sockets": {
            "one": {"materia": "One", "edges": [{"to": "two"}]},
            "two": {"materia": "Two", "edges": [{"to": "three"}]},
            "three": {"materia": "Three", "edges": [{"to": "four"}]},
            "four": {"materia": "Four"}
        }}},
        "activeLoadout": "L"
    })
}

fn git(folder: &Path, words: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]).args(words);
    let ran: Ran = git.current_dir(folder).output().unwrap().into();
    ran.exits(0).out.trim().to_owned()
}

/// A repository with the project in it, and short leases.
fn house(gate: &Path) -> Bench {
    let bench = Bench::with(&config(gate));
    bench.write("base.txt", "base\n");
    bench.write(".gitignore", "*.log\n.materia/\n");
    let project = bench.project();
    git(&project, &["init", "-q", "-b", "main"]);
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-qm", "base"]);
    short_leases(&bench);
    bench
}

fn short_leases(bench: &Bench) {
    std::fs::create_dir_all(bench.profile()).unwrap();
    let profile = json!({"leaseSeconds": 3}).to_string();
    std::fs::write(bench.profile().join("materia.json"), profile).unwrap();
}

fn gate() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let gate = folder.path().join("gate");
    (folder, gate)
}

fn times_begun(gate: &Path) -> usize {
    let begun = std::fs::read_to_string(format!("{}.begun", gate.display()));
    begun.map_or(0, |text| text.lines().count())
}

/// The packs that are stored for a cast.
fn packs(servers: &Servers, id: &str) -> Vec<Value> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = async_nats::connect(servers.url()).await.unwrap();
        let context = async_nats::jetstream::new(client);
        let stream = context.get_stream("KV_materia-tests-packs").await.unwrap();
        let mut found = Vec::new();
        for nth in 0.. {
            let subject = format!("$KV.materia-tests-packs.cast.{id}.{nth:06}");
            let Ok(last) = stream.get_last_raw_message_by_subject(&subject).await else { break };
            found.push(serde_json::from_slice(&last.payload).unwrap());
        }
        found
    })
}

/// M10, M13: two workers without access to the project; the first is killed in a turn, the second goes on with the
/// same files, and the result comes home.
#[test]
fn a_workspace_moves_between_machines() {
    let servers = Servers::start(1, "");
    let (folder, gate) = gate();
    let (file, home) = (house(&gate), house(&gate));
    std::fs::write(&gate, "").unwrap();
    file.run(&["cast", "--cast-id", "c1", "go"]).exits(0);
    let expected = git(&file.project(), &["rev-parse", "materia/c1^{tree}"]);
    for name in ["gate", "gate.begun"] {
        std::fs::remove_file(folder.path().join(name)).unwrap();
    }

    on(&home, &servers, &["cast", "--detach", "--cast-id", "c1", "go"]).exits(0);
    let away = home.project().with_file_name("away");
    std::fs::rename(home.project(), &away).unwrap();
    let (here, there) = (Bench::new(), Bench::new());
    let mut first = Worker::start(&here, &servers, &[]);
    until("the second turn has begun", || times_begun(&gate) == 1);
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    let second = Worker::start(&there, &servers, &[]);
    until("the second turn runs again", || times_begun(&gate) == 2);
    std::fs::write(&gate, "").unwrap();
    until("the cast is completed", || status(&there, &servers, "c1") == "completed");
    until("it has left the list", || second.said().contains("cast `c1`: rests (completed)"));
    let all = events(&there, &servers, "c1");
    assert_eq!(all.iter().filter(|it| *it == "turn.completed").count(), 4, "{all:?}");
    assert_eq!(all.iter().filter(|it| *it == "turn.interrupted").count(), 1, "{all:?}");
    on(&there, &servers, &["replay", "c1"]).exits(0);
    let left = std::fs::read_dir(there.state().join("packs/tests/casts")).unwrap().count();
    assert_eq!(left, 0, "the worker keeps nothing of a completed cast but the history of its base");
    // The beginning, three turns that changed something, the refs of the second workspace, and the branch.
    assert_eq!(packs(&servers, "c1").len(), 6, "a tree that did not change costs nothing");

    std::fs::rename(&away, home.project()).unwrap();
    let report = on(&home, &servers, &["workspace", "c1", "--json"]).exits(0).json();
    assert_eq!(report["branch"], "materia/c1");
    assert_eq!(report["checkout"], Value::Null, "the copy that it began with is gone");
    let ran = on(&home, &servers, &["workspace", "c1", "--apply"]).exits(0);
    assert!(ran.err.contains("moved forward") || ran.out.contains("moved forward"), "{ran:?}");
    assert_eq!(git(&home.project(), &["rev-parse", "HEAD^{tree}"]), expected);
    assert_eq!(home.read("three.txt"), "1\n2\n");
    assert!(!home.has("dirty.txt") && !home.has("half.txt"));
    git(&home.project(), &["fsck", "--full", "--strict"]);

    // A second cast of the same base stores no history again.
    on(&home, &servers, &["cast", "--detach", "--cast-id", "c2", "go"]).exits(0);
    until("the second cast is completed", || status(&home, &servers, "c2") == "completed");
    on(&home, &servers, &["workspace", "c2", "--drop", "--yes"]).exits(0);
    let report = on(&home, &servers, &["workspace", "c2", "--json"]).exits(0).json();
    assert_eq!(report["branch"], Value::Null, "what was dropped does not come back");
}

/// M10: a cast goes from the project to a worker and back, with files that are not committed, below the top.
#[test]
fn a_workspace_comes_home() {
    let servers = Servers::start(1, "");
    let (_folder, gate) = gate();
    std::fs::write(&gate, "").unwrap();
    let home = house(&gate);
    home.write("sub/inner.txt", "inner\n");
    home.write("sub/materia.json", &config(&gate).to_string());
    let sub = |words: &[&str]| -> Ran {
        let mut command = home.command(words);
        command.env("MATERIA_JOURNAL", servers.url()).env("MATERIA_SPACE", "tests");
        command.current_dir(home.project().join("sub")).output().unwrap().into()
    };
    let words = ["cast", "--include-changes", "--max-turns", "1", "--cast-id", "c1", "go"];
    sub(&words).exits(3);
    sub(&["budget", "c1", "--max-turns", "2", "--no-run"]).exits(0);
    sub(&["resume", "c1", "--detach"]).exits(0);
    let there = Bench::new();
    let worker = Worker::start(&there, &servers, &[]);
    until("it rests", || worker.said().contains("cast `c1`: rests (waiting)"));
    assert_eq!(times_begun(&gate), 1, "the second turn ran");
    // Nobody drives it now; the person goes on with what the worker left.
    sub(&["budget", "c1", "--max-turns", "9"]).exits(0);
    assert_eq!(status(&there, &servers, "c1"), "completed");
    sub(&["workspace", "c1"]).exits(0);
    let shown = git(&home.project(), &["show", "materia/c1:sub/three.txt"]);
    assert_eq!(shown, "1\n2");
    let shown = git(&home.project(), &["show", "materia/c1:sub/inner.txt"]);
    assert_eq!(shown, "inner", "a file that was not committed");
    sub(&["replay", "c1"]).exits(0);
}

/// M10: a pack that is not what its hash says is refused, and the cast is left alone.
#[test]
fn an_altered_pack_is_refused() {
    let servers = Servers::start(1, "");
    let (_folder, gate) = gate();
    std::fs::write(&gate, "").unwrap();
    let home = house(&gate);
    on(&home, &servers, &["cast", "--detach", "--cast-id", "c1", "go"]).exits(0);
    let hash = packs(&servers, "c1")[0]["pack"].as_str().unwrap().to_owned();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = async_nats::connect(servers.url()).await.unwrap();
        let context = async_nats::jetstream::new(client);
        let store = context.get_object_store("materia-tests-blobs").await.unwrap();
        store.put(hash.as_str(), &mut &b"PACK of something else"[..]).await.unwrap();
    });
    let there = Bench::new();
    let worker = Worker::start(&there, &servers, &[]);
    until("it is left alone", || {
        worker.said().contains("cast `c1` is left alone: a pack of files")
    });
    assert_eq!(status(&home, &servers, "c1"), "running");
    assert_eq!(times_begun(&gate), 0, "nothing ran");
}
