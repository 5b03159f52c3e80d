use std::fs;

use materia_workspace::{Applied, ApplyRefusal, Project, apply, merged};

use crate::common::{House, fsck, git, snapshot, write};
use crate::publish::publish_change;

fn project(house: &House) -> Project {
    Project::open(&house.project()).unwrap()
}

/// Holds that a refusal changes nothing, byte for byte.
fn refused(house: &House, id: &str) -> ApplyRefusal {
    let before = snapshot(&house.project());
    let refusal = apply(&project(house), id).unwrap_err();
    assert_eq!(snapshot(&house.project()), before, "{refusal}");
    refusal
}

#[test]
fn a_branch_is_merged_forward() {
    let house = House::new();
    publish_change(&house, "one", "new/file.txt", "new\n");
    house.write("src/b.txt", "mine, not committed\n");
    house.write("mine.txt", "mine\n");
    assert!(!merged(&project(&house), "one").unwrap());
    let applied = apply(&project(&house), "one").unwrap();
    assert_eq!(applied, Applied::Forward(house.git(["rev-parse", "materia/one"])));
    assert_eq!(house.git(["rev-parse", "HEAD"]), house.git(["rev-parse", "materia/one"]));
    assert_eq!(house.git(["status", "--porcelain"]), " M src/b.txt\n?? mine.txt");
    assert_eq!(fs::read_to_string(house.project().join("new/file.txt")).unwrap(), "new\n");
    assert!(merged(&project(&house), "one").unwrap());
    assert_eq!(apply(&project(&house), "one").unwrap(), Applied::Already);
    assert!(house.git(["reflog", "-1"]).contains("materia: apply one"));
    fsck(&house.project());
}

#[test]
fn a_branch_is_merged_with_a_commit() {
    let house = House::new();
    publish_change(&house, "one", "a.txt", "theirs\n");
    house.write("src/b.txt", "mine\n");
    house.git(["commit", "-qam", "mine"]);
    // A detached HEAD moves as well.
    house.git(["checkout", "-q", "--detach"]);
    let hooks = house.project().join(".git/hooks");
    for name in
        ["post-merge", "pre-merge-commit", "commit-msg", "reference-transaction", "post-checkout"]
    {
        let hook = format!("#!/bin/sh\ntouch {}\n", house.dir.path().join("ran").display());
        write(&hooks.join(name), &hook);
        std::process::Command::new("chmod").arg("+x").arg(hooks.join(name)).status().unwrap();
    }
    let Applied::Merged(commit) = apply(&project(&house), "one").unwrap() else { panic!() };
    assert!(!house.dir.path().join("ran").exists());
    assert_eq!(house.git(["rev-parse", "HEAD"]), commit);
    assert_eq!(house.git(["rev-list", "--parents", "-n1", "HEAD"]).split(' ').count(), 3);
    assert_eq!(house.git(["status", "--porcelain"]), "");
    assert_eq!(fs::read_to_string(house.project().join("a.txt")).unwrap(), "theirs\n");
    assert_eq!(fs::read_to_string(house.project().join("src/b.txt")).unwrap(), "mine\n");
    assert!(!merged(&project(&house), "one").unwrap());
    fsck(&house.project());
}

#[test]
fn uncommitted_changes_are_not_overwritten() {
    let house = House::new();
    publish_change(&house, "one", "a.txt", "theirs\n");
    for staged in [false, true] {
        house.write("a.txt", "mine\n");
        if staged {
            house.git(["add", "a.txt"]);
        }
        let refusal = refused(&house, "one");
        assert!(matches!(refusal, ApplyRefusal::Uncommitted { .. }), "{refusal}");
        assert_eq!(refusal.files(), ["a.txt"]);
    }
    // Deleted counts, too.
    house.git(["reset", "-q", "--hard"]);
    fs::remove_file(house.project().join("a.txt")).unwrap();
    assert!(matches!(refused(&house, "one"), ApplyRefusal::Uncommitted { .. }));
    // The same with a merge commit.
    house.git(["reset", "-q", "--hard"]);
    house.write("src/b.txt", "mine\n");
    house.git(["commit", "-qam", "mine"]);
    house.write("a.txt", "mine\n");
    assert!(matches!(refused(&house, "one"), ApplyRefusal::Uncommitted { .. }));
}

