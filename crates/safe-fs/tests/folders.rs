//! Files beneath a folder while other programs change it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use materia_safe_fs::{Anchor, Folder, Typed};
use rustix::fs::Mode;

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn what_is_made_is_for_its_owner_alone() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::at(dir.path()).unwrap();
    folder.write("a/b/c.txt", b"words").unwrap();
    assert_eq!(fs::read(dir.path().join("a/b/c.txt")).unwrap(), b"words");
    assert_eq!(mode(&dir.path().join("a")), 0o700);
    assert_eq!(mode(&dir.path().join("a/b/c.txt")), 0o600);
    folder.replace("a/b/c.txt", b"other").unwrap();
    folder.append("a/b/c.txt").unwrap();
    assert_eq!(folder.read("a/b/c.txt", 5).unwrap(), b"other");
    assert!(folder.read("a/b/c.txt", 4).is_err(), "more than was asked for");
    assert_eq!(folder.folder("a/b").unwrap().names().unwrap(), [OsStr::new("c.txt")]);
}

#[test]
fn no_link_is_followed_wherever_it_stands() {
    let dir = tempfile::tempdir().unwrap();
    let (inside, outside) = (dir.path().join("in"), dir.path().join("out"));
    fs::create_dir(&inside).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "precious").unwrap();
    symlink(&outside, inside.join("away")).unwrap();
    symlink("../out", inside.join("near")).unwrap();
    symlink(outside.join("file"), inside.join("file")).unwrap();
    let folder = Folder::at(&inside).unwrap();
    for path in ["away/file", "near/file", "near/new", "away/deep/new", "../out/file"] {
        assert!(folder.write(path, b"x").is_err(), "{path}");
        assert!(folder.replace(path, b"x").is_err(), "{path}");
        assert!(folder.append(path).is_err(), "{path}");
        assert!(folder.open(path).is_err(), "{path}");
        assert!(folder.remove_file(path).is_err(), "{path}");
        assert!(folder.remove_all(path).is_err(), "{path}");
        assert!(folder.make_folder(path).is_err(), "{path}");
        assert!(folder.rename("file", path).is_err(), "{path}");
        assert!(!folder.has(path), "{path}");
    }
    assert!(folder.append("file").is_err());
    assert!(folder.open("file").is_err());
    assert!(folder.open(outside.join("file")).is_err(), "no absolute path");
    // A link that has the name of a file of ours gives way to it.
    folder.write("file", b"ours").unwrap();
    folder.replace("away", b"ours").unwrap();
    assert_eq!(folder.read("file", 10).unwrap(), b"ours");
    assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "precious");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}

#[test]
fn a_second_name_a_pipe_and_a_folder_in_a_files_place() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("precious"), "precious").unwrap();
    fs::create_dir(dir.path().join("in")).unwrap();
    fs::hard_link(dir.path().join("precious"), dir.path().join("in/name")).unwrap();
    let folder = Folder::at(&dir.path().join("in")).unwrap();
    assert!(folder.append("name").is_err());
    folder.write("name", b"ours").unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("precious")).unwrap(), "precious");

    let pipe = dir.path().join("in/pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
    assert!(folder.append("pipe").is_err(), "and nobody waits for its other end");
    assert!(folder.open("pipe").is_err());
    folder.write("pipe", b"a file").unwrap();
    assert!(folder.has_file("pipe"));
    folder.make_folder("sub").unwrap();
    assert!(folder.write("sub", b"x").is_err());
}

#[test]
fn what_is_read_replaces_a_file_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::at(dir.path()).unwrap();
    folder.replace_from("a/file", &b"words"[..], 5).unwrap();
    assert!(folder.replace_from("a/file", &b"longer"[..], 5).is_err());
    assert_eq!(folder.read("a/file", 10).unwrap(), b"words");
    assert_eq!(folder.folder("a").unwrap().names().unwrap(), [OsStr::new("file")]);
    fs::write(dir.path().join("precious"), "precious").unwrap();
    folder.link("link", &dir.path().join("precious")).unwrap();
    assert!(folder.link("link", Path::new("elsewhere")).is_err(), "the name is taken");
    assert!(folder.read("link", 10).is_err(), "nobody follows it here");
    folder.replace_from("link", &b"ours"[..], 10).unwrap();
    assert_eq!(fs::read(dir.path().join("precious")).unwrap(), b"precious");
}

#[test]
fn a_folder_stays_the_one_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let (cast, evil) = (dir.path().join("cast"), dir.path().join("evil"));
    fs::create_dir(&cast).unwrap();
    fs::create_dir(&evil).unwrap();
    let folder = Folder::at(&cast).unwrap();
    fs::rename(&cast, dir.path().join("moved")).unwrap();
    symlink(&evil, &cast).unwrap();
    folder.write("sockets/a/1-1.stdout", b"x").unwrap();
    assert!(dir.path().join("moved/sockets/a/1-1.stdout").is_file());
    assert_eq!(fs::read_dir(&evil).unwrap().count(), 0);
}

