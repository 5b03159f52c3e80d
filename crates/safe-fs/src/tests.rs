use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use crate::hard_links::make_own_within;
use crate::temporary::sweep_in;
use crate::{Folder, Temporary, make_own, resolve};

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn without_openat2_it_is_the_same() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("a/b")).unwrap();
    symlink("b", dir.path().join("a/link")).unwrap();
    fs::write(dir.path().join("a/b/file"), "x").unwrap();
    let top = Folder::at(dir.path()).unwrap();
    let at = rustix::fs::open(dir.path(), OFlags::DIRECTORY, Mode::empty()).unwrap();
    let walk = |path: &str| {
        let parts = resolve::parts(Path::new(path)).unwrap();
        let how = OFlags::RDONLY | OFlags::NOFOLLOW;
        resolve::step_by_step(&at, &parts, how, Mode::empty()).is_ok()
    };
    for (path, there) in [("a/b/file", true), ("a/link/file", false), ("a/link", false)] {
        assert_eq!(walk(path), there, "{path}");
        assert_eq!(top.open(path).is_ok(), there, "{path}");
    }
}

#[test]
fn a_temporary_folder_goes_with_its_owner_or_is_swept_later() {
    let dir = tempfile::tempdir().unwrap();
    let held = Temporary::within(dir.path(), "test").unwrap();
    held.folder().write("file", b"x").unwrap();
    assert_eq!(mode(held.path()), 0o700);
    assert_eq!(sweep_in(dir.path()), 0, "somebody holds it");

    // A copy without the lock is what a killed process leaves.
    let left = dir.path().join("materia-test-left");
    fs::create_dir(&left).unwrap();
    fs::set_permissions(&left, fs::Permissions::from_mode(0o700)).unwrap();
    fs::copy(held.path().join(".materia-temporary"), left.join(".materia-temporary")).unwrap();
    // Others that only look like it.
    fs::create_dir(dir.path().join("materia-test-12345")).unwrap();
    symlink(&left, dir.path().join("materia-test-link")).unwrap();
    let other = dir.path().join("materia-test-other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join(".materia-temporary"), "something else").unwrap();
    // One that was just made: its owner has not locked it yet, and has said nothing.
    let new = dir.path().join("materia-test-new");
    fs::create_dir(&new).unwrap();
    fs::set_permissions(&new, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(new.join(".materia-temporary"), "").unwrap();
    assert_eq!(sweep_in(dir.path()), 1, "whatever its age");
    assert!(new.exists());
    assert!(!left.exists() && held.path().exists() && other.exists());
    let path = held.path().to_owned();
    drop(held);
    assert!(!path.exists());
    assert!(dir.path().join("materia-test-12345").exists());
}

#[test]
fn a_file_with_a_name_elsewhere_becomes_a_file_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir_all(at("docs/deep")).unwrap();
    fs::create_dir(at("other")).unwrap();
    fs::write(at("precious"), "precious").unwrap();
    fs::set_permissions(at("precious"), fs::Permissions::from_mode(0o754)).unwrap();
    fs::hard_link(at("precious"), at("docs/deep/x")).unwrap();
    fs::hard_link(at("precious"), at("docs/y")).unwrap();
    // Both names are inside, so writing one changes no file outside.
    fs::write(at("docs/a"), "a").unwrap();
    fs::hard_link(at("docs/a"), at("other/a")).unwrap();
    symlink(at("precious"), at("docs/link")).unwrap();
    let before = at("precious").metadata().unwrap();
    let roots = [at("docs"), at("docs/deep"), at("other"), at("missing")];
    assert_eq!(make_own(&roots).unwrap(), [at("docs/deep/x"), at("docs/y")]);
    for name in ["docs/deep/x", "docs/y"] {
        let found = at(name).metadata().unwrap();
        assert_eq!((found.nlink(), mode(&at(name))), (1, 0o754));
        assert_eq!(found.modified().unwrap(), before.modified().unwrap());
        fs::write(at(name), "changed").unwrap();
    }
    assert_eq!(fs::read_to_string(at("precious")).unwrap(), "precious");
    assert_eq!(at("docs/a").metadata().unwrap().nlink(), 2);
    assert!(make_own(&roots).unwrap().is_empty(), "there is nothing left to do");

    // A root that is a file, and bounds.
    fs::hard_link(at("precious"), at("single")).unwrap();
    assert!(make_own_within(&[at("single")], 10, 7).is_err(), "more bytes than may be copied");
    assert_eq!(at("single").metadata().unwrap().nlink(), 2, "and nothing is half done");
    assert!(make_own_within(&[at("docs")], 3, 100).is_err(), "more files than are looked at");
    assert_eq!(make_own(&[at("single")]).unwrap(), [at("single")]);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4, "no copy is left behind");
}
