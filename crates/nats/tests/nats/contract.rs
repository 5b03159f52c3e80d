//! The contract suites of the ports (M2, M4).

use materia_contract::{ChainHash, Event, Record, RunAborted, RunId};
use materia_engine::{Batch, Epoch, Journal as _, blobs_contract, journal_contract};

use crate::server::Servers;
use crate::{open, options};

async fn holds(servers: &Servers, replicas: usize) {
    let (journal, other) =
        (open(servers, "contract", replicas), open(servers, "contract", replicas));
    journal_contract::holds(&journal, &other).await;
    let folder = tempfile::tempdir().expect("a folder");
    let blobs = open(servers, "blobs", replicas);
    blobs_contract::holds(blobs.blobs(), folder.path()).await;
}

#[tokio::test]
async fn one_server_keeps_the_contract() {
    holds(&Servers::start(1, ""), 1).await;
}

#[tokio::test]
async fn three_servers_keep_the_contract() {
    holds(&Servers::start(3, ""), 3).await;
}

/// A decision of one event with a text of some length in its input, which stays in the record.
fn large(run: &RunId, bytes: usize) -> Vec<Record> {
    let body = RunAborted { reason: "enough".into() }.into();
    let event = Event { seq: 1, ts: 1, wall: 1, node: None, body };
    let input = format!(r#"{{"at":1,"input":"{}"}}"#, "x".repeat(bytes));
    Record::seal_decision(input, &[event], ChainHash::origin(run))
}

#[tokio::test]
async fn a_large_decision_is_one_blob() {
    let servers = Servers::start(1, "max_payload: 64KB");
    let journal = open(&servers, "large", 1);
    for (name, bytes) in [("small", 50 << 10), ("large", 61 << 10), ("larger", 1 << 20)] {
        let run = RunId::new(name);
        let records = large(&run, bytes);
        let batch = Batch {
            run: run.clone(),
            epoch: Epoch::default(),
            after: 0,
            records: records.clone().into(),
            receipt: None,
            verdict: None,
        };
        journal.append(batch).await.expect("append");
        let again = open(&servers, "large", 1);
        assert_eq!(again.read(&run, 0, usize::MAX).await.expect("read").records, records);
    }
    let text = vec![b'y'; 3 << 20];
    let hash = journal.blobs().put(text.clone()).await.expect("chunks fit the payload");
    assert_eq!(journal.blobs().get(hash).await, Ok(text));
}

#[tokio::test]
async fn messages_of_others_are_skipped_and_named() {
    let servers = Servers::start(1, "");
    let journal = open(&servers, "foreign", 1);
    let run = RunId::new("r");
    let lease = journal.claim(&run).await.expect("claim");
    let mut head = ChainHash::origin(&run);
    let mut told = Vec::new();
    let stranger = async_nats::connect(servers.url()).await.expect("a connection");
    let stranger = async_nats::jetstream::new(stranger);
    for after in 0..3 {
        let records = journal_contract::sample_records(&run, after, 1, head);
        head = records[0].hash;
        let (epoch, records_now) = (lease.epoch(), records.clone().into());
        let batch = Batch {
            run: run.clone(),
            epoch,
            after,
            records: records_now,
            receipt: None,
            verdict: None,
        };
        journal.append(batch).await.expect("a stranger's message keeps nobody from writing");
        told.extend(records);
        let sent =
            stranger.publish("materia.foreign.run.r", "nonsense".into()).await.expect("sent");
        sent.await.expect("stored");
    }
    let reader = open(&servers, "foreign", 1);
    assert_eq!(reader.read(&run, 0, usize::MAX).await.expect("read").records, told);
    assert_eq!(reader.foreign_messages(&run).await.expect("look").len(), 3);
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let mut servers = Servers::start(1, "");
    let wanted = options(&servers, "gone", 1);
    servers.kill(0);
    let Err(error) = materia_nats::NatsJournal::open(wanted) else { panic!("nobody answers") };
    let text = error.to_string();
    assert!(text.contains("no NATS server answers at `nats://127.0.0.1:"), "{text}");
}

#[tokio::test]
async fn streams_deny_delete_and_purge() {
    let servers = Servers::start(1, "");
    let journal = open(&servers, "kept", 1);
    let client = async_nats::connect(servers.url()).await.expect("a connection");
    let context = async_nats::jetstream::new(client);
    let stream = context.get_stream("materia-kept").await.expect("the stream");
    let config = &stream.cached_info().config;
    assert!(config.deny_delete && config.deny_purge && !config.allow_direct);
    assert_eq!(config.storage, async_nats::jetstream::stream::StorageType::File);
    let records = journal_contract::sample_records(
        &RunId::new("r"),
        0,
        1,
        ChainHash::origin(&RunId::new("r")),
    );
    let epoch = Epoch::default();
    let batch = Batch {
        run: RunId::new("r"),
        epoch,
        after: 0,
        records: records.into(),
        receipt: None,
        verdict: None,
    };
    journal.append(batch).await.expect("append");
    stream.delete_message(1).await.expect_err("nothing is deleted");
    stream.purge().await.expect_err("nothing is purged");
}
