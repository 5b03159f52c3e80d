//! Blobs: long texts of events, and files of turns, stored by hash.

use std::sync::Arc;

use materia_contract::{BlobFault, Folders, LeftFile, RunId, Transcript, TurnOutput};
use materia_engine::{
    Blobs as _, BoxFuture, Epoch, MemoryBlobs, MemoryJournal, NoObserver, Options, Runner,
    SystemClock, TurnJob, TurnReport, World, blobs_contract, blocking, cast, fork, load, replay,
};
use materia_kernel::Phase;

use crate::story::{of, quiet, utility};

fn id() -> RunId {
    RunId::new("c")
}

/// Says a lot, and leaves two files, one of which is gone again.
struct Talker;

impl Runner for Talker {
    fn run(&self, job: TurnJob) -> BoxFuture<'static, TurnReport> {
        let bytes = b"what it said";
        let file = job.run_dir.join("transcript");
        std::fs::write(&file, bytes).unwrap();
        let hash = materia_contract::BlobHash::of(bytes).to_string();
        let transcript =
            Transcript { path: "transcript".into(), hash: hash.clone(), bytes: 12, dropped: 0 };
        let gone =
            LeftFile { kind: "stdout".into(), name: "gone".into(), hash, bytes: 12, dropped: 0 };
        let output = TurnOutput {
            output: format!("{{\"context\": \"{}\"}}", "long ".repeat(20_000)),
            transcript: Some(Box::new(transcript)),
            files: vec![gone],
            ..TurnOutput::default()
        };
        let outcome = Ok(output);
        Box::pin(async move { TurnReport { outcome, after: std::time::Duration::ZERO } })
    }
}

async fn talked(journal: &MemoryJournal, run_dir: &std::path::Path) {
    let nodes = [(materia_contract::NodeId::new("a"), utility(Vec::new()))];
    let world = World {
        journal: Arc::new(journal.clone()),
        observer: Arc::new(NoObserver),
        runner: Arc::new(Talker),
        clock: Arc::new(SystemClock),
    };
    let folders = Folders { run_dir: run_dir.to_str().unwrap().into(), ..Folders::default() };
    let options = Options { folders, ..Options::default() };
    let created = of(nodes.into_iter().collect(), "a");
    assert_eq!(cast(&world, id(), created, options, &mut quiet()).await.unwrap(), Phase::Completed);
}

#[tokio::test]
async fn memory_keeps_the_contract_of_blobs() {
    let folder = tempfile::tempdir().unwrap();
    blobs_contract::holds(&MemoryBlobs::default(), folder.path()).await;
}

#[tokio::test]
async fn what_a_turn_left_is_kept_before_its_end_is_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let journal = MemoryJournal::default();
    talked(&journal, folder.path()).await;
    let records = blocking(&journal).records(&id(), 0, 1_000).unwrap();
    let ended = records.iter().find(|record| record.kind == "turn.completed").unwrap();
    let [text] = &ended.blobs()[..] else { panic!("one text is kept apart") };
    assert!(text.text.contains("long long") && ended.data.len() < 2_000, "{}", ended.data);
    let said = materia_contract::BlobHash::of(b"what it said");
    let mut kept = vec![text.hash, said];
    kept.sort_unstable();
    assert_eq!(journal.blobs.hashes(), kept);
    // A file that could not be kept is not named, and that is said.
    assert!(
        ended.data.contains("its stdout could not be kept") && !ended.data.contains("\"gone\"")
    );
    let whole = replay(&journal, &id(), None).unwrap();
    assert_eq!(whole.left.len(), 1);
    assert_eq!((whole.left[0].path.as_str(), whole.left[0].is_blob), ("transcript", true));
    // A fork has the same texts.
    let copy = RunId::new("copy");
    fork(Arc::new(journal.clone()), &id(), whole.events, &copy, Epoch::default()).await.unwrap();
    assert_eq!(journal.blobs.hashes(), kept);
    replay(&journal, &copy, None).unwrap();
    for (bytes, fault) in [
        (Some(b"other".to_vec()), BlobFault::Altered(text.hash)),
        (None, BlobFault::Missing(text.hash)),
    ] {
        journal.blobs.tamper(text.hash, bytes);
        for run in [id(), copy.clone()] {
            let told = replay(&journal, &run, None).unwrap_err().to_string();
            assert!(
                told.contains(&fault.to_string()) && told.contains(&format!("event {}", ended.seq)),
                "{told}"
            );
            let told = load(&journal, &run).unwrap_err().to_string();
            assert!(told.contains(&fault.to_string()), "{told}");
        }
    }
    assert!(!journal.blobs.has(text.hash).await.unwrap());
}
