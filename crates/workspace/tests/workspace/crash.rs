//! The process is killed in the middle of an operation, which is then repeated.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use materia_workspace::{Look, Opened, Place, create, examine, open};

use crate::common::{House, fsck, git, write};
use crate::publish::request;

/// Does one operation in a process of its own and kills it after some milliseconds.
fn kill_after(milliseconds: u64, house: &House, operation: &str, look: Option<&Look>) {
    let ids = look.map(|it| format!("{} {} {}", it.tree, it.head, it.refs)).unwrap_or_default();
    let order =
        format!("{operation}\n{}\n{}\n{ids}", house.state().display(), house.project().display());
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child", "--ignored"])
        .env("ORDER", order)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(milliseconds));
    let _ = child.kill();
    child.wait().unwrap();
}

#[test]
#[ignore = "other tests start it"]
fn child() {
    let Some(order) = std::env::var_os("ORDER") else { return };
    let order = order.into_string().unwrap();
    let mut lines = order.lines();
    let operation = lines.next().unwrap();
    let (state_dir, project_dir) = (lines.next().unwrap().into(), lines.next().unwrap().into());
    let place = Place { state_dir, project_dir, cast_id: "one".to_owned() };
    if operation == "create" {
        let base = examine(&place.project_dir, &place.state_dir).unwrap();
        create(&place, &base, true).unwrap();
        return;
    }
    let mut ids = lines.next().unwrap().split(' ').map(str::to_owned);
    let mut next = || ids.next().unwrap();
    let look = Look { tree: next(), head: next(), refs: next() };
    let Opened::Here(workspace) = open(&place).unwrap() else { panic!() };
    match operation {
        "put back" => workspace.put_back(&look).unwrap(),
        "publish" => drop(workspace.publish(&request(&look, &[&look])).unwrap()),
        _ => panic!("{operation}"),
    }
}

/// Moments between the start of a process and the end of what it does.
fn moments() -> impl Iterator<Item = u64> {
    let step = if std::env::var_os("MATERIA_LONG").is_some() { 3 } else { 15 };
    (2..180).step_by(step)
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
}

#[test]
fn putting_back_is_repeated() {
    let house = House::new();
    let (workspace, _) = house.make("one");
    let files = workspace.place().checkout();
    git(&files, &["branch", "side"]);
    write(&files.join("a.txt"), "changed\n");
    git(&files, &["commit", "-qam", "more"]);
    write(&files.join("new.txt"), "new\n");
    let look = workspace.look().unwrap();
    git(&files, &["stash", "-q", "-u"]);
    git(&files, &["checkout", "-q", "side"]);
    git(&files, &["branch", "-q", "-D", "materia/one"]);
    for number in 0..200 {
        write(&files.join(format!("many/{number}.txt")), &format!("{number}\n"));
    }
    workspace.look().unwrap();
    let (root, saved) = (workspace.place().root(), house.dir.path().join("saved"));
    copy(&root, &saved);
    for moment in moments() {
        copy(&saved, &root);
        kill_after(moment, &house, "put back", Some(&look));
        let Opened::Here(again) = open(&house.place("one")).unwrap() else { panic!() };
        again.put_back(&look).unwrap();
        assert_eq!(again.look().unwrap(), look);
        assert_eq!(git(&files, &["branch", "--show-current"]), "materia/one");
        assert_eq!(git(&files, &["status", "--porcelain"]), "?? new.txt");
    }
    fsck(&files);
}

#[test]
fn making_is_repeated() {
    let house = House::new();
    house.write("new.txt", "new\n");
    let base = house.base();
    let mut first = None;
    for moment in moments() {
        kill_after(moment, &house, "create", None);
        let (workspace, look) = create(&house.place("one"), &base, true).unwrap();
        assert_eq!(first.get_or_insert(look.clone()), &look);
        assert_eq!(git(&workspace.place().checkout(), &["status", "--porcelain"]), "?? new.txt");
        fsck(&workspace.place().checkout());
        workspace.remove().unwrap();
    }
    fsck(&house.project());
}

#[test]
fn publishing_is_repeated() {
    let house = House::new();
    let (workspace, _) = house.make("one");
    for number in 0..150 {
        let path = workspace.place().checkout().join(format!("many/{number}.txt"));
        write(&path, &format!("{number}\n"));
    }
    let look = workspace.look().unwrap();
    let (dot_git, saved) = (house.project().join(".git"), house.dir.path().join("saved"));
    copy(&dot_git, &saved);
    let mut first = None;
    for moment in moments() {
        copy(&saved, &dot_git);
        kill_after(moment, &house, "publish", Some(&look));
        let done = workspace.publish(&request(&look, &[&look])).unwrap();
        assert_eq!(first.get_or_insert(done.commit.clone()), &done.commit);
        assert_eq!(house.git(["rev-parse", "materia/one"]), done.commit);
        fsck(&house.project());
    }
}
