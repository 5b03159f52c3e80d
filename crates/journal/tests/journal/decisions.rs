//! One decision, one row.

use materia_contract::{ChainHash, Event, EventBody, NodeId, Record, RunId};
use materia_engine::{AppendError, Journal, MemoryJournal, blocking};
use materia_journal::{JOURNAL_FILE, Options, SqliteJournal};
use serde_json::json;
use tempfile::tempdir;

use crate::story::{Story, batch, decisions};

/// The records of one decision behind `previous`, with these types, nodes and datas as they are.
fn decided(after: u64, told: &[(&str, Option<&str>, &str)], previous: ChainHash) -> Vec<Record> {
    let mut head = previous;
    let first = after + 1;
    (first..)
        .zip(told)
        .map(|(seq, (kind, node, data))| {
            let mut record = Record {
                seq,
                ts: seq.cast_signed() + 5,
                wall: first.cast_signed(),
                kind: (*kind).to_owned(),
                node: node.map(str::to_owned),
                data: (*data).to_owned(),
                whole: None,
                input: (seq == first).then(|| json!({"at": seq, "input": "idle"}).to_string()),
                hash: head,
            };
            record.hash = record.hash_after(head);
            head = record.hash;
            record
        })
        .collect()
}

/// Records as the view `log` shows them: without inputs, and with a hash where a decision ends.
fn as_logged(mut records: Vec<Record>) -> Vec<Record> {
    for nth in 0..records.len() {
        let ends = records.get(nth + 1).is_none_or(|next| next.input.is_some());
        if !ends {
            records[nth].hash = ChainHash([0; 32]);
        }
    }
    for record in &mut records {
        record.input = None;
    }
    records
}

/// Everything the view `log` shows of a run.
fn log(root: &std::path::Path, run: &str) -> Vec<Record> {
    let look = rusqlite::Connection::open(root.join(JOURNAL_FILE)).unwrap();
    let mut rows = look
        .prepare(
            "SELECT seq, ts, wall, type, node, data, hash FROM log WHERE cast_id = ?1 ORDER BY seq",
        )
        .unwrap();
    rows.query_map([run], |row| {
        Ok(Record {
            seq: row.get::<_, i64>(0)?.unsigned_abs(),
            ts: row.get(1)?,
            wall: row.get(2)?,
            kind: row.get(3)?,
            node: row.get(4)?,
            data: row.get(5)?,
            whole: None,
            input: None,
            hash: ChainHash(row.get::<_, Option<_>>(6)?.unwrap_or_default()),
        })
    })
    .unwrap()
    .collect::<Result<_, _>>()
    .unwrap()
}

#[tokio::test]
async fn several_decisions_come_in_one_commit_and_have_a_row_each() {
    let root = tempdir().unwrap();
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    let run = RunId::new("r");
    let all = decisions(&run, 7, 3);
    journal.append(batch(&run, 0, all[..5].concat())).await.unwrap();
    journal.append(batch(&run, 15, all[5..].concat())).await.unwrap();
    let stats = journal.stats();
    assert_eq!((stats.commits, stats.batches, stats.decisions, stats.records), (2, 2, 7, 21));
    assert_eq!(blocking(&journal).records(&run, 0, 100).unwrap(), all.concat());
    let look = rusqlite::Connection::open(root.path().join(JOURNAL_FILE)).unwrap();
    let count = |table: &str| -> i64 {
        look.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    };
    assert_eq!((count("decisions"), count("log")), (7, 21));
}

#[tokio::test]
async fn a_read_begins_and_ends_anywhere() {
    let root = tempdir().unwrap();
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    let memory = MemoryJournal::default();
    let run = RunId::new("r");
    let mut head = ChainHash::origin(&run);
    let mut after = 0;
    for each in [1, 3, 2, 5, 1, 1, 4] {
        let kinds = vec![("a.b", Some("n"), "{}"); each];
        let records = decided(after, &kinds, head);
        head = records.last().unwrap().hash;
        journal.append(batch(&run, after, records.clone())).await.unwrap();
        memory.append(batch(&run, after, records)).await.unwrap();
        after += each as u64;
    }
    for from in 0..=after + 1 {
        for limit in 0..=20 {
            let expected = blocking(&memory).records(&run, from, limit).unwrap();
            assert_eq!(
                blocking(&journal).records(&run, from, limit).unwrap(),
                expected,
                "{from}, {limit}"
            );
        }
        let mut seen = Vec::new();
        let all = journal.for_each(&run, from, &mut |record| {
            seen.push(record.clone());
            std::ops::ControlFlow::Continue(())
        });
        all.unwrap();
        assert_eq!(seen, blocking(&memory).records(&run, from, 100).unwrap());
    }
    assert_eq!(blocking(&journal).head(&run).unwrap(), blocking(&memory).head(&run).unwrap());
}

