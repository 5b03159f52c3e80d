use std::fs;

use materia_workspace::{Look, Opened, Workspace, open};

use crate::common::{House, fsck, git, snapshot, try_git, write};

/// A workspace with two commits, a branch and something not committed; and the look at it.
fn workspace(house: &House) -> (Workspace, Look) {
    let (workspace, _) = house.make("one");
    let files = workspace.place().checkout();
    git(&files, &["checkout", "-q", "-b", "side"]);
    write(&files.join("a.txt"), "side\n");
    git(&files, &["commit", "-qam", "side"]);
    git(&files, &["checkout", "-q", "materia/one"]);
    write(&files.join("a.txt"), "main\n");
    git(&files, &["commit", "-qam", "main"]);
    write(&files.join("src/b.txt"), "not committed\n");
    write(&files.join("new.txt"), "new\n");
    write(&files.join("ignored/x"), "x\n");
    let look = workspace.look().unwrap();
    (workspace, look)
}

/// Does something to a workspace, puts it back, and compares everything.
fn check(what: &str, act: impl FnOnce(&Workspace)) {
    let house = House::new();
    let (workspace, look) = workspace(&house);
    let files = workspace.place().checkout();
    let seen = || {
        let refs = git(
            &files,
            &[
                "for-each-ref",
                "--format=%(refname) %(objectname)",
                "refs/heads",
                "refs/stash",
                "refs/tags",
            ],
        );
        let status = git(&files, &["status", "--porcelain=v2", "--branch"]);
        let mut all = snapshot(&files);
        all.remove(std::path::Path::new(".git"));
        (refs, status, all)
    };
    let before = seen();
    act(&workspace);
    workspace.put_back(&look).unwrap();
    assert_eq!(seen(), before, "{what}");
    assert_eq!(workspace.look().unwrap(), look, "{what}");
    // Once more changes nothing.
    workspace.put_back(&look).unwrap();
    assert_eq!(seen(), before, "{what}, twice");
    write(&files.join("a.txt"), "works\n");
    git(&files, &["commit", "-qam", "works"]);
    fsck(&files);
}

#[test]
fn nothing() {
    check("nothing", |_| {});
}

#[test]
fn commits_and_branches() {
    check("a commit", |it| {
        git(&it.place().checkout(), &["add", "-A"]);
        git(&it.place().checkout(), &["commit", "-qm", "more"]);
    });
    check("another branch", |it| {
        git(&it.place().checkout(), &["stash", "-q", "-u"]);
        git(&it.place().checkout(), &["checkout", "-q", "side"]);
        write(&it.place().checkout().join("more.txt"), "more\n");
    });
    check("deleted and new branches", |it| {
        let files = it.place().checkout();
        git(&files, &["branch", "-q", "-D", "side"]);
        // In the place of a folder of branches.
        git(&files, &["branch", "side/inner"]);
        git(&files, &["tag", "t"]);
        git(&files, &["branch", "-m", "main", "other"]);
        git(&files, &["pack-refs", "--all"]);
    });
    check("a detached HEAD", |it| {
        git(&it.place().checkout(), &["checkout", "-q", "-f", "--detach", "side"]);
    });
    check("a branch without a commit", |it| {
        git(&it.place().checkout(), &["checkout", "-q", "--orphan", "empty"]);
        let look = it.look().unwrap();
        assert!(look.head.bytes().all(|it| it == b'0'));
        assert!(!it.has_base_as_ancestor(&look).unwrap());
    });
    check("a reset", |it| {
        git(&it.place().checkout(), &["reset", "-q", "--hard", "HEAD~1"]);
        git(&it.place().checkout(), &["clean", "-qfd"]);
    });
}

