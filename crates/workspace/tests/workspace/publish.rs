use std::fs;

use materia_workspace::{
    DiffOptions, ForkRefusal, Identity, Look, Opened, Project, Publish, PublishRefusal, Source,
    Workspace, casts_in, drop_cast, fork, list, merged, open, published, status,
};

use crate::common::{House, fsck, git, snapshot_of_git, write};

pub(crate) fn request(look: &Look, looks: &[&Look]) -> Publish {
    Publish {
        look: look.clone(),
        looks: looks.iter().map(|it| (*it).clone()).collect(),
        date: "2024-05-06T07:08:09.123Z".to_owned(),
        message: "What the cast left".to_owned(),
        identity: Identity { name: "Ada".to_owned(), email: "ada@example.org".to_owned() },
    }
}

/// Publishes a cast that changed `path`.
pub(crate) fn publish_change(house: &House, id: &str, path: &str, text: &str) -> (Workspace, Look) {
    let (workspace, first) = house.make(id);
    write(&workspace.place().checkout().join(path), text);
    let look = workspace.look().unwrap();
    workspace.publish(&request(&look, &[&first])).unwrap();
    (workspace, look)
}

#[test]
fn the_branch_has_commits_and_what_is_not_committed() {
    let house = House::new();
    let (workspace, first) = house.make("one");
    let files = workspace.place().checkout();
    write(&files.join("a.txt"), "committed\n");
    git(&files, &["commit", "-qam", "by the agent"]);
    let second = workspace.look().unwrap();
    write(&files.join("b/new.txt"), "new\n");
    let third = workspace.look().unwrap();
    let before = snapshot_of_git(&house.project().join(".git"));
    let request = request(&third, &[&first, &second]);
    let done = workspace.publish(&request).unwrap();
    assert_eq!(done.branch, "materia/one");
    assert_eq!(snapshot_of_git(&house.project().join(".git")), before);
    assert_eq!(house.git(["rev-parse", "materia/one"]), done.commit);
    assert_eq!(house.git(["rev-parse", "materia/one^"]), second.head);
    assert_eq!(house.git(["rev-parse", "materia/one^{tree}"]), third.tree);
    let shown = house.git(["log", "-1", "--format=%an %ae %cI%n%B", "materia/one"]);
    assert_eq!(
        shown.trim(),
        "Ada ada@example.org 2024-05-06T07:08:09Z\nWhat the cast left\n\nMateria-Cast: one"
    );
    for id in [&first.tree, &second.tree, &second.head, &third.tree, &third.refs] {
        house.git(["cat-file", "-e", id]);
        house.git(["rev-parse", "--verify", &format!("refs/materia/one/{id}")]);
    }
    // Again, and after a crash before the refs were written.
    assert_eq!(workspace.publish(&request).unwrap(), done);
    house.git(["update-ref", "-d", "refs/heads/materia/one"]);
    assert_eq!(workspace.publish(&request).unwrap(), done);
    assert_eq!(workspace.must_stay().unwrap(), None);
    let diff = workspace.diff(&first.tree, &third.tree, DiffOptions::default()).unwrap();
    workspace.remove().unwrap();
    house.git(["gc", "-q", "--prune=now"]);
    fsck(&house.project());
    let project = Project::open(&house.project()).unwrap();
    assert_eq!(project.diff(&first.tree, &third.tree, DiffOptions::default()).unwrap(), diff);
    assert_eq!(diff.files.len(), 2);
    assert_eq!(
        (diff.files[0].path.as_str(), diff.files[0].added, diff.files[0].removed),
        ("a.txt", Some(1), Some(1))
    );
    assert!(diff.text.contains("+committed") && !diff.cut, "{}", diff.text);
    let options = DiffOptions { text_bytes_max: 100, ..DiffOptions::default() };
    let short = project.diff(&first.tree, &third.tree, options).unwrap();
    assert!(short.cut && short.text.len() <= 100 && short.text.ends_with('\n'));
    let known = status(&house.place("one")).unwrap();
    assert_eq!((known.commits.len(), known.files.len()), (2, 2));
    assert_eq!(known.published.as_deref(), Some(done.commit.as_str()));
}

#[test]
fn a_cast_that_changed_nothing_has_the_base() {
    let house = House::new();
    let (workspace, look) = house.make("one");
    let done = workspace.publish(&request(&look, &[])).unwrap();
    assert_eq!(done.commit, house.git(["rev-parse", "HEAD"]));
    let project = Project::open(&house.project()).unwrap();
    assert!(merged(&project, "one").unwrap());
}

#[test]
fn a_foreign_branch_is_never_overwritten() {
    let house = House::new();
    let (workspace, _) = house.make("one");
    write(&workspace.place().checkout().join("a.txt"), "new\n");
    let look = workspace.look().unwrap();
    house.git(["branch", "materia/one"]);
    let before = snapshot_of_git(&house.project().join(".git"));
    let refused = workspace.publish(&request(&look, &[])).unwrap_err();
    assert!(matches!(refused, PublishRefusal::BranchExists { .. }), "{refused}");
    assert_eq!(house.git(["rev-parse", "materia/one"]), house.git(["rev-parse", "HEAD"]));
    assert_eq!(snapshot_of_git(&house.project().join(".git")), before);
    house.git(["branch", "-D", "materia/one"]);
    house.git(["branch", "materia"]);
    let refused = workspace.publish(&request(&look, &[])).unwrap_err();
    assert!(matches!(refused, PublishRefusal::BranchInTheWay { .. }), "{refused}");
    house.git(["branch", "-m", "materia", "mine"]);
    workspace.publish(&request(&look, &[])).unwrap();
}

