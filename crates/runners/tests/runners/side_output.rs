//! Output of turns besides their answer: diffs and logs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use materia_contract::TurnOutput;
use materia_engine::{Leaves, StopSource};
use materia_runners::{Runners, UtilityRunner};
use serde_json::json;

use crate::stage::{SUPERVISOR, Stage, perform};

/// A project under git with one commit, whose turns are to leave a diff.
fn project() -> Stage {
    let mut stage = Stage::new();
    stage.job.leaves = Leaves { diff: true, logs: false };
    let cwd = stage.cwd();
    fs::write(cwd.join("kept.txt"), "one\ntwo\n").unwrap();
    fs::write(cwd.join(".gitignore"), "ignored\n").unwrap();
    git(cwd, &["init", "--quiet"]);
    git(cwd, &["add", "kept.txt", ".gitignore"]);
    git(cwd, &["commit", "--quiet", "--message", "first"]);
    stage
}

fn git(folder: &Path, words: &[&str]) -> String {
    let who = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
    let output = Command::new("git")
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .args(who)
        .args(words)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a shell script as a turn, with everything that a process performs turns with.
fn turn(stage: &Stage, script: &str) -> TurnOutput {
    let utility = Arc::new(UtilityRunner::new(SUPERVISOR.into()));
    let runners = Runners { utility, scripted: None, mock: None, agent: None };
    let (_source, stop) = StopSource::new();
    let report = perform(&runners, stage.command(&["sh", "-c", script], json!({})), stop);
    report.outcome.expect("the command succeeds")
}

fn diff(output: &TurnOutput) -> &str {
    let found = output.artifacts.iter().find(|artifact| artifact.kind == "diff");
    found.map_or("", |artifact| &artifact.content)
}

/// All files under a folder with their content.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.append(&mut files(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn a_diff_shows_what_the_turn_changed_and_nothing_else() {
    let stage = project();
    // Somebody was at work before the turn.
    fs::write(stage.cwd().join("mine.txt"), "of a person\n").unwrap();
    let script = "echo three >> kept.txt; mkdir sub; echo new > sub/made.txt; echo x > ignored; \
                  echo seen > .materia/run/inside";
    let output = turn(&stage, script);
    let diff = diff(&output);
    assert!(diff.contains("+++ b/kept.txt\n@@ -1,2 +1,3 @@\n one\n two\n+three\n"), "{diff}");
    assert!(diff.contains("+++ b/sub/made.txt\n@@ -0,0 +1 @@\n+new\n"), "{diff}");
    assert_eq!(diff.matches("diff --git").count(), 2, "{diff}");
    let artifact = &output.artifacts[0];
    assert_eq!(artifact.name, "sockets/Socket-1/2-1.diff");
    assert_eq!(fs::read_to_string(stage.job.artifact("diff")).unwrap(), diff);
    stage.assert_nobody_left();
}

#[test]
fn the_repository_of_the_user_is_left_as_it_was() {
    let stage = project();
    git(stage.cwd(), &["rm", "--quiet", "--cached", "kept.txt"]);
    let (before, status) =
        (files(&stage.cwd().join(".git")), git(stage.cwd(), &["status", "--short", "-uno"]));
    assert!(!diff(&turn(&stage, "echo three >> kept.txt")).is_empty());
    assert_eq!(files(&stage.cwd().join(".git")), before);
    assert_eq!(git(stage.cwd(), &["status", "--short", "-uno"]), status);
    assert!(!stage.job.run_dir.join("tmp").exists(), "private files were left behind");
}

#[test]
fn a_turn_that_changes_nothing_leaves_none() {
    let stage = project();
    assert_eq!(
        turn(&stage, "cat kept.txt > kept2.txt; rm kept2.txt; touch kept.txt").artifacts,
        []
    );
}

#[test]
fn without_a_repository_there_is_none_and_the_turn_is_well() {
    let mut stage = Stage::new();
    stage.job.leaves = Leaves { diff: true, logs: true };
    let output = turn(&stage, "echo x > made; echo done");
    assert_eq!((output.output.as_str(), output.artifacts.len()), ("done\n", 0));
}

#[test]
fn nothing_that_the_repository_says_is_run() {
    let stage = project();
    let cwd = stage.cwd().to_owned();
    let ran = cwd.join("ignored");
    let trap = format!("sh -c 'touch {}; cat'", ran.display());
    fs::write(cwd.join(".gitattributes"), "* filter=trap diff=trap\n").unwrap();
    for (name, value) in [
        ("filter.trap.clean", trap.as_str()),
        ("filter.trap.required", "true"),
        ("diff.trap.command", &trap),
        ("diff.trap.textconv", &trap),
        ("diff.external", &trap),
        ("core.fsmonitor", &trap),
    ] {
        git(&cwd, &["config", name, value]);
    }
    let hook = cwd.join(".git/hooks/post-index-change");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    crate::stage::program(&hook, &format!("#!/bin/sh\ntouch {}\n", ran.display()), 0o755);
    let output = turn(&stage, "echo three >> kept.txt");
    assert!(diff(&output).contains("+three"), "{}", diff(&output));
    assert!(!ran.exists(), "a program named by the repository has run");
}

#[test]
fn nothing_that_the_turn_leaves_for_the_look_behind_it_is_run() {
    let stage = project();
    let ran = stage.cwd().join("ignored");
    let looks = std::env::temp_dir().join(format!("materia-changes-{}-", stage.job.run));
    let (looks, trap) = (looks.display(), format!("touch {}; cat", ran.display()));
    let script = format!(
        "for look in {looks}* .materia/run/tmp; do mkdir -p $look/info; echo '* filter=trap' > $look/info/attributes
         printf '[filter \"trap\"]\\nclean = {trap}\\n' > $look/config; done
         echo '* filter=trap' > .gitattributes; echo three >> kept.txt; ls -d {looks}*"
    );
    let output = turn(&stage, &script);
    assert!(output.output.contains("materia-changes-"), "the turn sees the look before it");
    assert!(diff(&output).contains("+three"), "{}", diff(&output));
    assert!(!ran.exists(), "a program named by the turn has run");
    let left = fs::read_dir(std::env::temp_dir()).unwrap().filter_map(Result::ok);
    let own = format!("materia-changes-{}-", stage.job.run);
    assert_eq!(left.filter(|it| it.file_name().to_string_lossy().starts_with(&own)).count(), 0);
}

#[test]
fn a_long_diff_is_cut_and_says_so() {
    let stage = project();
    let output = turn(&stage, "seq 1 100000 > kept.txt");
    let diff = diff(&output);
    assert!(diff.len() < 300_000 && diff.ends_with("it is too long)\n"), "{}", diff.len());
}

#[test]
fn the_logs_of_a_utility_are_what_it_said_on_the_side() {
    let mut stage = Stage::new();
    stage.job.leaves = Leaves { diff: false, logs: true };
    let output = turn(&stage, "echo out; echo aside >&2");
    let [logs] = &output.artifacts[..] else { panic!("{:?}", output.artifacts) };
    assert_eq!((logs.kind.as_str(), logs.content.as_str()), ("logs", "aside\n"));
}