#[test]
fn files_outside_the_repository_are_not_overwritten() {
    let house = House::new();
    publish_change(&house, "new", "new.txt", "theirs\n");
    house.write("new.txt", "mine\n");
    let refusal = refused(&house, "new");
    assert!(matches!(refusal, ApplyRefusal::Untracked { .. }), "{refusal}");
    assert_eq!(refusal.files(), ["new.txt"]);
    fs::remove_file(house.project().join("new.txt")).unwrap();
    // A folder in the place of the file, with an ignored file in it.
    house.write("new.txt/x.log", "mine\n");
    assert_eq!(refused(&house, "new").files(), ["new.txt/x.log"]);
    fs::remove_dir_all(house.project().join("new.txt")).unwrap();

    // An ignored file that the cast has committed.
    let (workspace, _) = house.make("forced");
    let files = workspace.place().checkout();
    write(&files.join("x.log"), "theirs\n");
    git(&files, &["add", "-f", "x.log"]);
    git(&files, &["commit", "-qm", "forced"]);
    let look = workspace.look().unwrap();
    workspace.publish(&crate::publish::request(&look, &[])).unwrap();
    house.write("x.log", "mine\n");
    assert_eq!(refused(&house, "forced").files(), ["x.log"]);

    // A file in the place of a folder.
    publish_change(&house, "deep", "deep/er/x.txt", "theirs\n");
    house.write("deep", "mine\n");
    assert_eq!(refused(&house, "deep").files(), ["deep"]);
}

#[test]
fn conflicts_are_refused() {
    let house = House::new();
    publish_change(&house, "one", "a.txt", "theirs\n");
    house.write("a.txt", "mine\n");
    house.git(["commit", "-qam", "mine"]);
    let refusal = refused(&house, "one");
    assert!(matches!(refusal, ApplyRefusal::Conflict { .. }), "{refusal}");
    assert_eq!(refusal.files(), ["a.txt"]);
    assert!(refusal.to_string().contains("`a.txt`"));
}

#[test]
fn half_done_things_and_missing_branches_are_refused() {
    let house = House::new();
    assert!(matches!(refused(&house, "none"), ApplyRefusal::NotPublished(_)));
    publish_change(&house, "one", "b.txt", "theirs\n");
    fs::write(house.project().join(".git/MERGE_HEAD"), "x").unwrap();
    assert!(matches!(refused(&house, "one"), ApplyRefusal::HalfDone(_)));
}

#[test]
fn the_users_line_ends_are_kept() {
    let house = House::new();
    publish_change(&house, "one", "a.txt", "theirs\n");
    house.git(["config", "core.autocrlf", "true"]);
    apply(&project(&house), "one").unwrap();
    assert_eq!(fs::read(house.project().join("a.txt")).unwrap(), b"theirs\r\n");
    assert_eq!(house.git(["status", "--porcelain"]), "");
}

#[test]
fn a_linked_worktree_gets_the_merge() {
    let house = House::new();
    let other = house.dir.path().canonicalize().unwrap().join("other");
    house.git(["worktree", "add", "-q", "-b", "side", other.to_str().unwrap()]);
    publish_change(&house, "one", "new.txt", "theirs\n");
    let project = Project::open(&other).unwrap();
    assert!(matches!(apply(&project, "one").unwrap(), Applied::Forward(_)));
    assert_eq!(git(&other, &["status", "--porcelain", "--branch"]), "## side");
    assert!(other.join("new.txt").exists() && !house.project().join("new.txt").exists());
    assert_eq!(house.git(["status", "--porcelain"]), "");
}