#[test]
fn without_the_base_nothing_is_published() {
    let house = House::new();
    let (workspace, _) = house.make("one");
    let files = workspace.place().checkout();
    git(&files, &["checkout", "-q", "--orphan", "other"]);
    let look = workspace.look().unwrap();
    assert!(matches!(
        workspace.publish(&request(&look, &[])).unwrap_err(),
        PublishRefusal::BaseLost { .. }
    ));
    git(&files, &["commit", "-qm", "other"]);
    let look = workspace.look().unwrap();
    assert!(!workspace.has_base_as_ancestor(&look).unwrap());
    assert!(matches!(
        workspace.publish(&request(&look, &[])).unwrap_err(),
        PublishRefusal::BaseLost { .. }
    ));
    assert!(published(&Project::open(&house.project()).unwrap(), "one").unwrap().is_none());
}

#[test]
fn a_fork_has_the_files_of_an_earlier_look() {
    let house = House::new();
    let base = house.base();
    let (workspace, first) = house.make("one");
    let files = workspace.place().checkout();
    git(&files, &["checkout", "-q", "-b", "side"]);
    write(&files.join("a.txt"), "side\n");
    git(&files, &["commit", "-qam", "side"]);
    write(&files.join("open.txt"), "open\n");
    let second = workspace.look().unwrap();
    git(&files, &["checkout", "-q", "-f", "materia/one"]);
    write(&files.join("a.txt"), "later\n");
    git(&files, &["commit", "-qam", "later"]);
    let third = workspace.look().unwrap();
    let check = |from: &Source, id: &str| {
        let place = house.place(id);
        let (forked, look) = fork(from, &second, &place, &base).unwrap();
        assert_eq!((&look.tree, &look.head), (&second.tree, &second.head));
        let files = place.checkout();
        assert_eq!(git(&files, &["branch", "--show-current"]), "side");
        assert_eq!(git(&files, &["status", "--porcelain"]), "?? open.txt");
        assert_eq!(fork(from, &second, &place, &base).unwrap().1, look);
        assert_eq!(house.git(["rev-parse", &format!("refs/materia/{id}/base")]), base.commit);
        fsck(&files);
        (forked, look)
    };
    let (early, look) =
        fork(&Source::Workspace(house.place("one")), &first, &house.place("early"), &base).unwrap();
    assert_eq!((&look.tree, &look.head), (&first.tree, &first.head));
    assert_eq!(git(&early.place().checkout(), &["branch", "--show-current"]), "materia/early");
    let refs = git(
        &early.place().checkout(),
        &["for-each-ref", "--format=%(refname:short)", "refs/heads"],
    );
    assert_eq!(refs, "main\nmateria/early");

    let (two, look) = check(&Source::Workspace(house.place("one")), "two");
    workspace.publish(&request(&third, &[&first, &second])).unwrap();
    workspace.remove().unwrap();
    check(&Source::Published("one".to_owned()), "three");
    // The fork stands on its own.
    drop_cast(&Project::open(&house.project()).unwrap(), &house.place("one")).unwrap();
    house.git(["reflog", "expire", "--expire=now", "--all"]);
    house.git(["gc", "-q", "--prune=now"]);
    write(&two.place().checkout().join("a.txt"), "fork\n");
    two.put_back(&look).unwrap();
    assert_eq!(two.look().unwrap(), look);
    two.publish(&request(&look, &[])).unwrap();
    fsck(&two.place().checkout());
    fsck(&house.project());
    let gone = fork(&Source::Published("one".to_owned()), &third, &house.place("four"), &base)
        .unwrap_err();
    assert!(matches!(gone, ForkRefusal::Gone { .. }), "{gone}");
    let gone = fork(&Source::Workspace(house.place("one")), &third, &house.place("four"), &base)
        .unwrap_err();
    assert!(matches!(gone, ForkRefusal::Gone { .. }), "{gone}");
}

#[test]
fn dropping_leaves_nothing() {
    let house = House::new();
    let before = snapshot_of_git(&house.project().join(".git"));
    let (workspace, _) = publish_change(&house, "one", "a.txt", "new\n");
    house.make("two");
    let all = list(&house.state()).unwrap();
    assert_eq!(all.iter().map(|it| it.place.cast_id.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    assert!(all.iter().all(|it| it.bytes > 10_000 && it.place.project_dir == house.project()));
    house.git(["checkout", "-q", "materia/one"]);
    let project = Project::open(&house.project()).unwrap();
    assert!(
        drop_cast(&project, workspace.place()).unwrap_err().to_string().contains("checked out")
    );
    house.git(["checkout", "-q", "main"]);
    let project = Project::open(&house.project()).unwrap();
    assert_eq!(casts_in(&project).unwrap(), ["one", "two"]);
    for id in ["one", "two", "never"] {
        drop_cast(&project, &house.place(id)).unwrap();
    }
    assert_eq!(house.git(["for-each-ref", "--format=%(refname)"]), "refs/heads/main");
    assert!(list(&house.state()).unwrap().is_empty());
    assert!(matches!(open(&house.place("one")).unwrap(), Opened::Gone));
    let mut after = snapshot_of_git(&house.project().join(".git"));
    // What the checkouts of this test wrote.
    let mut before = before;
    for all in [&mut after, &mut before] {
        all.retain(|path, _| !path.starts_with("logs") && path != std::path::Path::new("index"));
    }
    assert_eq!(after, before);
    assert!(!fs::exists(house.place("one").root()).unwrap());
}
