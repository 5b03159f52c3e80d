//! A journal outlives what is done to it while a cast runs, and is its owner's alone.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use crate::bench::{Bench, absent, finish, utilities};

/// Casts `c1` of three utilities, of which the second does something to the journal.
fn with_turn(harm: &str) -> Bench {
    Bench::with(&utilities(&[("a", "print('a')"), ("b", harm), ("c", "print('c')")]))
}

fn cast(bench: &Bench) -> crate::bench::Ran {
    bench.run(&["cast", "--trust", "--cast-id", "c1", "go"])
}

#[test]
fn a_turn_that_removes_the_journal_loses_nothing() {
    for harm in [
        "import shutil; shutil.rmtree('.materia')",
        "import os; os.remove('.materia/journal.db')",
        "import os; os.remove('.materia/journal.db-wal')",
        "import os; os.remove('.materia/journal.db-wal'); os.remove('.materia/journal.db-shm')",
        "import os, shutil; shutil.rmtree('elsewhere', True); os.rename('.materia', 'elsewhere')",
    ] {
        let bench = with_turn(harm);
        let ran = cast(&bench).exits(0);
        assert!(ran.err.contains("the journal was removed while the cast ran"), "{harm}: {ran:?}");
        let shown = bench.run(&["show", "c1", "--json"]).exits(0).json();
        assert_eq!(shown["status"], "completed", "{harm}");
        assert_eq!(shown["visits"].as_array().unwrap().len(), 3, "{harm}");
        bench.run(&["replay", "c1"]).exits(0);
        assert_eq!(
            bench.read(".materia/c1/events.jsonl").lines().count() as u64,
            shown["lastSeq"].as_u64().unwrap()
        );
        // It is still the user's own.
        bench.run(&["cast", "--trust", "--cast-id", "c2", "go"]).exits(0);
    }
}

#[test]
fn a_turn_that_puts_something_else_in_its_place_stops_the_cast() {
    for harm in [
        "import os; open('x', 'w').write('x'); os.replace('x', '.materia/journal.db')",
        "import os; os.remove('.materia/journal.db'); os.symlink('/etc/passwd', '.materia/journal.db')",
        "import os; os.remove('.materia/journal.db'); os.mkdir('.materia/journal.db')",
    ] {
        let bench = with_turn(harm);
        let ran = cast(&bench).exits(1);
        assert!(ran.err.contains("something else has taken the place of"), "{harm}: {ran:?}");
        let saved = fs::read_dir(bench.state().join("rescued")).unwrap().flatten().next().unwrap();
        assert!(ran.err.contains(saved.path().to_str().unwrap()), "{harm}: {ran:?}");
        let saved = rusqlite::Connection::open(saved.path()).unwrap();
        let kept: i64 =
            saved.query_row("SELECT count(*) FROM decisions", [], |row| row.get(0)).unwrap();
        assert!(kept > 1, "{harm}");
    }
}

#[test]
fn whatever_is_removed_in_the_folder_of_a_cast_nobody_else_can_drive_it() {
    let wait = "import os, time\nopen('begun', 'w').close()\nwhile not os.path.exists('go'): time.sleep(0.01)";
    let bench = Bench::with(&utilities(&[("a", wait)]));
    let child = bench.start(&["cast", "--trust", "--cast-id", "c1", "go"]);
    bench.wait_for("begun");
    assert!(absent(&bench.project().join(".materia/c1/lock")), "no lock lies there");
    let _ = fs::remove_dir_all(bench.project().join(".materia/c1"));
    // Who resumes it lets it go on there (D59); nobody else drives it.
    let told = bench.run(&["resume", "c1", "--trust"]).exits(0);
    assert!(told.err.contains("is running and took the command"), "{told:?}");
    for args in [&["recast", "c1", "--trust"][..], &["revive", "c1", "--trust"]] {
        let ran = bench.run(args).exits(2);
        assert!(ran.err.contains("is being run by another process"), "{ran:?}");
    }
    bench.write("go", "");
    assert_eq!(finish(child).exit, 0);
    bench.run(&["replay", "c1"]).exits(0);
    let locks = bench.state().join("locks");
    let of_journals: Vec<_> = fs::read_dir(locks).unwrap().flatten().collect();
    assert_eq!(of_journals.len(), 1);
    assert_eq!(
        fs::read_dir(of_journals[0].path()).unwrap().count(),
        0,
        "a lock goes with its holder"
    );
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn what_is_kept_is_for_its_owner_alone() {
    let wait = "import os, time\nopen('begun', 'w').close()\nwhile not os.path.exists('go'): time.sleep(0.01)";
    let bench = Bench::with(&utilities(&[("a", wait)]));
    let child = bench.start(&["cast", "--trust", "--cast-id", "c1", "go"]);
    bench.wait_for("begun");
    let root = bench.project().join(".materia");
    for name in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        assert_eq!(mode(&root.join(name)), 0o600, "{name}");
    }
    bench.write("go", "");
    assert_eq!(finish(child).exit, 0);
    for folder in ["", "c1", "c1/sockets", "c1/sockets/a"] {
        assert_eq!(mode(&root.join(folder)), 0o700, "{folder}");
    }
    for file in [
        "c1/events.jsonl",
        "c1/manifest.json",
        "c1/sockets/a/1-1.input.json",
        "c1/sockets/a/1-1.meta.json",
    ] {
        assert_eq!(mode(&root.join(file)), 0o600, "{file}");
    }
    let mut left = vec![bench.state()];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            assert_eq!(mode(&path), 0o700, "{}", path.display());
            left.extend(fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path()));
        } else {
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
    }
    // One that an earlier version made for all is closed when it is written to.
    fs::set_permissions(root.join("journal.db"), fs::Permissions::from_mode(0o644)).unwrap();
    bench.run(&["cast", "--trust", "--cast-id", "c2", "go"]).exits(0);
    assert_eq!(mode(&root.join("journal.db")), 0o600);
}

