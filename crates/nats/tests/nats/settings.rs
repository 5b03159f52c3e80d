//! Servers and streams with settings under which casts would be lost (M1, M3, M4, M5).

use std::time::Duration;

use async_nats::jetstream::stream::{Config, StorageType};
use materia_nats::{NatsJournal, Options};

use crate::server::Servers;
use crate::{open, options};

fn refusal(wanted: Options) -> String {
    match NatsJournal::open(wanted) {
        Ok(_) => panic!("it was opened"),
        Err(error) => error.to_string(),
    }
}

/// M1: a server without `JetStream` is named as such.
#[test]
fn a_server_without_jetstream_is_refused() {
    let servers = Servers::start(1, "jetstream: disabled");
    let text = refusal(options(&servers, "none", 1));
    assert!(text.contains("cannot keep casts") && text.contains("is JetStream enabled"), "{text}");
}

/// M4: a server whose largest message leaves no room for a decision.
#[test]
fn a_server_of_tiny_messages_is_refused() {
    let servers = Servers::start(1, "max_payload: 4KB");
    let text = refusal(options(&servers, "tiny", 1));
    assert!(text.contains("4096 bytes; set its `max_payload`"), "{text}");
}

/// M3, M5: streams that somebody made with other settings are refused, and say which; nothing of them is changed.
#[tokio::test]
async fn streams_with_other_settings_are_refused() {
    let servers = Servers::start(1, "");
    drop(open(&servers, "usual", 1));
    let client = async_nats::connect(servers.url()).await.expect("a connection");
    let context = async_nats::jetstream::new(client);
    let usual = async |name: &str| {
        let stream = context.get_stream(name).await.expect("the stream");
        stream.cached_info().config.clone()
    };
    let (runs, leases) = (usual("materia-usual").await, usual("KV_materia-usual-leases").await);
    let hour = Duration::from_hours(1);
    let short = Duration::from_millis(200);
    let cases: [(&str, Config, &str); 8] = [
        ("memory", Config { storage: StorageType::Memory, ..runs.clone() }, "`storage`"),
        ("age", Config { max_age: hour, ..runs.clone() }, "`max_age`"),
        ("count", Config { max_messages: 9, ..runs.clone() }, "`max_msgs`"),
        ("size", Config { max_message_size: 9_000, ..runs.clone() }, "`max_msg_size`"),
        (
            "subject",
            Config { max_messages_per_subject: 1, ..runs.clone() },
            "`max_msgs_per_subject`",
        ),
        ("deny", Config { deny_purge: false, ..runs }, "`deny_purge`"),
        ("for-ever", Config { max_age: Duration::ZERO, ..leases.clone() }, "`max_age`"),
        ("at-once", Config { max_age: short, duplicate_window: short, ..leases }, "`max_age`"),
    ];
    for (space, config, word) in cases {
        let (name, subjects) = (config.name.clone(), config.subjects.clone());
        let own = |text: &String| text.replace("usual", space);
        let subjects = subjects.iter().map(own).collect();
        let made = Config { name: own(&name), subjects, ..config };
        context.create_stream(made.clone()).await.expect("it is made");
        let wanted = options(&servers, space, 1);
        let text = tokio::task::spawn_blocking(|| refusal(wanted)).await.expect("it answers");
        assert!(text.contains(&made.name) && text.contains(word), "{space}: {text}");
        let kept = context.get_stream(&made.name).await.expect("it is still there");
        assert_eq!(kept.cached_info().config.max_age, made.max_age, "{space}");
    }
}

/// M3, M5: the buckets of workers, which are looked for when they are first needed.
#[tokio::test]
async fn a_list_that_forgets_is_refused() {
    let servers = Servers::start(1, "");
    let client = async_nats::connect(servers.url()).await.expect("a connection");
    let context = async_nats::jetstream::new(client);
    let config = Config {
        name: "KV_materia-list-todo".to_owned(),
        subjects: vec!["$KV.materia-list-todo.>".to_owned()],
        max_messages_per_subject: 1,
        max_age: Duration::from_mins(1),
        ..Config::default()
    };
    context.create_stream(config).await.expect("it is made");
    let journal = open(&servers, "list", 1);
    let error = journal.waiting().await.expect_err("entries would be lost").to_string();
    assert!(error.contains("`max_age`"), "{error}");
}
