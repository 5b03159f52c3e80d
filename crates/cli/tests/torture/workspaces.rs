//! Casts in workspaces of their own: killed at random moments, and beside the user's repository (W3, W5, W10).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::bench::{Bench, until};
use crate::random::{self, Random};

/// The scripts of the turns: edits, commits, another branch, a merge, ignored files. Staged files do not outlive an
/// interrupted turn (W5), so each turn stages what it commits.
const TURNS: [(&str, &str); 6] = [
    ("edit", "echo one > one.txt; mkdir -p sub; echo deep > sub/deep.txt; echo ignored > x.log"),
    ("commit", "git add -A && git commit -qm one && echo more >> one.txt"),
    ("branch", "git commit -qam more && git checkout -qb side && echo side > side.txt"),
    (
        "side",
        "git add side.txt && git commit -qm side && git rm -q sub/deep.txt && git commit -qm removed && git checkout -q - && echo main > main.txt",
    ),
    (
        "merge",
        "git add -A && git commit -qm main && git merge -q --no-edit side && git tag merged && git branch -D -q side",
    ),
    ("rest", "echo rest > rest.txt; chmod +x rest.txt; ln -s rest.txt link"),
];

/// A project with a repository. Turns take a little while, so that there is time to kill them.
struct Stage {
    bench: Bench,
}

/// The id of a cast; no hash has it in it.
fn name(n: usize) -> String {
    format!("cast-{n}")
}