#[test]
fn a_fork_that_is_refused_leaves_nothing_behind() {
    let bench = with_turn("print('b')").asking();
    cast(&bench).exits(0);
    let names = || {
        let mut names: Vec<_> = fs::read_dir(bench.project().join(".materia"))
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name().into_string().unwrap())
            .filter(|name| !name.starts_with("journal.db-"))
            .collect();
        names.sort();
        names
    };
    let before = names();
    fs::remove_dir_all(bench.profile()).unwrap();
    let ran = bench.run(&["fork", "c1", "--at", "4", "--cast-id", "f1"]).exits(2);
    assert!(ran.err.contains("--trust"), "{ran:?}");
    assert_eq!(bench.run(&["casts", "--json"]).exits(0).lines().len(), 1);
    assert_eq!(names(), before);
    bench.run(&["show", "f1"]).exits(2);
    bench.run(&["fork", "c1", "--at", "4", "--cast-id", "f1", "--trust"]).exits(0);
    bench.run(&["replay", "f1"]).exits(0);
}

#[test]
fn without_a_state_folder_nothing_begins_and_everything_can_be_looked_at() {
    let bench = with_turn("print('b')");
    cast(&bench).exits(0);
    let run = |args: &[&str]| -> crate::bench::Ran {
        let mut command = bench.command(args);
        command.env_remove("MATERIA_STATE_DIR").env_remove("XDG_STATE_HOME").env_remove("HOME");
        command.output().unwrap().into()
    };
    let ran = run(&["cast", "--trust", "--cast-id", "c2", "go"]).exits(2);
    assert!(ran.err.contains("MATERIA_STATE_DIR"), "{ran:?}");
    run(&["show", "c1"]).exits(0);
    run(&["replay", "c1"]).exits(0);
}

#[test]
fn a_project_on_another_disk_goes_on_when_its_owner_says_so() {
    let bench = with_turn("print('b')");
    bench.run(&["cast", "--trust", "--interactive", "--cast-id", "c1", "go"]).exits(3);
    let copy = bench.project().with_file_name("copy");
    assert!(
        std::process::Command::new("cp")
            .arg("-r")
            .arg(bench.project())
            .arg(&copy)
            .status()
            .unwrap()
            .success()
    );
    let run = |args: &[&str]| -> crate::bench::Ran {
        bench.command(args).current_dir(&copy).output().unwrap().into()
    };
    run(&["replay", "c1"]).exits(0);
    let refused = run(&["resume", "c1", "--trust", "--json"]).exits(2).json();
    assert_eq!(refused["error"]["code"], json!("trust"));
    run(&["resume", "c1", "--trust", "--trust-journal"]).exits(0);
    // Asked once: from then on it is the user's own.
    run(&["cast", "--trust", "--cast-id", "c2", "go"]).exits(0);
    // And the original is what it was.
    bench.run(&["resume", "c1"]).exits(0);
}

#[test]
fn a_journal_of_an_earlier_format_is_refused_by_name() {
    let bench = with_turn("print('b')");
    bench.run(&["cast", "--trust", "--interactive", "--cast-id", "c1", "go"]).exits(3);
    let path = bench.project().join(".materia/journal.db");
    let edit = rusqlite::Connection::open(&path).unwrap();
    edit.execute_batch("DROP TABLE past; PRAGMA user_version = 5").unwrap();
    drop(edit);
    for args in [&["show", "c1"][..], &["replay", "c1"], &["resume", "c1"], &["cast", "go"]] {
        let ran = bench.run(args);
        assert_ne!(ran.exit, 0, "{ran:?}");
        assert!(
            ran.err.contains("unreleased version of materia (format 5; this one reads 7)"),
            "{ran:?}"
        );
    }
}
