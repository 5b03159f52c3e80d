//! Foreign journals: shipped with a repository, copied, forged.
//!
//! Whatever one contains, reading it runs nothing and writes nothing, and any command on it needs a person's approval.

use std::fs;
use std::os::unix::fs::symlink;

use super::people::Who;
use super::{Stage, link};

/// A cast beside those of the journal, by somebody who vouches for all of it.
const CAST: &[&str] =
    &["cast", "--trust", "--trust-journal", "--script", "answers.json", "--virtual-time", "go"];
/// Message for a file that is not a journal of materia.
const NOT_OURS: &str = "is no journal as materia makes them";
/// Message for a journal that a person must approve first.
const FOREIGN: &str = "was not begun here by your materia";

/// Everything that only looks.
const LOOKS: &[&[&str]] = &[
    &["casts"],
    &["show", "c1"],
    &["events", "c1"],
    &["why", "c1", "hello"],
    &["replay", "c1"],
    &["budget", "c1"],
    &["grid", "c1"],
];

/// Everything that does something.
const ACTS: &[&[&str]] = &[
    &["resume", "c1", "--trust"],
    &["recast", "c1", "--trust"],
    &["revive", "c1", "--trust"],
    &["say", "c1", "hello", "x", "--trust"],
    &["continue", "c1", "--trust"],
    &["trigger", "c1", "hello", "--trust"],
    &["approve", "c1", "hello", "--trust"],
    &["deny", "c1", "hello", "--trust"],
    &["pause", "c1", "--trust"],
    &["mode", "c1", "AUTO", "--trust"],
    &["budget", "c1", "--max-turns", "9", "--trust"],
    &["abort", "c1"],
    &["fork", "c1", "--at", "1", "--trust"],
    &["cast", "--trust", "--script", "answers.json", "go"],
];

#[test]
fn a_shipped_journal_is_only_read() {
    let stage = Stage::shipped(Who::Me);
    for args in LOOKS {
        let seen = stage.watch(args).exits(0).executed_nothing().wrote_nothing();
        if args[0] != "casts" && args[0] != "budget" && args[0] != "grid" {
            seen.says("it is only read");
        }
    }
}

#[test]
fn whatever_is_done_to_a_shipped_journal_needs_a_persons_word() {
    let stage = Stage::shipped(Who::Me);
    for args in ACTS {
        let seen = stage.watch(args).exits(2);
        seen.says(FOREIGN).says("--trust-journal").executed_nothing().wrote_nothing();
    }
    // Trust in the journal is none in the commands of the project.
    stage.watch(&["resume", "c1", "--trust-journal"]).exits(2).executed_nothing();
    let seen = stage.watch(&["resume", "c1", "--trust"]).exits(0);
    assert_eq!(seen.outside, ["outside/owned came"], "both were given: {seen:?}");
}

#[test]
fn commands_that_wait_in_a_shipped_journal_are_never_heard() {
    let stage = Stage::shipped(Who::Me);
    stage.sql(
        r#"INSERT INTO inbox (run_id, command) VALUES ('c1', '{"actor":"person","do":"mode","value":"AUTO"}'),
           ('c1', '{"actor":"person","do":"abort"}')"#,
    );
    let seen = stage.watch(&["pause", "c1", "--trust", "--trust-journal"]);
    let seen = seen.says("removed 2 waiting commands").changed_nothing_outside();
    assert_ne!(seen.ran.exit, 1, "{seen:?}");
    let shown = stage.run(&["show", "c1", "--json"]).exits(0).json();
    assert_eq!(shown["status"], "waiting", "{shown}");
}

