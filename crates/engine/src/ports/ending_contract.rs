//! Contract tests for runs that end.

#![expect(clippy::expect_used, reason = "it is a test")]

use materia_contract::{
    ChainHash, Command, CommandId, Do, Event, Record, RunAborted, RunId, RunResumed,
};

use super::{Answer, Batch, Epoch, Journal, Receipt};

fn named(id: &str, what: Do) -> Command {
    Command { id: CommandId::parse(id).ok(), ..Command::person(what) }
}

/// A batch of one event.
fn batch(run: &RunId, after: u64, head: &mut ChainHash, event: Event) -> Batch {
    let input = r#"{"at":1,"input":"idle"}"#.to_owned();
    let records = Record::seal_decision(input, &[event], *head);
    *head = records[0].hash;
    let epoch = Epoch::default();
    Batch { run: run.clone(), epoch, after, records: records.into(), receipt: None, verdict: None }
}

fn at(seq: u64, body: impl Into<materia_contract::EventBody>) -> Event {
    let ts = i64::try_from(seq).expect("small");
    Event { seq, ts, wall: ts, node: None, body: body.into() }
}

/// A run that ends refuses what waits for it, in the commit of its end, and from then on at once.
pub(super) async fn refuses_what_waits_when_it_ends(journal: &dyn Journal) {
    let (run, other) = (RunId::new("ends"), RunId::new("goes-on"));
    let mut head = ChainHash::origin(&run);
    let refused = |reason: &Receipt| matches!(&reason.answer, Answer::Refused { reason } if reason.contains("it is aborted"));
    let waiting = [named("a", Do::Pause), Command::person(Do::Pause), named("r", Do::Recast)];
    let mut ids = Vec::new();
    for command in &waiting {
        ids.push(journal.post(&run, command).await.expect("post").id);
    }
    let abort = journal.post(&run, &named("z", Do::Abort { reason: None })).await.expect("post").id;
    journal.post(&other, &named("a", Do::Pause)).await.expect("post");
    let answer = Answer::Done { first: 1, last: 1 };
    let receipt = Some(Receipt { command: abort.clone(), body: None, answer: answer.clone() });
    let end = batch(&run, 0, &mut head, at(1, RunAborted { reason: "enough".into() }));
    journal.append(Batch { receipt, ..end }).await.expect("append");
    for (id, command) in ids.iter().zip(&waiting) {
        let receipt = journal.receipt(&run, id).await.expect("look").expect("it was answered");
        assert!(refused(&receipt), "{id}: {receipt:?}");
        assert_eq!(receipt.body, Some(command.body_hash()), "{id}");
    }
    let done = journal.receipt(&run, &abort).await.expect("look").expect("it was answered");
    assert_eq!(done.answer, answer, "what ended it was carried out");
    assert!(journal.commands(&run).await.expect("look").is_empty());
    assert_eq!(journal.commands(&other).await.expect("look").len(), 1, "of its own run only");
    // Behind the end.
    for command in [named("b", Do::Pause), Command::person(Do::Pause)] {
        let posting = journal.post(&run, &command).await.expect("post");
        let receipt = posting.receipt.expect("it is refused at once");
        assert!(refused(&receipt), "{receipt:?}");
        assert_eq!(journal.receipt(&run, &posting.id).await.expect("look"), Some(receipt));
    }
    let again = journal.post(&run, &named("b", Do::Pause)).await.expect("post");
    assert!(again.receipt.is_some_and(|receipt| refused(&receipt)), "and again");
    let revives = journal.post(&run, &named("v", Do::Revive)).await.expect("post");
    assert_eq!(revives.receipt, None, "that could set it going again");
    // Once it goes on, it listens again.
    let resumed = RunResumed {
        cwd: "{workspace}".into(),
        run_dir: "{runDir}".into(),
        recast: true,
        files: None,
        put_back: false,
    };
    journal.append(batch(&run, 1, &mut head, at(2, resumed))).await.expect("append");
    let posting = journal.post(&run, &named("c", Do::Pause)).await.expect("post");
    assert_eq!(posting.receipt, None);
    assert_eq!(journal.commands(&run).await.expect("look").len(), 2);
}

/// Only the holder of the newest lease can withdraw a waiting command, and only once.
pub(super) async fn gives_back_what_waits(journal: &dyn Journal) {
    let run = RunId::new("taken-back");
    let first = journal.claim(&run).await.expect("claim").epoch();
    let lease = journal.claim(&run).await.expect("claim");
    let named = journal.post(&run, &named("a", Do::Pause)).await.expect("post").id;
    let numbered = journal.post(&run, &Command::person(Do::Pause)).await.expect("post").id;
    let withdraw = async |epoch, id| journal.withdraw(&run, epoch, id).await.expect("withdraw");
    for id in [&named, &numbered] {
        assert!(!withdraw(first, id).await, "the lease before is over");
        assert!(withdraw(lease.epoch(), id).await, "{id}");
        assert!(!withdraw(lease.epoch(), id).await, "{id} waits no longer");
        assert_eq!(journal.receipt(&run, id).await.expect("look"), None);
    }
    assert!(journal.commands(&run).await.expect("look").is_empty());
}
