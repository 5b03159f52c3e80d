//! Messages of others in the buckets of a space, and answers that come late (M2, M5, M7).

use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::Context;
use materia_contract::{ChainHash, Command, CommandId, Do, RunId};
use materia_engine::{Batch, ClaimError, Epoch, Journal as _, journal_contract::sample_records};
use materia_nats::{NatsJournal, Options, Space, TodoList};

use crate::server::Servers;
use crate::{open, options, proxy};

async fn stranger(servers: &Servers) -> Context {
    let client = async_nats::connect(servers.url()).await.expect("a connection");
    async_nats::jetstream::new(client)
}

async fn put(stranger: &Context, subject: String, headers: &[(&str, &str)], payload: &[u8]) {
    let mut all = HeaderMap::new();
    for (name, value) in headers {
        all.insert(*name, *value);
    }
    let sent = stranger.publish_with_headers(subject, all, payload.to_vec().into()).await;
    sent.expect("sent").await.expect("stored");
}

/// Keys and values that no Materia writes.
const KEYS: [&str; 6] = ["a.b.c", "-x", "..%2f", "rm -rf", "\u{202e}x", "=/k"];
const VALUES: [&[u8]; 5] = [b"", b"nonsense", b"{}", b"\xff\xfe", b"[[[[[[[[[[[[[[[["];

/// M5: messages of others in the list of waiting runs, in leases and among workers keep nobody from working.
#[tokio::test]
async fn messages_of_others_in_buckets_do_no_harm() {
    let servers = Servers::start(1, "");
    let journal = open(&servers, "hostile", 1);
    let run = RunId::new("r");
    let records = sample_records(&run, 0, 1, ChainHash::origin(&run));
    let batch = Batch {
        run: run.clone(),
        epoch: Epoch::default(),
        after: 0,
        records: records.clone().into(),
        receipt: None,
        verdict: None,
    };
    journal.append(batch).await.expect("append");
    assert!(journal.waiting().await.expect("the list is made").is_empty());
    assert!(journal.workers().await.expect("the list is made").is_empty());
    let others = stranger(&servers).await;
    for bucket in ["todo", "leases", "workers"] {
        for (key, value) in KEYS.iter().flat_map(|key| VALUES.map(|value| (key, value))) {
            let key = key.replace(' ', "_").replace("..", "_");
            let subject = format!("$KV.materia-hostile-{bucket}.{key}");
            put(&others, subject, &[], value).await;
        }
        for value in VALUES {
            put(&others, format!("$KV.materia-hostile-{bucket}.r"), &[], value).await;
        }
    }
    assert_eq!(journal.workers().await.expect("look"), []);
    let list = journal.todo(TodoList::default()).await.expect("look");
    assert!(list.entries().iter().all(|entry| entry.todo.is_none()), "{list:?}");
    assert!(list.entries().iter().any(|entry| entry.run == run), "{list:?}");
    // A value that no holder wrote is no lease.
    assert!(!journal.is_driven(&run).await.expect("look"));
    assert!(journal.driven().await.expect("look").is_empty());
    let lease = journal.claim(&run).await.expect("claim");
    assert!(journal.is_driven(&run).await.expect("look"));
    let other = open(&servers, "hostile", 1);
    let refused = other.claim(&run).await;
    assert!(matches!(refused, Err(ClaimError::Held { .. })), "{refused:?}");
    drop(lease);
    // Other programs remove a key with a message that says so.
    let subject = "$KV.materia-hostile-todo.r".to_owned();
    put(&others, subject, &[("KV-Operation", "DEL")], b"").await;
    let list = journal.todo(list).await.expect("look");
    assert!(list.entries().iter().all(|entry| entry.run != run), "{list:?}");
    assert_eq!(journal.todo_of(&run).await.expect("look"), None);
    assert_eq!(journal.read(&run, 0, usize::MAX).await.expect("read").records, records);
}

/// M2, M7: nonsense in an inbox is no command; a command that cannot be read is said to be one, and others still come.
#[tokio::test]
async fn messages_of_others_in_an_inbox_do_no_harm() {
    let servers = Servers::start(1, "");
    let journal = open(&servers, "inbox", 1);
    let run = RunId::new("r");
    let lease = journal.claim(&run).await.expect("claim");
    let others = stranger(&servers).await;
    let inbox = || "materia.inbox.inbox.r".to_owned();
    for value in VALUES {
        put(&others, inbox(), &[], value).await;
        put(&others, inbox(), &[("Materia-Kind", "decision"), ("Materia-Epoch", "1")], value).await;
        let huge = [("Materia-Kind", "command"), ("Materia-Epoch", "99999999999999999999999")];
        put(&others, inbox(), &huge, value).await;
    }
    put(&others, "materia.inbox.inbox.-x.y".to_owned(), &[], b"x").await;
    assert_eq!(journal.commands(&run).await.expect("look"), []);
    assert_eq!(journal.addressed().await.expect("look"), []);
    let missing = "0".repeat(64);
    let forged = [
        ("Materia-Kind", "command"),
        ("Materia-Epoch", "0"),
        ("Materia-Id", "x"),
        ("Materia-Command", "forged"),
        ("Materia-Blob", &*missing),
    ];
    put(&others, inbox(), &forged, b"").await;
    let command = Command { id: CommandId::parse("mine").ok(), ..Command::person(Do::Pause) };
    journal.post(&run, &command).await.expect("posted");
    let waiting = journal.commands(&run).await.expect("look");
    assert_eq!(waiting.len(), 2, "{waiting:?}");
    assert!(waiting[0].command.is_err(), "{waiting:?}");
    assert_eq!(waiting[1].command.as_ref().expect("it is ours").what, Do::Pause);
    // The unreadable one can be answered like any other.
    let id = waiting[0].id.clone().expect("it has an id");
    assert!(journal.withdraw(&run, lease.epoch(), &id).await.expect("look"));
    assert_eq!(journal.commands(&run).await.expect("look").len(), 1);
}

/// M5: the key of a claim is renewed from the start, also while the mark is not through yet.
#[tokio::test]
async fn a_claim_that_takes_long_keeps_its_key() {
    let servers = Servers::start(1, "");
    let lease = Duration::from_secs(2);
    let honest = Options { lease, ..options(&servers, "slow", 1) };
    let honest = Servers::ready(|| NatsJournal::open(honest.clone()));
    let (port, dropped) = proxy::dropping(servers.port(0), "materia.slow.run.", 2);
    let url = format!("nats://127.0.0.1:{port}");
    let slow = Options::new(&url, Space::parse("slow").expect("a space")).expect("an address");
    let slow = NatsJournal::open(slow).expect("open");
    let run = RunId::new("r");
    let claiming = {
        let run = run.clone();
        tokio::spawn(async move { slow.claim(&run).await.map(|lease| (slow, lease)) })
    };
    while !honest.is_driven(&run).await.expect("look") {
        tokio::task::yield_now().await;
    }
    while !claiming.is_finished() {
        assert!(honest.is_driven(&run).await.expect("look"), "the key has lapsed");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (_slow, held) = claiming.await.expect("it ends").expect("claim");
    assert_eq!(
        dropped.load(std::sync::atomic::Ordering::SeqCst),
        2,
        "marks were lost on their way"
    );
    assert!(held.epoch() > Epoch::default());
}