/// How a journal is forged with SQL, and what is said of it.
const FORGED: &[(&str, &str)] = &[
    (
        "CREATE TRIGGER t AFTER INSERT ON decisions BEGIN UPDATE runs SET status = 'completed'; END",
        "it has a trigger `t` on `decisions`",
    ),
    (
        "CREATE TRIGGER t AFTER UPDATE ON leases BEGIN INSERT INTO inbox (run_id, command) VALUES ('c1', '{}'); END",
        "it has a trigger `t` on `leases`",
    ),
    (
        "ALTER TABLE snapshots RENAME TO s; CREATE VIEW snapshots AS SELECT * FROM s WHERE random() % 2",
        "`snapshots` is a view and no table",
    ),
    (
        "ALTER TABLE inbox RENAME TO i; CREATE VIEW inbox AS SELECT * FROM i",
        "`inbox` is a view and no table",
    ),
    (
        "DROP TABLE chapters; CREATE VIEW chapters AS SELECT 1 AS place",
        "`chapters` is a view and no table",
    ),
    ("CREATE TABLE more (x)", "it has a table `more`"),
    ("CREATE TABLE pragma_user_version (user_version)", "it has a table `pragma_user_version`"),
    ("CREATE VIEW sly AS SELECT load_extension('x')", "it has a view `sly`"),
    ("CREATE INDEX i ON runs (abs(started))", "it has an index `i`"),
    // As another SQLite writes it: ours has no such module.
    (
        "PRAGMA writable_schema = ON;
         INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)
         VALUES ('table', 'f', 'f', 0, 'CREATE VIRTUAL TABLE f USING fts5(x)')",
        "it has a table `f`",
    ),
    (
        "ALTER TABLE runs ADD COLUMN more INTEGER GENERATED ALWAYS AS (1)",
        "`runs` is defined in another way",
    ),
    ("ALTER TABLE heads RENAME COLUMN hash TO hush", "`heads` is defined in another way"),
    ("DROP TABLE leases", "the table `leases` is missing"),
    ("DROP VIEW log", "the view `log` is missing"),
    (
        "PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '') WHERE name = 'heads'",
        "`heads` is defined in another way",
    ),
    ("PRAGMA user_version = 2", "unreleased version of materia (format 2; this one reads 7)"),
    ("PRAGMA user_version = 99", "use a newer materia"),
    ("PRAGMA user_version = 0", "it has tables but no format number"),
    ("PRAGMA user_version = -1", "it has tables but no format number"),
];

#[test]
fn a_journal_that_is_not_made_as_ours_is_refused_before_it_is_read() {
    for (sql, said) in FORGED {
        let stage = Stage::shipped(Who::Me);
        stage.sql(sql);
        for args in [
            &["casts"][..],
            &["replay", "c1"],
            &["resume", "c1", "--trust", "--trust-journal"],
            CAST,
        ] {
            let seen = stage.watch(args).exits(2).says(said);
            seen.executed_nothing().wrote_nothing();
        }
    }
}

#[test]
fn a_forged_log_is_no_way_around_that() {
    let stage = Stage::shipped(Who::Me);
    let (journal, beside) = (stage.journal(), stage.path("project/.materia/journal.db-wal"));
    let (kept, kept_log) = (stage.path("kept.db"), stage.path("kept.db-wal"));
    {
        let connection = rusqlite::Connection::open(&journal).unwrap();
        connection
            .execute_batch(
                "CREATE TRIGGER t AFTER INSERT ON decisions BEGIN UPDATE runs SET status = 'x'; END",
            )
            .unwrap();
        // With its log, as somebody would ship it who was killed.
        fs::copy(&journal, &kept).unwrap();
        fs::copy(&beside, &kept_log).unwrap();
    }
    fs::rename(&kept, &journal).unwrap();
    fs::rename(&kept_log, &beside).unwrap();
    for args in [&["show", "c1"][..], &["resume", "c1", "--trust"]] {
        let seen = stage.watch(args).exits(2).says("it has a trigger `t`");
        seen.executed_nothing().wrote_nothing();
    }
}

#[test]
fn events_that_only_a_log_holds_are_read_without_a_file_being_made() {
    let stage = Stage::shipped(Who::Me);
    let (journal, log) = (stage.journal(), stage.path("project/.materia/journal.db-wal"));
    let (kept, kept_log) = (stage.path("kept.db"), stage.path("kept.db-wal"));
    {
        let connection = rusqlite::Connection::open(&journal).unwrap();
        connection.execute_batch("UPDATE runs SET request = 'from the log'").unwrap();
        fs::copy(&journal, &kept).unwrap();
        fs::copy(&log, &kept_log).unwrap();
    }
    fs::rename(&kept, &journal).unwrap();
    fs::rename(&kept_log, &log).unwrap();
    let seen = stage.watch(&["casts", "--json"]).exits(0).executed_nothing().wrote_nothing();
    assert!(seen.ran.out.contains("from the log"), "{seen:?}");
    stage.watch(&["replay", "c1"]).exits(0).executed_nothing().wrote_nothing();
}

