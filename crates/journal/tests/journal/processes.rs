//! Several processes with one journal.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use materia_contract::RunId;
use materia_contract::{Answer, Command as Ask, CommandId, Do, Receipt};
use materia_engine::{Batch, ClaimError, Journal, Posted, blocking};
use materia_journal::{Options, SqliteJournal};
use tempfile::tempdir;

use crate::story::{batch, decisions};

const PROCESSES: usize = 20;
const BATCHES: u64 = 10;

/// This very program, as the ignored test `name` with `root` and `run` in its surroundings.
pub(crate) fn spawn(name: &str, root: &std::path::Path, run: &str) -> Child {
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
    assert_eq!(blocking(&journal).runs().unwrap().len(), PROCESSES);
    for n in 0..PROCESSES {
        let run = RunId::new(format!("run-{n}"));
        assert_eq!(
            blocking(&journal).records(&run, 0, 1_000).unwrap(),
            decisions(&run, BATCHES, 3).concat()
        );
    }
}

#[test]
#[ignore = "started by twenty_processes_create_and_write_at_once"]
fn one_of_twenty() {
    let Some((root, run)) = surroundings() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for (n, records) in decisions(&run, BATCHES, 3).into_iter().enumerate() {
        // Opened anew for each batch, so that creating and closing meet as well.
        let journal = SqliteJournal::open(&root, Options::default()).unwrap();
        let lease = blocking(&journal).claim(&run).unwrap();
        let after = n as u64 * 3;
        let stop = Ask::person(Do::Stop { message: None });
        let id = blocking(&journal).post(&run, &stop).unwrap().id;
        let posted: Posted = Ask { id: Some(id.clone()), ..stop.clone() }.into();
        assert_eq!(blocking(&journal).commands(&run).unwrap(), [posted]);
        let answer = Answer::Done { first: after + 1, last: after + 3 };
        let receipt = Receipt { command: id.clone(), body: Some(stop.body_hash()), answer };
        let receipt_kept = Some(receipt.clone());
        let batch =
            Batch { epoch: lease.epoch(), receipt: receipt_kept, ..batch(&run, after, records) };
        runtime.block_on(journal.append(batch)).unwrap();
        assert_eq!(blocking(&journal).head(&run).unwrap().unwrap().seq, after + 3);
        assert!(blocking(&journal).commands(&run).unwrap().is_empty());
        assert_eq!(blocking(&journal).receipt(&run, &id).unwrap(), Some(receipt));
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
    match blocking(&journal).claim(&run).map(|_| ()) {
        Err(ClaimError::Held { pid, .. }) => assert_eq!(pid, Some(child.id())),
        other => panic!("{other:?}"),
    }
    child.kill().unwrap();
    child.wait().unwrap();
    drop(blocking(&journal).claim(&run).expect("a killed process holds nothing"));
}

#[test]
#[ignore = "started by a_claim_ends_with_its_process"]
#[expect(clippy::print_stdout, reason = "the other process listens")]
fn holds_a_claim() {
    let Some((root, run)) = surroundings() else { return };
    let journal = SqliteJournal::open(&root, Options::default()).unwrap();
    let _lease = blocking(&journal).claim(&run).unwrap();
    println!("claimed");
    // Until the other process ends this one.
    let _ = std::io::stdin().read_line(&mut String::new());
}

const COMMANDS: usize = 1_000;
const KILLS: usize = 10;

#[test]
fn commands_take_effect_once_however_often_the_writer_is_killed() {
    let root = tempdir().unwrap();
    let run = RunId::new("obedient");
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    let mut ids = Vec::new();
    for kill in 0..KILLS {
        let mut child = spawn("processes::carries_out_commands", root.path(), run.as_str());
        for nth in 0..COMMANDS / KILLS {
            let reason = Some(format!("{kill}-{nth}"));
            let command = Ask::person(Do::Abort { reason });
            ids.push(blocking(&journal).post(&run, &command).unwrap().id);
        }
        // In the midst of it, at another point each time.
        std::thread::sleep(std::time::Duration::from_millis(3 + 7 * kill as u64));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let mut child = spawn("processes::carries_out_commands", root.path(), run.as_str());
    while !blocking(&journal).commands(&run).unwrap().is_empty() {
        assert!(child.try_wait().unwrap().is_none(), "it goes on until it is killed");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();

    let records = blocking(&journal).records(&run, 0, usize::MAX).unwrap();
    assert_eq!(crate::story::first_misfit(&run, &records), None);
    let carried_out: Vec<(CommandId, u64)> = records
        .iter()
        .filter_map(|record| {
            let input: serde_json::Value = serde_json::from_str(record.input.as_ref()?).unwrap();
            Some((CommandId::kept(input["command"].as_str().unwrap()), record.seq))
        })
        .collect();
    assert!(carried_out.iter().map(|(command, _)| command).eq(&ids), "each once, in order");
    for (command, first) in carried_out {
        let answer = Answer::Done { first, last: first + 1 };
        let receipt = blocking(&journal).receipt(&run, &command).unwrap().unwrap();
        assert_eq!((receipt.command, receipt.answer), (command, answer));
    }
}

#[test]
#[ignore = "started by commands_take_effect_once_however_often_the_writer_is_killed"]
fn carries_out_commands() {
    use materia_contract::{ChainHash, Event, EventBody, Record};
    let Some((root, run)) = surroundings() else { return };
    let journal = SqliteJournal::open(&root, Options::default()).unwrap();
    let lease = blocking(&journal).claim(&run).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let head = blocking(&journal).head(&run).unwrap();
    let (mut after, mut hash) =
        head.map_or_else(|| (0, ChainHash::origin(&run)), |head| (head.seq, head.hash));
    loop {
        for Posted { id, body, .. } in blocking(&journal).commands(&run).unwrap() {
            let id = id.unwrap();
            let event = |seq: u64| {
                let body = EventBody::parse("node.blocked", r#"{"reason":"x"}"#).unwrap();
                Event { seq, ts: seq.cast_signed(), wall: 1, node: None, body }
            };
            let (first, last) = (after + 1, after + 2);
            let input = format!(r#"{{"at":1,"command":"{id}","input":"idle"}}"#);
            let records = Record::seal_decision(input, &[event(first), event(last)], hash);
            let receipt = Receipt { command: id, body, answer: Answer::Done { first, last } };
            (after, hash) = (last, records[1].hash);
            let (epoch, receipt) = (lease.epoch(), Some(receipt));
            let batch = Batch { epoch, receipt, ..batch(&run, first - 1, records) };
            runtime.block_on(journal.append(batch)).unwrap();
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
