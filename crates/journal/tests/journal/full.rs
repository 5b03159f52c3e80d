//! A full disk: no stored data is lost, and the run goes on when there is room.

use std::path::Path;
use std::process::Command;

use materia_contract::{ChainHash, RunId};
use materia_engine::journal_contract::sample_records;
use materia_engine::{AppendError, Batch, Journal, blocking};
use materia_journal::{JOURNAL_FILE, Options, SqliteJournal};
use tempfile::tempdir;

use crate::story::{batch, decisions};

/// Appends batches of many records until one is refused; gives that one.
async fn fill(journal: &SqliteJournal, run: &RunId) -> (Batch, AppendError) {
    let (mut after, mut hash) = (0, ChainHash::origin(run));
    loop {
        let records = sample_records(run, after, 200, hash);
        let batch = batch(run, after, records);
        if let Err(error) = journal.append(batch.clone()).await {
            return (batch, error);
        }
        (after, hash) = (after + 200, batch.records[199].hash);
        assert!(after < 1_000_000, "it never got full");
    }
}

fn read_all(journal: &SqliteJournal, run: &RunId) -> usize {
    let records = blocking(journal).records(run, 0, usize::MAX).unwrap();
    assert_eq!(records, decisions(run, records.len() as u64 / 200, 200).concat());
    records.len()
}

async fn survives(root: &Path, options: Options, make_room: impl FnOnce()) {
    let journal = SqliteJournal::open(root, options).unwrap();
    let run = RunId::new("r");
    let (refused, error) = fill(&journal, &run).await;
    assert!(matches!(error, AppendError::Full(_)), "{error}");
    let kept = usize::try_from(refused.after).unwrap();
    assert_eq!(read_all(&journal, &run), kept, "what was acknowledged is there");
    let again = journal.append(refused.clone()).await;
    assert!(matches!(again, Err(AppendError::Full(_))), "{again:?}");
    make_room();
    journal.append(refused).await.unwrap();
    assert_eq!(read_all(&journal, &run), kept + 200);
    drop(journal);
    let journal = SqliteJournal::open_existing(root).unwrap().unwrap();
    assert_eq!(read_all(&journal, &run), kept + 200);
}

#[tokio::test]
async fn a_file_at_its_limit() {
    let root = tempdir().unwrap();
    drop(SqliteJournal::open(root.path(), Options::default()).unwrap());
    let other = rusqlite::Connection::open(root.path().join(JOURNAL_FILE)).unwrap();
    let filler = "INSERT INTO chapters VALUES (-1, '', zeroblob(400000), x'00')";
    other.execute_batch(filler).unwrap();
    let options = Options { pages_max: Some(300), ..Options::default() };
    survives(root.path(), options, || other.execute_batch("DELETE FROM chapters").unwrap()).await;
}

#[tokio::test]
#[allow(clippy::print_stderr, reason = "whoever looks should know that it was skipped")]
async fn a_disk_without_room() {
    let root = tempdir().unwrap();
    let disk = root.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mount =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=3m", "tmpfs"]).arg(&disk).output();
    if !mount.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: a small file system cannot be mounted here");
        return;
    }
    let _mounted = Mounted(&disk);
    let filler = disk.join("filler");
    std::fs::write(&filler, vec![0; 1 << 20]).unwrap();
    survives(&disk, Options::default(), || std::fs::remove_file(&filler).unwrap()).await;
}

pub(crate) struct Mounted<'a>(pub(crate) &'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}