#[test]
fn forged_ids_never_become_paths() {
    for evil in ["../../../home/.ssh", "/tmp/x", "..", "a/b", "x\\u0000y", "end"] {
        let stage = Stage::shipped(Who::Me);
        stage.forge("c0", |text| text.replace("\"hello\"", &format!("\"{evil}\"")));
        for args in
            [&["replay", "c0"][..], &["show", "c0"], &["events", "c0"], &["why", "c0", "harm"]]
        {
            let seen = stage.watch(args).executed_nothing().wrote_nothing();
            assert!(seen.ran.exit > 0 || args[0] == "events", "{evil} {args:?}: {seen:?}");
            assert!(
                format!("{}{}", seen.ran.out, seen.ran.err).contains("is no id"),
                "{evil}: {seen:?}"
            );
        }
        // Also where somebody vouched for it.
        let seen = stage.watch(&["resume", "c0", "--trust", "--trust-journal"]);
        let seen = seen.executed_nothing().changed_nothing_outside();
        assert!(seen.ran.exit == 2 || seen.ran.exit == 1, "{seen:?}");
    }
}

#[test]
fn a_forged_name_or_status_hides_no_other_cast() {
    let forged = [
        "UPDATE runs SET id = '../../home/x' WHERE id = 'c0'",
        "UPDATE runs SET status = 'owned' || char(27) || '[2J' WHERE id = 'c0'",
        "UPDATE runs SET id = '' WHERE id = 'c0'",
    ];
    for sql in forged {
        let stage = Stage::shipped(Who::Me);
        stage.sql(sql);
        let seen = stage.watch(&["casts"]).exits(0).executed_nothing().wrote_nothing();
        let seen = seen.says("cannot be listed");
        assert!(seen.ran.out.contains("c1"), "{seen:?}");
        assert!(!seen.ran.err.contains('\u{1b}'), "{seen:?}");
        stage.watch(&["show", "last"]).exits(0).wrote_nothing();
    }
}

#[test]
fn an_altered_event_is_printed_and_that_is_said() {
    let stage = Stage::shipped(Who::Me);
    stage.sql("UPDATE decisions SET events = replace(events, '\"hi\"', '\"ho\"')");
    let seen = stage.watch(&["events", "c0", "--json"]).exits(1).wrote_nothing();
    let seen = seen.says("was altered: its hash does not match");
    assert!(seen.ran.out.contains("\"ho\""), "it is evidence all the same: {seen:?}");
    stage.watch(&["replay", "c0"]).exits(1).wrote_nothing();
    stage.watch(&["resume", "c0", "--trust", "--trust-journal"]).exits(2).executed_nothing();
}

