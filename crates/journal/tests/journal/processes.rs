//! Several processes with one journal.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use materia_contract::{ChainHash, RunId};
use materia_engine::journal_contract::sample_records;
use materia_engine::{Batch, ClaimError, Command as Ask, Journal};
use materia_journal::{Options, SqliteJournal};
use tempfile::tempdir;

const PROCESSES: usize = 20;
const BATCHES: u64 = 10;

/// This very program, as the ignored test `name` with `root` and `run` in its surroundings.
fn spawn(name: &str, root: &std::path::Path, run: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture"])
        .env("JOURNAL_TEST_ROOT", root)
        .env("JOURNAL_TEST_RUN", run)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn surroundings() -> Option<(PathBuf, RunId)> {
    let root = std::env::var_os("JOURNAL_TEST_ROOT")?;
    Some((root.into(), RunId::new(std::env::var("JOURNAL_TEST_RUN").ok()?)))
}

#[test]
fn twenty_processes_create_and_write_at_once() {
    let root = tempdir().unwrap();
    let place = root.path().join("artifacts");
    let children: Vec<_> = (0..PROCESSES)
        .map(|n| spawn("processes::one_of_twenty", &place, &format!("run-{n}")))
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
    }
    let journal = SqliteJournal::open_existing(&place).unwrap().unwrap();
    assert_eq!(journal.runs().unwrap().len(), PROCESSES);
    for n in 0..PROCESSES {
        let run = RunId::new(format!("run-{n}"));
        let expected = sample_records(&run, 0, BATCHES * 3, ChainHash::origin(&run));
        assert_eq!(journal.read(&run, 0, 1_000).unwrap(), expected);
    }
}

#[test]
#[ignore = "started by twenty_processes_create_and_write_at_once"]
fn one_of_twenty() {
    let Some((root, run)) = surroundings() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let records = sample_records(&run, 0, BATCHES * 3, ChainHash::origin(&run));
    for (n, part) in records.chunks(3).enumerate() {
        // Opened anew for each batch, so that creating and closing meet as well.
        let journal = SqliteJournal::open(&root, Options::default()).unwrap();
        let _claim = journal.claim(&run).unwrap();
        let after = n as u64 * 3;
        let batch = Batch { run: run.clone(), after, records: part.into(), snapshot: None };
        runtime.block_on(journal.append(batch)).unwrap();
        assert_eq!(journal.head(&run).unwrap().unwrap().seq, after + 3);
        journal.post(&run, &Ask::Stop).unwrap();
        assert_eq!(journal.take_commands(&run).unwrap(), [Ask::Stop]);
    }
}

#[test]
fn a_claim_ends_with_its_process() {
    use std::io::{BufRead, BufReader};
    let root = tempdir().unwrap();
    let mut child = spawn("processes::holds_a_claim", root.path(), "held");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("claimed")), "the other process holds it");

    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    let run = RunId::new("held");
    match journal.claim(&run).map(|_| ()) {
        Err(ClaimError::Held { pid, .. }) => assert_eq!(pid, Some(child.id())),
        other => panic!("{other:?}"),
    }
    child.kill().unwrap();
    child.wait().unwrap();
    drop(journal.claim(&run).expect("a killed process holds nothing"));
}

#[test]
#[ignore = "started by a_claim_ends_with_its_process"]
#[expect(clippy::print_stdout, reason = "the other process listens")]
fn holds_a_claim() {
    let Some((root, run)) = surroundings() else { return };
    let journal = SqliteJournal::open(&root, Options::default()).unwrap();
    let _claim = journal.claim(&run).unwrap();
    println!("claimed");
    // Until the other process ends this one.
    let _ = std::io::stdin().read_line(&mut String::new());
}
