//! Contract tests for a journal. Every implementation runs all of them.

#![expect(clippy::missing_panics_doc, clippy::expect_used, reason = "it is a test")]

use std::time::Duration;

use futures_util::StreamExt as _;
use materia_contract::{
    BlobFault, BlobHash, ChainHash, Command, CommandId, Do, Event, NodeId, PayloadConsumed, Record,
    RunAborted, RunId, derived_id,
};

use super::ending_contract;
use super::{
    Answer, AppendError, Batch, ClaimError, Cursor, Epoch, Journal, Lease, PAGE_BYTES, PostError,
    Posted, ReadError, Receipt, Snapshot, Tail, record_bytes,
};

/// How long a follower of a run may take to receive records that another handle has committed.
const HEARD_WITHIN: Duration = Duration::from_secs(5);

/// The records of one decision at places `after + 1 ..= after + count`, sealed behind `previous`.
#[must_use]
pub fn sample_records(run: &RunId, after: u64, count: u64, previous: ChainHash) -> Vec<Record> {
    let events: Vec<Event> = (after + 1..=after + count)
        .map(|seq| {
            let body = PayloadConsumed { payload_id: derived_id(run, seq) }.into();
            let ts = i64::try_from(seq).expect("small");
            let wall = i64::try_from(after).expect("small") + 1;
            Event { seq, ts, wall, node: Some(NodeId::new("a")), body }
        })
        .collect();
    let input = format!(r#"{{"at":{},"input":"idle"}}"#, after + 1);
    Record::seal_decision(input, &events, previous)
}

/// Decisions of two events each, one behind the other.
fn decisions(run: &RunId, count: u64) -> Vec<Vec<Record>> {
    let mut head = ChainHash::origin(run);
    let mut all = Vec::new();
    for nth in 0..count {
        let records = sample_records(run, 2 * nth, 2, head);
        head = records[1].hash;
        all.push(records);
    }
    all
}

fn batch(run: &RunId, after: u64, records: Vec<Record>) -> Batch {
    let epoch = Epoch::default();
    Batch { run: run.clone(), epoch, after, records: records.into(), receipt: None, verdict: None }
}

async fn all(journal: &dyn Journal, run: &RunId, after: u64) -> Vec<Record> {
    journal.read(run, after, usize::MAX).await.expect("read").records
}

/// Runs the whole suite against an empty journal. `other` is another handle on the same one, as another
/// process would have it.
pub async fn holds(journal: &dyn Journal, other: &dyn Journal) {
    lists_nothing_twice(journal).await;
    reads_what_was_appended(journal).await;
    reads_pages_by_their_bytes(journal).await;
    keeps_long_texts_apart(journal).await;
    refuses_a_stale_place(journal).await;
    keeps_runs_apart(journal).await;
    keeps_the_newest_snapshot(journal).await;
    lets_one_hold_a_run(journal, other).await;
    refuses_who_has_lost_the_run(journal, other).await;
    is_followed_without_gaps(journal, other).await;
    answers_each_command_once(journal).await;
    knows_a_command_by_its_id(journal).await;
    ending_contract::refuses_what_waits_when_it_ends(journal).await;
    ending_contract::gives_back_what_waits(journal).await;
}

async fn reads_what_was_appended(journal: &dyn Journal) {
    let run = RunId::new("read");
    assert!(journal.head(&run).await.expect("head").is_none(), "an unknown run has no head");
    let none = journal.read(&run, 0, 10).await.expect("read");
    assert!(none.records.is_empty() && none.end, "an unknown run has no records");
    let mut records = sample_records(&run, 0, 2, ChainHash::origin(&run));
    journal.append(batch(&run, 0, records.clone())).await.expect("first batch");
    let second = sample_records(&run, 2, 3, records[1].hash);
    journal.append(batch(&run, 2, second.clone())).await.expect("second batch");
    records.extend(second);
    assert!(records[0].input.is_some() && records[1].input.is_none());
    assert_eq!(all(journal, &run, 0).await, records);
    assert_eq!(all(journal, &run, 1).await, records[1..]);
    assert!(all(journal, &run, 5).await.is_empty());
    let head = journal.head(&run).await.expect("head").expect("the run is there");
    assert_eq!((head.seq, head.hash), (5, records[4].hash));
}

async fn reads_pages_by_their_bytes(journal: &dyn Journal) {
    let run = RunId::new("pages");
    let told = decisions(&run, 8);
    for (nth, records) in (0..).zip(&told) {
        journal.append(batch(&run, 2 * nth, records.clone())).await.expect("append");
    }
    let told = told.concat();
    let size = told.iter().map(record_bytes).max().expect("there are records");
    for limit in [0, 1, size, 3 * size, 5 * size, usize::MAX] {
        let (mut seen, mut pages) = (Vec::new(), 0);
        loop {
            let after = seen.len() as u64;
            let page = journal.read(&run, after, limit).await.expect("read");
            let bytes: usize = page.records.iter().map(record_bytes).sum();
            // It may go over by no more than the record with which it is full.
            let over = page.records.last().map_or(0, record_bytes);
            assert!(page.records.len() <= 1 || bytes - over < limit, "{bytes} of {limit}");
            assert!(!page.records.is_empty() || page.end, "a page that is not the end has records");
            seen.extend(page.records);
            pages += 1;
            if page.end {
                break;
            }
        }
        assert_eq!(seen, told, "pages of {limit} bytes");
        assert!(if limit <= size { pages >= 8 } else { pages <= 8 }, "{pages} pages of {limit}");
    }
}

async fn keeps_long_texts_apart(journal: &dyn Journal) {
    let run = RunId::new("apart");
    let text = "a long text\n".repeat(10_000);
    let reason = text.clone();
    let event = Event { seq: 1, ts: 1, wall: 1, node: None, body: RunAborted { reason }.into() };
    let (input, origin) = (r#"{"at":1,"input":"idle"}"#.to_owned(), ChainHash::origin(&run));
    let records = Record::seal_decision(input, std::slice::from_ref(&event), origin);
    assert!(records[0].data.len() < 1_000, "what is appended names the text");
    assert!(record_bytes(&records[0]) > text.len(), "a page counts it all the same");
    let fault = BlobFault::Missing(BlobHash::of(text.as_bytes()));
    let missing = Record { whole: Some(Err(fault)), ..records[0].clone() };
    journal.append(batch(&run, 0, records.clone())).await.expect("append");
    let read = all(journal, &run, 0).await;
    assert_eq!(read, [missing], "nobody has put the text there");
    assert!(read[0].event().is_err());
    journal.blobs().put(text.into_bytes()).await.expect("put");
    let read = all(journal, &run, 0).await;
    assert_eq!(read, records);
    assert_eq!(read[0].event().expect("it is whole"), event);
    let mut tail = journal.tail(&run, 0);
    let told = tail.next().await.expect("it goes on").expect("read");
    assert_eq!(told, records);
}

async fn refuses_a_stale_place(journal: &dyn Journal) {
    let run = RunId::new("stale");
    let records = sample_records(&run, 0, 2, ChainHash::origin(&run));
    journal.append(batch(&run, 0, records.clone())).await.expect("first");
    for after in [0, 1, 3] {
        let late = sample_records(&run, after, 1, records[1].hash);
        let error = journal.append(batch(&run, after, late)).await.expect_err("stale");
        assert!(
            matches!(&error, AppendError::Conflict { expected, actual: 2, .. } if *expected == after),
            "{error}"
        );
    }
    assert_eq!(all(journal, &run, 0).await, records, "a refusal changes nothing");
}

async fn keeps_runs_apart(journal: &dyn Journal) {
    let runs = [RunId::new("apart-1"), RunId::new("apart-2")];
    let records = runs.each_ref().map(|run| sample_records(run, 0, 3, ChainHash::origin(run)));
    let appends = (0..2).map(|n| journal.append(batch(&runs[n], 0, records[n].clone())));
    for result in futures_util::future::join_all(appends).await {
        result.expect("both fit");
    }
    for (run, records) in runs.iter().zip(&records) {
        assert_eq!(&all(journal, run, 0).await, records);
    }
}

async fn keeps_the_newest_snapshot(journal: &dyn Journal) {
    // It may be absent: then there is nothing to hold it to.
    let Some(cache) = journal.snapshots() else { return };
    let run = RunId::new("snapshot");
    assert!(cache.newest(&run).await.expect("snapshot").is_none());
    assert!(cache.chapters(&run).await.expect("chapters").is_empty());
    let mut head = ChainHash::origin(&run);
    for after in 0..3 {
        let records = sample_records(&run, after, 1, head);
        head = records[0].hash;
        let snapshot = Snapshot {
            seq: after + 1,
            hash: head,
            version: "v".into(),
            bytes: vec![1, 2],
            chapter: vec![u8::try_from(after).expect("small")],
        };
        cache.keep(&run, snapshot.clone()).await;
        journal.append(batch(&run, after, records)).await.expect("append");
        assert_eq!(cache.newest(&run).await.expect("snapshot"), Some(snapshot));
    }
    let chapters = cache.chapters(&run).await.expect("chapters").into_iter();
    let told: Vec<(u64, Vec<u8>)> = chapters.map(|one| (one.seq, one.bytes)).collect();
    assert_eq!(told, [(1, vec![0]), (2, vec![1]), (3, vec![2])], "every chapter is kept");
}

async fn claim(journal: &dyn Journal, run: &RunId) -> Lease {
    journal.claim(run).await.expect("nobody holds it")
}

async fn lets_one_hold_a_run(journal: &dyn Journal, other: &dyn Journal) {
    let run = RunId::new("claim");
    assert!(!journal.is_driven(&run).await.expect("look"));
    let first = claim(journal, &run).await;
    for handle in [journal, other] {
        let refused = handle.claim(&run).await;
        assert!(matches!(refused, Err(ClaimError::Held { .. })), "one holder at a time");
        assert!(handle.is_driven(&run).await.expect("look"));
    }
    let elsewhere = claim(journal, &RunId::new("claim-2")).await;
    drop(first);
    assert!(!other.is_driven(&run).await.expect("look"), "it was given up");
    drop((claim(other, &run).await, elsewhere));
}

async fn refuses_who_has_lost_the_run(journal: &dyn Journal, other: &dyn Journal) {
    let run = RunId::new("fence");
    let told = decisions(&run, 3);
    let under = |epoch, nth: u64| {
        let place = usize::try_from(nth).expect("small");
        Batch { epoch, ..batch(&run, 2 * nth, told[place].clone()) }
    };
    let lost = claim(journal, &run).await;
    let old = lost.epoch();
    assert!(old > Epoch::default(), "0 stands for no lease");
    journal.append(under(old, 0)).await.expect("it holds the run");
    drop(lost);
    // This is the same as a lost lease: another process holds the run, and the old holder does not know.
    let lease = claim(other, &run).await;
    let new = lease.epoch();
    assert!(new > old, "each lease has a higher epoch");
    let stop = Command::person(Do::Stop { message: None });
    let command = journal.post(&run, &stop).await.expect("post").id;
    let answer = Answer::Done { first: 3, last: 2 };
    let receipt = Some(Receipt { command, body: None, answer });
    let late = [
        under(old, 1),
        under(Epoch::default(), 1),
        under(Epoch(new.0 + 1), 1),
        Batch { epoch: old, receipt: receipt.clone(), ..batch(&run, 2, Vec::new()) },
    ];
    for late in late {
        for handle in [journal, other] {
            let epoch = late.epoch;
            let refused = handle.append(late.clone()).await;
            assert!(
                matches!(&refused, Err(AppendError::Fenced { epoch: of, newest, .. }) if *of == epoch && *newest == new),
                "{refused:?}"
            );
        }
    }
    assert_eq!(all(journal, &run, 0).await, told[0], "nothing of it was written");
    assert_eq!(journal.commands(&run).await.expect("look").len(), 1, "nor was anything answered");
    other.append(under(new, 1)).await.expect("the new holder goes on");
    drop(lease);
    other.append(under(new, 2)).await.expect("nobody has claimed it since");
    assert_eq!(all(journal, &run, 0).await, told.concat());
    let done = Batch { epoch: new, receipt, ..batch(&run, 6, Vec::new()) };
    other.append(done).await.expect("the command is answered");
}

/// The next records of a tail. Call it at most once a page, because a tail may return many at once.
async fn heard(tail: &mut Tail) -> Vec<Record> {
    let next = tokio::time::timeout(HEARD_WITHIN, tail.next()).await;
    next.expect("it is heard of soon").expect("a tail does not end").expect("it can be read")
}

async fn is_followed_without_gaps(journal: &dyn Journal, other: &dyn Journal) {
    let run = RunId::new("tail");
    let told = decisions(&run, 60);
    let mut tails = [journal.tail(&run, 0), other.tail(&run, 0), journal.tail(&run, 7)];
    // Handles take turns, as processes do that claim the run one after the other.
    let append = async {
        for (nth, records) in (0..).zip(&told) {
            let handle = if nth / 10 % 2 == 0 { journal } else { other };
            let lease = claim(handle, &run).await;
            let batch = Batch { epoch: lease.epoch(), ..batch(&run, 2 * nth, records.clone()) };
            handle.append(batch).await.expect("append");
            tokio::task::yield_now().await;
        }
    };
    let count = told.len() * 2;
    let follow = futures_util::future::join_all(tails.iter_mut().zip([0, 0, 7]).map(
        |(tail, after)| async move {
            let mut seen = Vec::new();
            while seen.len() + after < count {
                let page = heard(tail).await;
                assert!(!page.is_empty(), "nobody is woken for nothing");
                seen.extend(page);
            }
            seen
        },
    ));
    let ((), seen) = tokio::join!(append, follow);
    let told = told.concat();
    for (seen, after) in seen.iter().zip([0, 0, 7]) {
        assert_eq!(seen[..], told[after..], "every record once, in order");
    }
    let quiet = tokio::time::timeout(Duration::from_millis(100), tails[0].next()).await;
    assert!(quiet.is_err(), "there is no more");
}

async fn answers_each_command_once(journal: &dyn Journal) {
    let run = RunId::new("inbox");
    let look = async || journal.commands(&run).await.expect("look");
    let receipt_of = async |id: &CommandId| journal.receipt(&run, id).await.expect("receipt");
    assert!(look().await.is_empty());
    let abort = Do::Abort { reason: Some("enough".into()) };
    let asked = [Do::Stop { message: None }, abort].map(Command::person);
    let mut ids = Vec::new();
    for command in &asked {
        ids.push(journal.post(&run, command).await.expect("post").id);
    }
    let waiting = |from: usize| -> Vec<Posted> {
        let posted = ids.iter().zip(&asked).skip(from);
        posted.map(|(id, it)| Command { id: Some(id.clone()), ..it.clone() }.into()).collect()
    };
    assert_eq!(look().await, waiting(0));
    assert_eq!(look().await, waiting(0), "looking takes nothing away");
    assert_eq!(journal.addressed().await.expect("look"), std::slice::from_ref(&run));
    assert_eq!(receipt_of(&ids[0]).await, None, "it waits");
    // The first is carried out: its events and its receipt are one commit.
    let records = sample_records(&run, 0, 2, ChainHash::origin(&run));
    let receipt = |nth: usize, answer: Answer| {
        let (command, body) = (ids[nth].clone(), Some(asked[nth].body_hash()));
        Receipt { command, body, answer }
    };
    let done = receipt(0, Answer::Done { first: 1, last: 2 });
    let stale = Batch { receipt: Some(done.clone()), ..batch(&run, 1, records.clone()) };
    journal.append(stale).await.expect_err("a stale place");
    assert_eq!(look().await, waiting(0), "what was refused answers nothing");
    let first = Batch { receipt: Some(done.clone()), ..batch(&run, 0, records) };
    journal.append(first).await.expect("append");
    assert_eq!(look().await, waiting(1));
    assert_eq!(receipt_of(&ids[0]).await, Some(done));
    // The second is refused: a receipt alone.
    let refused = receipt(1, Answer::Refused { reason: "it has ended".into() });
    let alone = Batch { receipt: Some(refused.clone()), ..batch(&run, 2, Vec::new()) };
    journal.append(alone.clone()).await.expect("append");
    assert!(look().await.is_empty());
    assert!(journal.addressed().await.expect("look").is_empty());
    assert_eq!(receipt_of(&ids[1]).await, Some(refused));
    journal.append(alone).await.expect_err("it was answered");
    let other = RunId::new("another");
    let of_another = journal.receipt(&other, &ids[1]).await.expect("receipt");
    assert_eq!(of_another, None, "of its own run only");
}

async fn knows_a_command_by_its_id(journal: &dyn Journal) {
    let run = RunId::new("ids");
    let id = CommandId::parse("mine").expect("an id");
    let named = |what: Do| Command { id: Some(id.clone()), ..Command::person(what) };
    let (asked, other) = (named(Do::Pause), named(Do::Revive));
    for _ in 0..2 {
        let posting = journal.post(&run, &asked).await.expect("post");
        assert_eq!((posting.id, posting.receipt), (id.clone(), None));
    }
    let waiting = journal.commands(&run).await.expect("look");
    assert_eq!(waiting, [asked.clone().into()], "it waits once");
    let elsewhere = RunId::new("ids-2");
    let elsewhere = journal.post(&elsewhere, &other).await.expect("another run, another inbox");
    assert_eq!(elsewhere.receipt, None);
    let refused = journal.post(&run, &other).await.expect_err("one id means one command");
    assert!(matches!(refused, PostError::OtherBody(_)), "{refused}");
    let answer = Answer::Refused { reason: "no".into() };
    let receipt = Receipt { command: id.clone(), body: Some(asked.body_hash()), answer };
    let alone = Batch { receipt: Some(receipt.clone()), ..batch(&run, 0, Vec::new()) };
    journal.append(alone).await.expect("append");
    let again = journal.post(&run, &asked).await.expect("post");
    assert_eq!(again.receipt, Some(receipt), "whoever asks again hears the same");
    journal.post(&run, &other).await.expect_err("and still one id means one command");
    assert!(journal.commands(&run).await.expect("look").is_empty());
    // A command that was never in the inbox is known by its id as well.
    let here = CommandId::parse("here").expect("an id");
    let body = Some(asked.body_hash());
    let answer = Answer::Done { first: 1, last: 0 };
    let receipt = Receipt { command: here.clone(), body, answer };
    let alone = Batch { receipt: Some(receipt.clone()), ..batch(&run, 0, Vec::new()) };
    journal.append(alone).await.expect("append");
    let sent = Command { id: Some(here), ..asked };
    assert_eq!(journal.post(&run, &sent).await.expect("post").receipt, Some(receipt));
}

/// The beginning of a run as a list shows it.
fn created(run: &RunId) -> Vec<Record> {
    let data = format!(
        r#"{{"request":"{run}","planHash":"0","cwd":"/p","runDir":"/p/r","pace":"AUTO","globalMode":"IMPLEMENTATION","journalVersion":5,
        "plan":{{"loadout":"L","entry":"a","docRoot":"docs","limits":{{"maxRepairs":1,"maxNoAdvanceCycles":3,"maxConcurrentTurns":64}},"nodes":{{}}}}}}"#
    );
    let body = materia_contract::EventBody::parse("run.created", &data).expect("it can be read");
    let event = Event { seq: 1, ts: 1, wall: 1, node: None, body };
    let input = r#"{"at":1,"rules":5,"input":{"create":{}}}"#.to_owned();
    Record::seal_decision(input, &[event], ChainHash::origin(run))
}

