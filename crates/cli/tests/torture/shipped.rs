//! A shipped loadout in a workspace: its utilities and its agent's commits stay in the copy (W3, W7).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::bench::Bench;

/// A stand-in for Claude Code. It knows each materia by the first words of its prompt; the one that makes checkpoints commits.
const AGENT: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo "9.8.7 (Claude Code)"; exit 0; }
here=$(dirname "$0")
id=none
while [ $# -gt 0 ]; do
  case $1 in --session-id|--resume) id=$2; shift;; esac
  shift
done
case $(cat) in
  *'You plan.'*) says='{\"workItems\":[{\"title\":\"one\",\"context\":\"build it\"}]}' ;;
  *'You build the current work item'*) echo built > built.txt; says=done ;;
  *'You judge whether'*) says='{\"satisfied\":true}' ;;
  *'You make the checkpoint'*)
    pwd > "$here/place"
    git add -A && git -c user.name=A -c user.email=a@localhost commit -qm 'feat: one' || exit 1
    says='{\"satisfied\":true}' ;;
  *'You tell the person'*) says=told ;;
  *) exit 1 ;;
esac
printf '{"type":"system","subtype":"init","session_id":"%s","model":"fake-1"}\n' "$id"
printf '{"type":"result","subtype":"success","is_error":false,"result":"%s","session_id":"%s","usage":{"input_tokens":1,"output_tokens":1},"total_cost_usd":0}\n' "$says" "$id"
"#;

fn git(folder: &Path, words: &[&str]) -> String {
    let ran = Command::new("git").current_dir(folder).args(words).output().unwrap();
    assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

#[test]
fn the_shipped_loadout_builds_and_commits_in_its_workspace() {
    let bench = Bench::new();
    let (project, bin) = (bench.project(), bench.profile().join("bin"));
    bench.write("a.txt", "a\n");
    git(&project, &["init", "-q", "-b", "main"]);
    git(&project, &["add", "-A"]);
    let me = ["-c", "user.name=Me", "-c", "user.email=me@localhost"];
    git(&project, &[&me[..], &["commit", "-qm", "first"]].concat());
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join("claude"), AGENT).unwrap();
    fs::set_permissions(bin.join("claude"), fs::Permissions::from_mode(0o755)).unwrap();

    let words =
        ["cast", "--trust", "--provider", "claude", "--workspace", "own", "--cast-id", "c1", "go"];
    let mut cast = bench.command(&words);
    let path = std::env::var_os("PATH").unwrap();
    let path = [bin.clone()].into_iter().chain(std::env::split_paths(&path));
    cast.env("PATH", std::env::join_paths(path).unwrap()).env("HOME", bench.profile());
    let ran: crate::bench::Ran = cast.output().unwrap().into();
    ran.exits(0);

    let place = fs::read_to_string(bin.join("place")).unwrap();
    assert!(!Path::new(place.trim()).starts_with(&project), "it committed in {place}");
    assert_eq!(git(&project, &["status", "--porcelain"]), "", "the user's checkout is as it was");
    assert!(!bench.has("built.txt"));
    let subjects = git(&project, &["log", "--format=%s", "main..materia/c1"]);
    assert_eq!(subjects, "feat: one");
    assert_eq!(git(&project, &["show", "materia/c1:built.txt"]), "built");
    bench.run(&["workspace", "c1", "--apply"]).exits(0);
    assert_eq!(bench.read("built.txt"), "built\n");
    bench.run(&["replay", "c1"]).exits(0);
}
