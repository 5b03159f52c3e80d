use materia_workspace::{RefusalCode, examine};

use crate::common::{House, git, try_git};

fn codes(house: &House) -> Vec<RefusalCode> {
    let refusals = examine(&house.project(), &house.state()).unwrap_err();
    assert!(refusals.iter().all(|it| it.message.len() > 20), "{refusals:?}");
    refusals.iter().map(|it| it.code).collect()
}

#[test]
fn the_base_says_what_matters() {
    let house = House::new();
    house.write("new.txt", "new\n");
    house.write("ignored/x", "x\n");
    std::fs::create_dir(house.project().join(".jj")).unwrap();
    let base = house.base();
    assert_eq!(base.commit, house.git(["rev-parse", "HEAD"]));
    assert_eq!(base.uncommitted, 1);
    assert_eq!(
        (base.identity.name.as_str(), base.identity.email.as_str()),
        ("Ada", "ada@example.org")
    );
    assert!(base.git_version.starts_with("2."));
    assert_eq!(base.notes, ["this is a jj project; its workspace is plain git"]);
}

#[test]
fn a_folder_without_a_repository_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refused = examine(dir.path(), &dir.path().join("state")).unwrap_err();
    assert_eq!(refused[0].code, RefusalCode::NoRepository);
}

#[test]
fn a_bare_repository_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "-q", "--bare"]);
    let refused = examine(dir.path(), &dir.path().join("../state")).unwrap_err();
    assert_eq!(refused[0].code, RefusalCode::NoRepository);
}

#[test]
fn a_repository_without_a_commit_is_refused() {
    let house = House::new();
    house.git(["update-ref", "-d", "HEAD"]);
    assert_eq!(codes(&house), [RefusalCode::NoCommit]);
}

#[test]
fn a_state_folder_inside_is_refused() {
    let house = House::new();
    for inside in ["state", ".git/state", "a/b/c"] {
        let refused = examine(&house.project(), &house.project().join(inside)).unwrap_err();
        assert_eq!(refused[0].code, RefusalCode::StateInside);
    }
}

#[test]
fn files_with_a_filter_are_refused() {
    let house = House::new();
    house.write(".gitattributes", "*.bin filter=lfs diff=lfs\n");
    house.git(["add", "-A"]);
    house.git(["commit", "-q", "-m", "attributes"]);
    house.base();
    house.write("x.bin", "x\n");
    house.git(["add", "-A"]);
    house.git(["commit", "-q", "-m", "bin"]);
    assert_eq!(codes(&house), [RefusalCode::Filter]);
    house.write(".gitattributes", "*.bin -filter\n");
    house.git(["add", "-A"]);
    house.git(["commit", "-q", "-m", "no filter"]);
    house.base();
    // In no commit, but in effect.
    std::fs::create_dir_all(house.project().join(".git/info")).unwrap();
    std::fs::write(house.project().join(".git/info/attributes"), "a.txt filter=x\n").unwrap();
    assert_eq!(codes(&house), [RefusalCode::Filter]);
}

#[test]
fn a_partial_clone_is_refused() {
    let house = House::new();
    house.git(["config", "remote.origin.promisor", "true"]);
    assert_eq!(codes(&house), [RefusalCode::PartialClone]);
}

#[test]
fn a_branch_named_materia_is_refused() {
    let house = House::new();
    house.git(["branch", "materia"]);
    assert_eq!(codes(&house), [RefusalCode::BranchInTheWay]);
    house.git(["pack-refs", "--all"]);
    assert_eq!(codes(&house), [RefusalCode::BranchInTheWay]);
}

#[test]
fn refs_in_another_format_are_refused() {
    let house = House::new();
    let (_, can) = try_git(&house.project(), &["refs", "migrate", "--ref-format=reftable"]);
    if can {
        assert_eq!(codes(&house), [RefusalCode::RefFormat]);
    }
}

#[test]
fn all_reasons_come_at_once() {
    let house = House::new();
    house.git(["branch", "materia"]);
    house.git(["config", "extensions.partialClone", "origin"]);
    house.write(".gitattributes", "* filter=x\n");
    house.git(["add", "-A"]);
    house.git(["commit", "-q", "-m", "attributes"]);
    let refused = examine(&house.project(), &house.project().join("state")).unwrap_err();
    let codes: Vec<RefusalCode> = refused.iter().map(|it| it.code).collect();
    let all = [
        RefusalCode::StateInside,
        RefusalCode::PartialClone,
        RefusalCode::BranchInTheWay,
        RefusalCode::Filter,
    ];
    assert_eq!(codes, all);
}