/// Needs an empty journal: runs without a beginning cannot be listed.
async fn lists_nothing_twice(journal: &dyn Journal) {
    let runs: Vec<RunId> = (0..12).map(|nth| RunId::new(format!("list-{nth:02}"))).collect();
    for run in &runs {
        journal.append(batch(run, 0, created(run))).await.expect("append");
    }
    let one = journal.line(&runs[3]).await.expect("line").expect("it is listed");
    assert_eq!((one.cast_id, one.request.as_str()), (runs[3].clone(), "list-03"));
    assert!(journal.line(&RunId::new("nobody")).await.expect("line").is_none());
    for bytes in [1, 700, PAGE_BYTES] {
        let late = RunId::new(format!("late-{bytes}"));
        let (mut seen, mut pages, mut cursor): (Vec<RunId>, usize, Option<Cursor>) =
            (Vec::new(), 0, None);
        while seen.len() < runs.len() {
            let page = journal.runs(cursor.as_ref(), bytes).await.expect("a page");
            assert!(!page.lines.is_empty(), "a page has at least one line");
            let listed = page.lines.into_iter().map(|line| line.cast_id);
            seen.extend(listed.filter(|id| id.as_str().starts_with("list-")));
            pages += 1;
            if pages == 1 {
                // One that begins meanwhile is in front of all of them and moves nothing.
                journal.append(batch(&late, 0, created(&late))).await.expect("append");
            }
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        let newest_first: Vec<RunId> = runs.iter().rev().cloned().collect();
        assert_eq!(seen, newest_first, "pages of {bytes} bytes");
        assert!(bytes > 1 || pages >= runs.len(), "a small page has one line");
    }
    let nonsense = journal.runs(Some(&Cursor("nonsense".into())), 1).await;
    assert!(matches!(nonsense, Err(ReadError::NoSuchPlace)), "{nonsense:?}");
}