#[test]
fn an_event_that_names_a_file_elsewhere_has_nothing_read_there() {
    for path in ["/dev/zero", "../../../home/.bashrc", "link"] {
        let stage = Stage::shipped(Who::Me);
        symlink("/dev/zero", stage.path("project/.materia/c0/link")).unwrap();
        let hash = "0".repeat(64);
        let transcript =
            format!(r#""transcript":{{"path":"{path}","hash":"{hash}","bytes":1}},"output":"hi""#);
        stage.forge("c0", |text| text.replace("\"output\":\"hi\"", &transcript));
        let seen = stage.watch(&["replay", "c0"]).exits(1).executed_nothing();
        seen.wrote_nothing();
    }
}

#[test]
fn a_snapshot_that_somebody_else_wrote_is_not_believed() {
    let stage = Stage::shipped(Who::Me);
    stage.sql(
        "INSERT OR REPLACE INTO snapshots SELECT run, 1, hash, 'x', x'7b7d', hash FROM heads;
         INSERT OR REPLACE INTO chapters SELECT (run << 40) | 1, 'x', x'7b7d', hash FROM heads",
    );
    stage.watch(&["show", "c1"]).exits(0).wrote_nothing();
    stage.watch(&["pause", "c1", "--trust", "--trust-journal"]).changed_nothing_outside();
    let connection = rusqlite::Connection::open(stage.journal()).unwrap();
    let left: i64 = connection
        .query_row(
            "SELECT (SELECT count(*) FROM snapshots) + (SELECT count(*) FROM chapters)",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(left, 0);
}

#[test]
fn events_that_lie_in_wait_for_a_cast_to_come_are_found() {
    for (sql, said) in [
        (
            "INSERT INTO decisions SELECT (7 << 40) | (place & 1099511627775), ts, lag, hashes, input, events FROM decisions WHERE place >> 40 = 1",
            "it has events of no cast",
        ),
        ("PRAGMA foreign_keys = OFF; UPDATE runs SET run = 1 << 50 WHERE id = 'c0'", "of no cast"),
    ] {
        let stage = Stage::shipped(Who::Me);
        stage.sql(sql);
        let seen = stage.watch(CAST).exits(2);
        seen.says(said).executed_nothing().changed_nothing_outside();
    }
}

#[test]
fn numbers_that_cannot_be_are_damage() {
    for sql in [
        "UPDATE heads SET seq = -3",
        "UPDATE heads SET hash = x'00'",
        "UPDATE heads SET seq = 9223372036854775807",
    ] {
        let stage = Stage::shipped(Who::Me);
        stage.sql(sql);
        stage.watch(&["show", "c1"]).exits(2).says("damaged").executed_nothing().wrote_nothing();
        let seen = stage.watch(&["replay", "c1"]).executed_nothing().wrote_nothing();
        assert!(seen.ran.exit == 1 || seen.ran.exit == 2, "{seen:?}");
    }
}

#[test]
fn links_in_the_place_of_what_materia_makes_are_refused() {
    // The folder itself, which leads out of the project.
    let stage = Stage::shipped(Who::Me);
    fs::rename(stage.path("project/.materia"), stage.path("outside/materia")).unwrap();
    link(&stage.path("project/.materia"), "../outside/materia");
    for args in [&["casts"][..], CAST, &["resume", "c1", "--trust-journal"]] {
        stage.watch(args).exits(2).says("symbolic link").executed_nothing().wrote_nothing();
    }
    // The file, to one that is there and to one that is not.
    for to in ["../../outside/kept", "../../outside/new", "../../home/.bashrc"] {
        let stage = Stage::shipped(Who::Me);
        fs::remove_file(stage.journal()).unwrap();
        link(&stage.journal(), to);
        for args in [&["casts"][..], CAST] {
            stage.watch(args).exits(2).says("symbolic link").executed_nothing().wrote_nothing();
        }
    }
    // What SQLite keeps beside it.
    for ending in ["-wal", "-shm", "-journal"] {
        let stage = Stage::shipped(Who::Me);
        let beside = stage.path(&format!("project/.materia/journal.db{ending}"));
        // The cast that was shipped may have left its own.
        let _ = fs::remove_file(&beside);
        link(&beside, "../../home/.bashrc");
        for args in [&["casts"][..], CAST] {
            stage.watch(args).exits(2).says("symbolic link").executed_nothing().wrote_nothing();
        }
    }
}

#[test]
fn folders_of_casts_and_blobs_that_are_links_are_not_written_through() {
    let config = |prompt: &str| {
        serde_json::json!({
            "activeLoadout": "L",
            "loadouts": { "L": { "entry": "hello", "sockets": { "hello": { "materia": "Ask" } } } },
            "materia": { "Ask": { "prompt": prompt } },
        })
        .to_string()
    };
    for linked in ["c1", "blobs"] {
        let stage = Stage::new();
        // Long enough to be kept apart.
        stage.write("project/materia.json", config(&"x".repeat(100_000)));
        stage.write("project/answers.json", r#"{"turns":{"hello":[{"text":"hi"}]}}"#);
        link(&stage.path(&format!("project/.materia/{linked}")), "../../outside");
        let args = ["cast", "--cast-id", "c1", "--script", "answers.json", "--trust", "go"];
        let seen = stage.watch(&args).changed_nothing_outside();
        assert_ne!(seen.ran.exit, 0, "{linked}: {seen:?}");
    }
}

#[test]
fn a_rollback_journal_that_names_a_file_to_delete_is_refused() {
    let stage = Stage::shipped(Who::Me);
    let victim = stage.path("home/.bashrc");
    let name = victim.to_str().unwrap().as_bytes();
    // The head of a rollback journal, then the record that names a further file.
    let magic = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let mut bytes = magic.to_vec();
    bytes.extend([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 2, 0, 0, 0, 16, 0]);
    bytes.resize(512, 0);
    bytes.extend([0x40, 0, 0, 0]);
    bytes.extend(name);
    bytes.extend(u32::try_from(name.len()).unwrap().to_be_bytes());
    let sum = name.iter().fold(0_u32, |sum, byte| sum.wrapping_add(u32::from(*byte)));
    bytes.extend(sum.to_be_bytes());
    bytes.extend(magic);
    fs::write(stage.path("project/.materia/journal.db-journal"), bytes).unwrap();
    for args in [&["casts"][..], CAST] {
        let seen = stage.watch(args).exits(2).says("which SQLite would delete");
        seen.executed_nothing().wrote_nothing();
    }
}

#[test]
fn what_is_no_file_or_no_journal_at_all_is_refused() {
    let stage = Stage::shipped(Who::Me);
    fs::remove_file(stage.journal()).unwrap();
    fs::create_dir(stage.journal()).unwrap();
    stage.watch(&["casts"]).exits(2).says("it is no file").wrote_nothing();
    fs::remove_dir(stage.journal()).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        stage.journal(),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_bits_retain(0o600),
        0,
    )
    .unwrap();
    stage.watch(&["casts"]).exits(2).says("it is no file");
    fs::remove_file(stage.journal()).unwrap();
    for content in [&b"not a database, and rather long so that it is more than a header of one hundred bytes of text"[..], b"SQLite format 3\0"] {
        fs::write(stage.journal(), content).unwrap();
        let seen = stage.watch(&["casts"]).exits(2);
        seen.executed_nothing().wrote_nothing();
    }
}

#[test]
fn a_copy_is_foreign_and_so_is_what_took_the_place_of_ones_own() {
    let stage = Stage::shipped(Who::Me);
    // It becomes the user's own.
    stage.run(&["pause", "c1", "--trust", "--trust-journal"]);
    stage.watch(&["pause", "c1", "--trust"]).changed_nothing_outside();
    let own = stage.run(&["pause", "c1", "--trust"]);
    assert!(!own.err.contains(FOREIGN), "{own:?}");
    // The same bytes, and so the same id, in another file: as a pull from a repository would bring them.
    let copy = stage.path("copy.db");
    fs::copy(stage.journal(), &copy).unwrap();
    fs::rename(&copy, stage.journal()).unwrap();
    let tells = fs::metadata(stage.journal()).unwrap().created().is_ok();
    if tells {
        stage.watch(&["pause", "c1", "--trust"]).exits(2).says(FOREIGN).wrote_nothing();
        stage.run(&["pause", "c1", "--trust", "--trust-journal"]);
    }
    // A project that was copied with its journal.
    let other = Stage::new();
    fs::create_dir_all(other.path("project/.materia")).unwrap();
    fs::copy(stage.journal(), other.journal()).unwrap();
    other.watch(&["pause", "c1", "--trust"]).exits(2).says(FOREIGN).wrote_nothing();
}

/// Runs a command on a terminal of its own and answers what it asks.
const ON_A_TERMINAL: &str = "import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
said = b''
try:
    while True:
        got = os.read(fd, 4096)
        said += got
        if b'[y/N]' in got:
            os.write(fd, sys.argv[1].encode() + b'\\n')
except OSError:
    pass
sys.stdout.write(said.decode(errors='replace'))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
";

#[test]
fn on_a_terminal_a_person_is_asked_about_the_journal() {
    let stage = Stage::shipped(Who::Me);
    let ask = |answer: &str| -> crate::bench::Ran {
        let python = ["python3", "-c", ON_A_TERMINAL, answer];
        stage.run_by(&python, &["pause", "c1", "--trust"])
    };
    let before = fs::read(stage.journal()).unwrap();
    let ran = ask("n").exits(2);
    assert!(
        ran.out.contains(FOREIGN) && ran.out.contains("may it be carried on? [y/N]"),
        "{ran:?}"
    );
    assert!(ran.out.contains("the journal was left alone"), "{ran:?}");
    assert_eq!(fs::read(stage.journal()).unwrap(), before);
    assert!(ask("y").out.contains(FOREIGN));
    let ran = ask("n");
    assert!(!ran.out.contains(FOREIGN), "it is asked once: {ran:?}");
}