#[test]
fn an_anchor_notices_that_it_was_moved_and_may_be_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    fs::create_dir(&root).unwrap();
    let anchor = Anchor::of(&root);
    anchor.folder().unwrap().write("a", b"x").unwrap();
    fs::rename(&root, dir.path().join("moved")).unwrap();
    assert!(anchor.folder().is_err() && anchor.make().is_err());
    fs::create_dir(dir.path().join("other")).unwrap();
    symlink(dir.path().join("other"), &root).unwrap();
    assert!(anchor.make().unwrap_err().to_string().contains("put another in its place"));
    fs::remove_file(&root).unwrap();
    fs::remove_dir_all(dir.path().join("moved")).unwrap();
    assert_eq!(anchor.folder().unwrap_err().kind(), std::io::ErrorKind::NotFound);
    symlink(dir.path().join("other"), &root).unwrap();
    assert!(anchor.make().is_err(), "a link in its place");
    fs::remove_file(&root).unwrap();
    anchor.make().unwrap().write("b", b"x").unwrap();
    assert!(root.join("b").is_file());
}

#[test]
fn a_tree_goes_however_deep_and_locked_it_is_and_links_in_it_lead_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("precious")).unwrap();
    fs::write(dir.path().join("precious/file"), "x").unwrap();
    let folder = Folder::at(dir.path()).unwrap();
    let mut at = folder.make_folder("tree").unwrap();
    for _ in 0..3_000 {
        at = at.make_folder("d").unwrap();
    }
    at.write("file", b"x").unwrap();
    symlink(dir.path().join("precious"), dir.path().join("tree/link")).unwrap();
    fs::create_dir_all(dir.path().join("tree/locked/inner")).unwrap();
    let locked = fs::Permissions::from_mode(0o000);
    fs::set_permissions(dir.path().join("tree/locked"), locked).unwrap();
    folder.remove_all("tree").unwrap();
    assert_eq!(folder.names().unwrap(), [OsStr::new("precious")]);
    assert!(dir.path().join("precious/file").is_file());
    folder.remove_all("missing").unwrap();
}

#[test]
fn a_typed_path_follows_links_of_the_person_and_none_of_the_project() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().canonicalize().unwrap();
    let project = home.join("project");
    for folder in ["project/.git", "project/sub", "precious", "mine"] {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    symlink(home.join("precious"), project.join("out")).unwrap();
    symlink("../precious/key", project.join("file")).unwrap();
    symlink(home.join("nowhere"), project.join("dangling")).unwrap();
    symlink("mine", home.join("own")).unwrap();
    symlink("project/out", home.join("detour")).unwrap();
    symlink("own/deeper", home.join("chain")).unwrap();
    for bad in [
        "project/out/x",
        "project/out",
        "project/file",
        "project/dangling",
        "project/sub/../out/x",
        "project/out/../x",
        "mine/../project/out/x",
        "detour/x",
    ] {
        // From the repository's root, and from a folder in it.
        for at in [&project, &project.join("sub")] {
            let refused = Typed::find(&home.join(bad), at).unwrap_err().to_string();
            assert!(refused.contains("symbolic link inside the project"), "{bad}: {refused}");
        }
    }
    for (typed, real) in [
        ("project/new/deep/x", "project/new/deep/x"),
        ("project/sub/../x", "project/x"),
        ("own/x", "mine/x"),
        ("chain", "mine/deeper"),
        ("project/../own/y", "mine/y"),
    ] {
        let found = Typed::find(&home.join(typed), &project).unwrap();
        found.write(b"one", false).unwrap();
        assert!(found.write(b"two", false).is_err(), "{typed} is there");
        fs::set_permissions(home.join(real), fs::Permissions::from_mode(0o640)).unwrap();
        found.write(b"two", true).unwrap();
        assert_eq!(fs::read_to_string(home.join(real)).unwrap(), "two");
        assert_eq!(mode(&home.join(real)), 0o640, "it keeps its mode");
    }
    assert_eq!(fs::read_dir(home.join("precious")).unwrap().count(), 0);
    assert!(!home.join("nowhere").exists());
    let folder = Typed::find(&project.join("new/folder"), &project).unwrap();
    folder.make_folder().unwrap().write("x", b"").unwrap();
    assert!(project.join("new/folder/x").is_file());
    assert!(Typed::find(&project.join("sub"), &project).unwrap().write(b"", true).is_err());
    assert!(Typed::find(Path::new("/dev/null"), &project).unwrap().write(b"", true).is_err());
}