#[test]
fn half_done_things() {
    check("a merge", |it| {
        let files = it.place().checkout();
        git(&files, &["stash", "-q"]);
        assert!(!try_git(&files, &["merge", "side"]).1);
        assert!(it.place().repository().join("worktrees/checkout/MERGE_HEAD").exists());
    });
    check("a rebase", |it| {
        let files = it.place().checkout();
        git(&files, &["stash", "-q"]);
        assert!(!try_git(&files, &["rebase", "side"]).1);
    });
    check("a cherry-pick", |it| {
        let files = it.place().checkout();
        git(&files, &["stash", "-q"]);
        assert!(!try_git(&files, &["cherry-pick", "side"]).1);
    });
    check("a bisect", |it| {
        let files = it.place().checkout();
        git(&files, &["stash", "-q"]);
        git(&files, &["bisect", "start", "HEAD", "HEAD~1"]);
    });
    check("locks", |it| {
        let repository = it.place().repository();
        for name in [
            "worktrees/checkout/index.lock",
            "worktrees/checkout/HEAD.lock",
            "packed-refs.lock",
            "config.lock",
            "refs/heads/side.lock",
            "refs/heads/new/x.lock",
        ] {
            write(&repository.join(name), "");
        }
        write(&it.place().checkout().join("a.txt"), "changed\n");
    });
    check("staged files", |it| {
        let files = it.place().checkout();
        write(&files.join("staged.txt"), "staged\n");
        git(&files, &["add", "-A"]);
        git(&files, &["rm", "-q", "--cached", "a.txt"]);
    });
    check("a broken index and HEAD", |it| {
        let worktree = it.place().repository().join("worktrees/checkout");
        fs::write(worktree.join("index"), "broken").unwrap();
        fs::write(worktree.join("HEAD"), "").unwrap();
        fs::write(it.place().repository().join("refs/heads/side"), "").unwrap();
    });
    check("no pointer", |it| {
        fs::remove_file(it.place().checkout().join(".git")).unwrap();
        fs::create_dir(it.place().checkout().join(".git")).unwrap();
    });
}

#[test]
fn patterns_of_ignored_files() {
    check("more is ignored", |it| {
        let files = it.place().checkout();
        write(&files.join(".gitignore"), "*\n");
        write(&files.join("hidden/x"), "x\n");
        it.look().unwrap();
    });
    check("less is ignored", |it| {
        let files = it.place().checkout();
        fs::remove_file(files.join(".gitignore")).unwrap();
        it.look().unwrap();
    });
    check("patterns in new folders", |it| {
        let files = it.place().checkout();
        write(&files.join("deep/er/.gitignore"), "*\n!.gitignore\n");
        write(&files.join("deep/er/x"), "x\n");
        write(&files.join("deep/.gitignore"), "er/\n");
        it.look().unwrap();
    });
}

#[test]
fn new_repositories_go() {
    check("a repository in a new folder", |it| {
        git(&it.place().checkout(), &["init", "-q", "nested"]);
        write(&it.place().checkout().join("nested/x"), "x\n");
    });
    check("a repository in a folder of the project", |it| {
        git(&it.place().checkout().join("src"), &["init", "-q"]);
    });
    check("a repository as part of a commit", |it| {
        let files = it.place().checkout();
        git(&files, &["init", "-q", "nested"]);
        let words =
            ["-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "--allow-empty", "-m", "x"];
        git(&files.join("nested"), &words);
        git(&files, &["-c", "advice.addEmbeddedRepo=false", "add", "nested"]);
        git(&files, &["commit", "-qm", "nested"]);
        it.look().unwrap();
    });
}

#[test]
fn a_checkout_that_was_deleted_is_made_again() {
    let house = House::new();
    let (workspace, look) = workspace(&house);
    let files = workspace.place().checkout();
    fs::remove_dir_all(&files).unwrap();
    let Opened::CheckoutGone(workspace) = open(workspace.place()).unwrap() else { panic!() };
    let refused = materia_workspace::create(workspace.place(), &house.base(), false).unwrap_err();
    assert!(refused.to_string().contains("were deleted"), "{refused}");
    workspace.make_checkout(&look).unwrap();
    assert_eq!(workspace.look().unwrap(), look);
    assert_eq!(fs::read_to_string(files.join("new.txt")).unwrap(), "new\n");
    assert_eq!(git(&files, &["branch", "--show-current"]), "materia/one");
    assert!(matches!(open(workspace.place()).unwrap(), Opened::Here(_)));
    fs::remove_dir_all(workspace.place().repository()).unwrap();
    assert!(matches!(open(workspace.place()).unwrap(), Opened::Gone));
}
