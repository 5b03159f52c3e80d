use std::fs;

use materia_workspace::{Opened, create, open};

use crate::common::{House, fsck, git, snapshot, snapshot_of_git};

#[test]
fn a_workspace_has_the_tree_and_commit_of_head() {
    let house = House::new();
    let (workspace, look) = house.make("one");
    assert_eq!(look.head, house.git(["rev-parse", "HEAD"]));
    assert_eq!(look.tree, house.git(["rev-parse", "HEAD^{tree}"]));
    let files = workspace.place().checkout();
    assert_eq!(fs::read_to_string(files.join("src/b.txt")).unwrap(), "two\n");
    assert_eq!(git(&files, &["status", "--porcelain"]), "");
    assert_eq!(git(&files, &["branch", "--show-current"]), "materia/one");
    assert_eq!(workspace.look().unwrap(), look);
    assert!(matches!(open(&house.place("one")).unwrap(), Opened::Here(_)));
    let (_, again) = house.make("one");
    assert_eq!(again, look);
    fsck(&files);
    fsck(&house.project());
    workspace.remove().unwrap();
    assert!(matches!(open(&house.place("one")).unwrap(), Opened::Gone));
}

#[test]
fn the_users_repository_gets_one_ref() {
    let house = House::new();
    house.git(["branch", "feature"]);
    house.git(["pack-refs", "--all"]);
    house.write("a.txt", "changed\n");
    house.write("new.txt", "new\n");
    house.git(["stash", "-u"]);
    house.write("a.txt", "changed again\n");
    house.git(["add", "a.txt"]);
    house.write("a.txt", "and again\n");
    let (git_before, files_before) =
        (snapshot_of_git(&house.project().join(".git")), snapshot(&house.project()));
    let count = if std::env::var_os("MATERIA_LONG").is_some() { 50 } else { 10 };
    for number in 0..count {
        let id = format!("cast-{number}");
        let (workspace, _) = house.make(&id);
        crate::common::write(&workspace.place().checkout().join("x"), "x");
        git(&workspace.place().checkout(), &["add", "-A"]);
        git(&workspace.place().checkout(), &["commit", "-q", "-m", "x"]);
        git(&workspace.place().checkout(), &["config", "user.name", "Eve"]);
        workspace.look().unwrap();
        let refs = house.git(["for-each-ref", "--format=%(refname)", "refs/materia"]);
        assert_eq!(refs.lines().count(), number + 1);
    }
    assert_eq!(snapshot_of_git(&house.project().join(".git")), git_before);
    let mut files = snapshot(&house.project());
    let mut files_before = files_before;
    for all in [&mut files, &mut files_before] {
        all.retain(|path, _| !path.starts_with(".git"));
    }
    assert_eq!(files, files_before);
    fsck(&house.project());
}

#[test]
fn uncommitted_changes_come_with_it_if_asked() {
    let house = House::new();
    house.write("a.txt", "changed\n");
    house.write("new/n.txt", "new\n");
    house.write("staged.txt", "staged\n");
    house.write("x.log", "ignored\n");
    house.git(["add", "staged.txt"]);
    fs::remove_file(house.project().join("src/b.txt")).unwrap();
    let base = house.base();
    assert_eq!(base.uncommitted, 4);
    let (plain, look) = create(&house.place("plain"), &base, false).unwrap();
    assert_eq!(look.tree, base.tree);
    assert!(!plain.place().checkout().join("new").exists());
    let (with, look) = create(&house.place("with"), &base, true).unwrap();
    assert_ne!(look.tree, base.tree);
    assert_eq!(look.head, base.commit);
    let files = with.place().checkout();
    assert_eq!(fs::read_to_string(files.join("a.txt")).unwrap(), "changed\n");
    assert_eq!(fs::read_to_string(files.join("new/n.txt")).unwrap(), "new\n");
    assert!(!files.join("x.log").exists() && !files.join("src").exists());
    // Nothing is staged.
    assert_eq!(git(&files, &["diff", "--cached", "--name-only"]), "");
    // The user's repository forgets what was only staged.
    house.git(["reset", "-q", "--hard"]);
    house.git(["gc", "-q", "--prune=now"]);
    fsck(&files);
    assert_eq!(git(&files, &["cat-file", "-p", &format!("{}:staged.txt", look.tree)]), "staged");
}

#[test]
fn a_half_made_workspace_is_made_again() {
    let house = House::new();
    let (workspace, look) = house.make("one");
    let root = workspace.place().root();
    let whole = [
        "private/made",
        "private/index",
        "checkout/a.txt",
        "repository/packed-refs",
        "repository/config",
    ];
    for count in 1..=whole.len() {
        for name in &whole[..count] {
            fs::remove_file(root.join(name)).unwrap();
        }
        fs::write(root.join("private/index.lock"), "").unwrap();
        assert!(matches!(open(&house.place("one")).unwrap(), Opened::Gone));
        let (_, again) = house.make("one");
        assert_eq!(again, look);
        assert_eq!(git(&root.join("checkout"), &["status", "--porcelain"]), "");
    }
}

#[test]
fn only_refs_before_the_base_come_along() {
    let house = House::new();
    house.git(["tag", "-a", "v1", "-m", "one"]);
    house.git(["branch", "old"]);
    house.git(["checkout", "-q", "-b", "other"]);
    house.write("other.txt", "other\n");
    house.git(["add", "-A"]);
    house.git(["commit", "-q", "-m", "other"]);
    house.git(["checkout", "-q", "main"]);
    house.git(["remote", "add", "origin", "https://example.org/x.git"]);
    let (workspace, _) = house.make("one");
    let files = workspace.place().checkout();
    let refs =
        git(&files, &["for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags"]);
    assert_eq!(refs, "main\nmateria/one\nold\nv1");
    assert_eq!(git(&files, &["remote", "get-url", "origin"]), "https://example.org/x.git");
    // The tag's own object stays when the user deletes the tag.
    house.git(["tag", "-d", "v1"]);
    house.git(["gc", "-q", "--prune=now"]);
    assert_eq!(git(&files, &["cat-file", "-t", "v1"]), "tag");
    fsck(&files);
}