#[tokio::test]
async fn the_log_shows_what_a_read_gives() {
    let root = tempdir().unwrap();
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    let run = RunId::new("odd");
    // Whatever JSON can look like: it comes out byte for byte.
    let odd = [
        r#"{"n":[0,-0,-0.0,1.0,1e5,1E+16,1.7976931348623157e308,18446744073709551615,0.1]}"#,
        r#"{"s":"\u0000\u001f\n\t\"\\\/ü\u00fc🦀\ud83e\udd80","":"","a":1,"a":2}"#,
        "{}",
        r#"{"deep":[[[[[[[[{"x":[null,true,false]}]]]]]]]]}"#,
    ];
    let told = odd.map(|data| ("x.y", Some("a \"b\" \\ ü"), data));
    let first = decided(0, &told, ChainHash::origin(&run));
    let next = decided(4, &[("run.completed", None, "{}")], first[3].hash);
    journal.append(batch(&run, 0, first)).await.unwrap();
    journal.append(batch(&run, 4, next)).await.unwrap();
    let mut story = Story::begun("told");
    story.utility_turn(1, json!({}));
    story.agent_turn(1, "{\"a\": [1, \"\\n\"]}");
    story.completed();
    journal.append(story.whole()).await.unwrap();
    for run in [&story.run, &run] {
        let records = blocking(&journal).records(run, 0, 100).unwrap();
        assert_eq!(log(root.path(), run.as_str()), as_logged(records), "{run}");
    }
}

#[tokio::test]
async fn a_large_event_is_one_among_others() {
    let root = tempdir().unwrap();
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    let run = RunId::new("r");
    let large = json!({"output": "one line and \"another\"\n".repeat(100_000)}).to_string();
    assert!(large.len() > 1_000_000);
    let told = [("a.b", None, "{}"), ("c.d", Some("n"), large.as_str()), ("e.f", None, "[1]")];
    let mut records = decided(0, &told, ChainHash::origin(&run));
    records.extend(decided(3, &told, records[2].hash));
    journal.append(batch(&run, 0, records.clone())).await.unwrap();
    assert_eq!(blocking(&journal).records(&run, 0, 10).unwrap(), records);
    assert_eq!(blocking(&journal).records(&run, 2, 1).unwrap(), records[2..3]);
    assert_eq!(blocking(&journal).head(&run).unwrap().unwrap().hash, records[5].hash);
    assert_eq!(log(root.path(), "r"), as_logged(records));
}

#[tokio::test]
async fn a_decision_has_one_time() {
    let root = tempdir().unwrap();
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    let run = RunId::new("r");
    let event = |seq: u64, ts, wall| {
        let body = EventBody::parse("run.completed", "{}").unwrap();
        Event { seq, ts, wall, node: Some(NodeId::new("n")), body }
    };
    let wrong = [
        [event(1, 1, 1), event(2, 3, 1)],
        [event(1, 1, 1), event(2, 1, 1)],
        [event(1, 1, 1), event(2, 2, 2)],
    ];
    for events in wrong {
        let records = Record::seal_decision("{}".into(), &events, ChainHash::origin(&run));
        let refused = journal.append(batch(&run, 0, records)).await;
        assert!(matches!(refused, Err(AppendError::Storage(_))), "{refused:?}");
        assert!(blocking(&journal).head(&run).unwrap().is_none(), "nothing of it is there");
    }
    let events = [event(1, i64::MIN + 3, i64::MAX), event(2, i64::MIN + 4, i64::MAX)];
    let records = Record::seal_decision("{}".into(), &events, ChainHash::origin(&run));
    journal.append(batch(&run, 0, records.clone())).await.unwrap();
    assert_eq!(blocking(&journal).records(&run, 0, 10).unwrap(), records, "any time fits");
}

#[tokio::test]
async fn half_a_decision_is_refused() {
    let root = tempdir().unwrap();
    let journal = SqliteJournal::open(root.path(), Options::default()).unwrap();
    let run = RunId::new("r");
    let records = decisions(&run, 1, 4).concat();
    journal.append(batch(&run, 0, records[..2].to_vec())).await.unwrap();
    let refused = journal.append(batch(&run, 2, records[2..].to_vec())).await.unwrap_err();
    assert!(
        matches!(&refused, AppendError::Storage(what) if what.contains("event 3")),
        "{refused}"
    );
    assert_eq!(blocking(&journal).records(&run, 0, 10).unwrap(), records[..2]);
}