fn git(folder: &Path, words: &[&str]) -> String {
    let mut git = Command::new("git");
    git.current_dir(folder).args(words).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let author = [("AUTHOR", "Me"), ("COMMITTER", "Me")];
    for (who, name) in author {
        git.env(format!("GIT_{who}_NAME"), name).env(format!("GIT_{who}_EMAIL"), "me@localhost");
    }
    let ran = git.output().unwrap();
    assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

impl Stage {
    fn new() -> Self {
        let author = "export GIT_AUTHOR_NAME=T GIT_AUTHOR_EMAIL=t@localhost GIT_COMMITTER_NAME=T GIT_COMMITTER_EMAIL=t@localhost; set -e; sleep 0.02;";
        let names: Vec<&str> = TURNS.iter().map(|(name, _)| *name).collect();
        let mut sockets = serde_json::Map::new();
        let mut materia = serde_json::Map::new();
        for (place, (name, script)) in TURNS.iter().enumerate() {
            let count = place + 1;
            let says = format!("printf '{{\"state\":{{\"done\":{count}}}}}'");
            let command =
                ["sh", "-c", &format!("{author} {{ {script}; }} >&2; sleep 0.02; {says}")];
            materia.insert(
                (*name).to_owned(),
                json!({ "type": "utility", "parse": "json", "command": command }),
            );
            let edges = names.get(place + 1).map(|to| json!([{ "when": "always", "to": to }]));
            let mut socket = json!({ "materia": name });
            if let Some(edges) = edges {
                socket["edges"] = edges;
            }
            sockets.insert((*name).to_owned(), socket);
        }
        let config = json!({
            "activeLoadout": "L",
            "loadouts": { "L": { "entry": names[0], "sockets": sockets } },
            "materia": materia,
        });
        let bench = Bench::with(&config);
        bench.write(".gitignore", "*.log\n.materia/\n");
        bench.write("a.txt", "a\n");
        let project = bench.project();
        git(&project, &["init", "-q", "-b", "main"]);
        git(&project, &["add", "-A"]);
        git(&project, &["commit", "-q", "-m", "first"]);
        Self { bench }
    }

    fn cast(&self, id: &str) -> Command {
        let words = ["cast", "--trust", "--workspace", "own", "--cast-id", id, "do", "it"];
        let mut command = self.bench.command(&words);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// The result of a cast: its variables, and the trees and subjects of its commits.
    fn result(&self, id: &str) -> (Value, Vec<String>) {
        let report = self.bench.run(&["show", id, "--json"]).exits(0).json();
        assert_eq!(report["status"], "completed", "{report}");
        let log = git(
            &self.bench.project(),
            &["log", "--topo-order", "--format=%T %s %an", &format!("main..materia/{id}")],
        );
        // The order of commits on two branches depends on their dates.
        let mut commits: Vec<String> = log.lines().map(|line| line.replace(id, "ID")).collect();
        commits.sort();
        self.bench.run(&["replay", id]).exits(0);
        (report["state"].clone(), commits)
    }

    fn checkout(&self, id: &str) -> PathBuf {
        let report = self.bench.run(&["workspace", id, "--json"]).exits(0).json();
        PathBuf::from(report["checkout"].as_str().expect("it has a folder"))
    }
}

#[test]
fn killed_at_random_moments_a_workspace_ends_as_if_undisturbed() {
    let seed = random::seed();
    let stage = Stage::new();
    let begun = Instant::now();
    assert!(stage.cast("good").status().unwrap().success());
    let (good, took) = (stage.result("good"), begun.elapsed());
    assert_eq!(good.0["done"], TURNS.len());
    assert!(good.1.len() > 5, "{good:?}");
    let kills = random::rounds(15, 200);
    let (mut killed, mut casts, mut put_back) = (0, 0, 0);
    while killed < kills {
        let id = format!("victim-{casts}");
        casts += 1;
        let mut random = Random::new(seed, casts);
        let mut command = stage.cast(&id);
        for _ in 0..4 {
            let mut child = command.spawn().unwrap();
            std::thread::sleep(random.time_below(took));
            let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
            let alive = child.try_wait().unwrap().is_none();
            let _ = kill_process(pid, Signal::KILL);
            child.wait().unwrap();
            if !alive {
                break;
            }
            killed += 1;
            let known = stage.bench.run(&["show", &id, "--json"]).exit == 0;
            command = if known { stage.bench.command(&["resume", &id]) } else { stage.cast(&id) };
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        let status = stage.bench.run(&["show", &id, "--json"]);
        if status.exit != 0 {
            assert!(stage.cast(&id).status().unwrap().success(), "SEED={seed} {id}");
        } else if status.json()["status"] != "completed" {
            let ran = stage.bench.run(&["resume", &id]);
            let told = || stage.bench.run(&["logs", &id]).out;
            assert_eq!(ran.exit, 0, "SEED={seed} {ran:?} {}", told());
        }
        assert_eq!(stage.result(&id), good, "SEED={seed} {id}");
        let events = stage.bench.run(&["events", &id, "--json"]).exits(0).lines();
        put_back += events
            .iter()
            .filter(|event| event["type"] == "turn.started" && event["data"]["putBack"] == true)
            .count();
    }
    eprintln!("killed {killed} times in {casts} casts, files were put back {put_back} times");
    assert!(put_back > 0, "no turn was ever put back");
    let said = git(&stage.bench.project(), &["fsck", "--no-dangling"]);
    assert_eq!(said, "");
}

/// All files of a git folder with their content, but for what casts may leave there.
fn git_folder(project: &Path) -> BTreeMap<String, Vec<u8>> {
    let top = project.join(".git");
    let mut found = BTreeMap::new();
    let mut open = vec![top.clone()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&top).unwrap().to_str().unwrap().to_owned();
            let ours = [
                "objects",
                "refs/materia",
                "refs/heads/materia",
                "logs/refs/heads/materia",
                "logs/refs/materia",
            ];
            if ours.contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    found
}

#[test]
fn casts_leave_the_users_repository_and_checkout_alone() {
    let stage = Stage::new();
    let project = stage.bench.project();
    stage.bench.write("a.txt", "changed, not committed\n");
    stage.bench.write("staged.txt", "staged\n");
    git(&project, &["add", "staged.txt"]);
    stage.bench.write("untracked.txt", "untracked\n");
    git(&project, &["stash", "-q", "--keep-index"]);
    git(&project, &["stash", "apply", "-q"]);
    let hook = project.join(".git/hooks/post-checkout");
    std::fs::write(&hook, "#!/bin/sh\ntouch \"$HOME/hook-ran\"\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    // The first one makes the folder of casts, whose name git has not seen.
    stage.bench.run(&["casts"]).exits(0);
    let before = (git_folder(&project), git(&project, &["status", "--porcelain=v2", "--branch"]));
    // Reading the status writes the index: the state to keep is that behind it.
    let before = (git_folder(&project), before.1);
    for n in 0..random::rounds(4, 50) {
        assert!(stage.cast(&name(n)).status().unwrap().success());
    }
    assert_eq!(git_folder(&project), before.0);
    assert_eq!(git(&project, &["status", "--porcelain=v2", "--branch"]), before.1);
    assert!(!stage.bench.profile().join("hook-ran").exists());
    assert_eq!(stage.bench.read("a.txt"), "changed, not committed\n");
    assert_eq!(git(&project, &["fsck", "--no-dangling"]), "");
    let left = stage.bench.run(&["clean", "--older-than", "0", "--json"]).exits(0).json();
    assert_eq!(left["items"], json!([]), "branches that are not merged stay");
}

#[test]
fn after_many_casts_clean_finds_everything_that_may_go() {
    let stage = Stage::new();
    let project = stage.bench.project();
    let casts = random::rounds(3, 100);
    for n in 0..casts {
        assert!(stage.cast(&name(n)).status().unwrap().success());
    }
    git(&project, &["merge", "-q", "--no-edit", "materia/cast-0"]);
    for n in 1..casts {
        git(&project, &["branch", "-q", "-D", &format!("materia/{}", name(n))]);
    }
    let would =
        stage.bench.run(&["clean", "--older-than", "0", "--dry-run", "--json"]).exits(0).json();
    let done = stage.bench.run(&["clean", "--older-than", "0", "--json"]).exits(0).json();
    assert_eq!(would["items"], done["items"]);
    assert_eq!(done["items"].as_array().unwrap().len(), casts + 1, "{done}");
    assert_eq!(git(&project, &["for-each-ref", "refs/materia", "refs/heads/materia"]), "");
    assert_eq!(git(&project, &["fsck", "--no-dangling"]), "");
    let again = stage.bench.run(&["clean", "--older-than", "0", "--json"]).exits(0).json();
    assert_eq!(again["items"], json!([]));
}

/// A cast that waits before its second turn.
fn waiting(stage: &Stage) -> PathBuf {
    stage
        .bench
        .run(&["cast", "--trust", "--workspace", "own", "--interactive", "--cast-id", "c", "go"])
        .exits(3);
    stage.bench.run(&["trigger", "c", "edit"]).exits(3);
    stage.checkout("c")
}

#[test]
fn files_that_somebody_changed_between_turns_wait_for_a_person() {
    for (option, kept) in [(None, "theirs\n"), (Some("--put-back"), "one\n")] {
        let stage = Stage::new();
        let checkout = waiting(&stage);
        std::fs::write(checkout.join("one.txt"), "theirs\n").unwrap();
        let told = stage.bench.run(&["resume", "c", "--json"]).exits(3).json();
        assert_eq!(told["waiting"]["reason"], "workspace", "{told}");
        let words: Vec<&str> = ["resume", "c"].into_iter().chain(option).collect();
        stage.bench.run(&words).exits(0);
        let one = git(&stage.bench.project(), &["show", "materia/c:one.txt"]);
        assert_eq!(one, format!("{kept}more\n"));
        stage.bench.run(&["replay", "c"]).exits(0);
    }
}

#[test]
fn a_checkout_that_was_deleted_is_made_again() {
    let stage = Stage::new();
    let checkout = waiting(&stage);
    std::fs::remove_dir_all(&checkout).unwrap();
    stage.bench.run(&["resume", "c"]).exits(0);
    assert_eq!(git(&stage.bench.project(), &["show", "materia/c:one.txt"]), "one\nmore\n");
}

#[test]
fn a_workspace_that_is_gone_begins_again_from_its_base() {
    let stage = Stage::new();
    let checkout = waiting(&stage);
    std::fs::remove_dir_all(checkout.parent().unwrap()).unwrap();
    let told = stage.bench.run(&["resume", "c"]).exits(2);
    assert!(told.err.contains("--from-base"), "{}", told.err);
    stage.bench.run(&["resume", "c", "--from-base"]).exits(0);
    // The first turn is not run again: what it wrote is gone.
    let files = git(&stage.bench.project(), &["ls-tree", "-r", "--name-only", "materia/c"]);
    assert!(!files.contains("deep.txt") && files.contains("rest.txt"), "{files}");
    stage.bench.run(&["replay", "c"]).exits(0);
}

#[test]
fn two_casts_side_by_side_do_not_see_each_other() {
    let stage = Stage::new();
    let mut children: Vec<_> = (0..3).map(|n| stage.cast(&name(n)).spawn().unwrap()).collect();
    until("all of them end", || {
        children.iter_mut().all(|child| child.try_wait().unwrap().is_some())
    });
    let results: Vec<_> = (0..3).map(|n| stage.result(&name(n))).collect();
    assert!(results.windows(2).all(|two| two[0] == two[1]), "{results:?}");
}

#[test]
fn what_a_person_changed_after_ctrl_c_is_not_taken_back() {
    for (option, kept) in [(None, true), (Some("--put-back"), false)] {
        let stage = Stage::new();
        let mut child = stage.cast("c").spawn().unwrap();
        let begun = || {
            let events = stage.bench.run(&["events", "c", "--json"]);
            events.exit == 0 && events.lines().iter().any(|event| event["type"] == "turn.started")
        };
        until("a turn starts", begun);
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        std::fs::write(stage.checkout("c").join("by-hand.txt"), "mine\n").unwrap();
        let words: Vec<&str> = ["resume", "c"].into_iter().chain(option).collect();
        stage.bench.run(&words).exits(0);
        let files = git(&stage.bench.project(), &["ls-tree", "-r", "--name-only", "materia/c"]);
        assert_eq!(files.contains("by-hand.txt"), kept, "{option:?}: {files}");
        stage.bench.run(&["replay", "c"]).exits(0);
    }
}

#[test]
fn clean_keeps_the_work_of_an_aborted_cast_and_removes_an_unchanged_one() {
    let stage = Stage::new();
    let clean = || stage.bench.run(&["clean", "--older-than", "0", "--json"]).exits(0).json();
    let begin = ["cast", "--trust", "--workspace", "own", "--interactive", "--cast-id"];
    for id in ["changed", "unchanged", "without-refs"] {
        stage.bench.run(&[&begin[..], &[id, "go"]].concat()).exits(3);
    }
    stage.bench.run(&["trigger", "changed", "edit"]).exits(3);
    assert_eq!(clean()["items"], json!([]), "they can go on");
    for id in ["changed", "unchanged", "without-refs"] {
        stage.bench.run(&["abort", id]).exits(0);
    }
    git(&stage.bench.project(), &["update-ref", "-d", "refs/materia/without-refs/base"]);
    let folders = ["unchanged", "without-refs"].map(|id| stage.checkout(id));
    let kept = stage.checkout("changed");
    let cleaned = clean();
    let of = |id: &str| {
        let items = cleaned["items"].as_array().unwrap().iter();
        items
            .filter(|item| item["castId"] == id)
            .map(|item| item["kind"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("unchanged"), ["workspace", "refs"], "{cleaned}");
    assert_eq!(of("without-refs"), ["workspace"], "{cleaned}");
    assert_eq!(of("changed"), Vec::<Value>::new());
    assert!(folders.iter().all(|folder| !folder.exists()));
    assert!(kept.join("one.txt").exists());
}
