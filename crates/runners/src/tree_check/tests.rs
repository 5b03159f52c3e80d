use std::cell::Cell;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

/// A project with two files, a doc root and an artifact root.
fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["src/deep", "docs", ".materia/run", ".git/objects", ".git/refs", "target"] {
        fs::create_dir_all(dir.path().join(folder)).unwrap();
    }
    for file in ["src/a.rs", "src/deep/b.rs", ".git/HEAD", ".git/index", "target/CACHEDIR.TAG"] {
        fs::write(dir.path().join(file), "one").unwrap();
    }
    dir
}

fn before(dir: &tempfile::TempDir) -> TreeCheck {
    TreeCheck::before(dir.path(), Path::new("docs"), &[PathBuf::from(".materia")])
}

/// Changes that the check reports after `act`.
fn after(act: impl FnOnce(&Path)) -> Vec<String> {
    let dir = project();
    let check = before(&dir);
    assert_eq!(check.changed(), [] as [PathBuf; 0]);
    act(dir.path());
    check.changed().iter().map(|path| path.display().to_string()).collect()
}

#[test]
fn whatever_changes_is_named() {
    assert_eq!(after(|at| fs::write(at.join("src/a.rs"), "two").unwrap()), ["src/a.rs"]);
    assert_eq!(after(|at| fs::write(at.join("new"), "").unwrap()), ["new"]);
    assert_eq!(after(|at| fs::create_dir_all(at.join("x/y")).unwrap()), ["x"]);
    assert_eq!(after(|at| fs::remove_dir_all(at.join("src/deep")).unwrap()), ["src/deep"]);
    assert_eq!(after(|at| fs::write(at.join(".git/HEAD"), "x").unwrap()), [".git/HEAD"]);
    let renamed = after(|at| fs::rename(at.join("src/a.rs"), at.join("src/z.rs")).unwrap());
    assert_eq!(renamed, ["src/a.rs", "src/z.rs"]);
    let replaced = after(|at| {
        fs::remove_file(at.join("src/a.rs")).unwrap();
        symlink("deep/b.rs", at.join("src/a.rs")).unwrap();
    });
    assert_eq!(replaced, ["src/a.rs"]);
    let configured = after(|at| fs::write(at.join(".materia/materia.json"), "{}").unwrap());
    assert_eq!(configured, [".materia/materia.json"]);
}

#[test]
fn what_the_sandbox_has_no_handle_for_is_named() {
    let mode = |at: &Path, mode| fs::set_permissions(at, fs::Permissions::from_mode(mode)).unwrap();
    assert_eq!(after(|at| mode(&at.join("src/a.rs"), 0o600)), ["src/a.rs"]);
    assert_eq!(after(|at| mode(&at.join("src/deep"), 0o700)), ["src/deep"]);
    let touched = after(|at| {
        let file = fs::File::options().write(true).open(at.join("src/a.rs")).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
    });
    assert_eq!(touched, ["src/a.rs"]);
    // Written and then given back its old time: the inode's own time tells.
    let disguised = after(|at| {
        let path = at.join("src/a.rs");
        let then = fs::metadata(&path).unwrap().modified().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(&path, "two").unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
    });
    assert_eq!(disguised, ["src/a.rs"]);
}

#[test]
fn what_a_turn_or_somebody_else_may_change_is_not() {
    let quiet = after(|at| {
        for file in [
            "docs/a.md",
            "docs/materia.json",
            ".materia/run/log",
            ".materia/journal.db",
            ".git/index",
            ".git/objects/x",
            ".git/config.lock",
            "target/out",
        ] {
            fs::write(at.join(file), "x").unwrap();
        }
        let _ = fs::read(at.join("src/a.rs")).unwrap();
    });
    assert_eq!(quiet, [] as [&str; 0]);
    // A doc root that is not there before the first turn.
    let dir = tempfile::tempdir().unwrap();
    let check = before(&dir);
    fs::create_dir(dir.path().join("docs")).unwrap();
    assert_eq!(check.changed(), [] as [PathBuf; 0]);
}

#[test]
fn a_project_inside_an_ignored_folder_is_looked_at_all_the_same() {
    let dir = project();
    let check = TreeCheck::before(dir.path(), Path::new("docs"), &[PathBuf::from(".")]);
    fs::write(dir.path().join("src/a.rs"), "two").unwrap();
    assert_eq!(check.changed(), [PathBuf::from("src/a.rs")]);
}

#[test]
fn the_message_names_a_few_paths_and_what_was_not_looked_at() {
    let dir = project();
    for count in 0..50 {
        fs::write(dir.path().join(format!("src/deep/{count}")), "").unwrap();
    }
    let check = TreeCheck::bounded(dir.path(), Path::new("docs"), &[], 30);
    assert_eq!(check.left_out, [PathBuf::from("src/deep")]);
    fs::remove_file(dir.path().join("src/deep/7")).unwrap();
    assert_eq!(check.complaint("docs"), None);
    for count in 0..7 {
        fs::write(dir.path().join(format!("new{count}")), "").unwrap();
    }
    assert_eq!(
        check.complaint("docs").unwrap(),
        "Planning mode allows writing in `docs` only, and outside it changed meanwhile: `new0`, \
         `new1`, `new2`, `new3`, `new4` and 2 more; the project has more than 100000 files; not \
         looked at: `src/deep`"
    );
    // Thousands of new names are one message too.
    for count in 0..2 * CHANGES_MAX {
        fs::write(dir.path().join(format!("n{count}")), "").unwrap();
    }
    assert!(check.complaint("docs").unwrap().contains("the project's own folder"));
}

thread_local! {
    static LOOKS: Cell<usize> = const { Cell::new(0) };
}

/// Counts how often `stat` is asked.
pub(super) fn looked() {
    LOOKS.set(LOOKS.get() + 1);
}

/// How often `stat` is asked meanwhile.
fn looks<T>(act: impl FnOnce() -> T) -> (usize, T) {
    LOOKS.set(0);
    let result = act();
    (LOOKS.get(), result)
}

#[test]
fn each_file_is_looked_at_once_before_and_once_after() {
    let dir = tempfile::tempdir().unwrap();
    for folder in 0..20 {
        let folder = dir.path().join(format!("f{folder}/deep"));
        fs::create_dir_all(&folder).unwrap();
        for file in 0..50 {
            fs::write(folder.join(format!("{file}")), "").unwrap();
        }
    }
    // What need not be looked at costs nothing, however much it is.
    for folder in ["docs", ".materia", ".git/objects", "target"] {
        let folder = dir.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        for file in 0..100 {
            fs::write(folder.join(format!("{file}")), "").unwrap();
        }
    }
    fs::write(dir.path().join("target/CACHEDIR.TAG"), "").unwrap();
    // Twenty folders with a folder with fifty files in each, and the four others.
    let counted = 20 * (1 + 1 + 50) + 4;
    let (before_turn, check) = looks(|| before(&dir));
    assert_eq!(before_turn, counted + 101, "a cache shows what it is when it is read");
    let (after_turn, changed) = looks(|| check.changed());
    assert_eq!((after_turn, changed.len()), (counted, 0));
}
