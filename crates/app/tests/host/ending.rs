//! Casts that end, or come to rest, while commands arrive: each command is taken or refused, and its sender hears which.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use materia_app::cast::host::{Host, Submitted};
use materia_contract::{
    Actor, Answer, CastStatus, Command, CommandId, Do, GlobalMode, NodeBudgets, NodeId, Pace, RunId,
};
use materia_engine::{Journal as _, blocking, load};
use materia_journal::SqliteJournal;

use crate::{PATIENCE, host, row, setting};

/// How many of them are under way at a time.
const AT_ONCE: usize = 8;

fn casts() -> usize {
    if std::env::var_os("MATERIA_LONG").is_some() { 2_000 } else { 80 }
}

/// Everything that people can ask of a cast that another process drives (D59), and a little that is refused.
fn asked(nth: usize) -> Do {
    let node = || Some(NodeId::new("last"));
    match nth % 10 {
        0 | 5 => Do::Say { node: node(), text: "hello".into() },
        1 => Do::Mode { value: Pace::Auto },
        2 => Do::Pause,
        3 => Do::Budget { budget: materia_contract::Budget::default() },
        4 => Do::GlobalMode { value: GlobalMode::Planning },
        6 => Do::approve(NodeId::new("last")),
        7 => Do::deny(NodeId::new("last")),
        8 => Do::Continue { node: None },
        _ => Do::NodeBudget { node: NodeId::new("last"), budgets: NodeBudgets::default() },
    }
}

/// Sends commands to a cast, one behind the other, from before its end until well behind it. Gives what became of each.
async fn pester(sender: Host, id: RunId, from: usize) -> Vec<(CommandId, Submitted)> {
    let mut heard = Vec::new();
    // Nobody asks anything of a cast that is not there.
    sender.follow(&id, 0).next().await.unwrap().unwrap();
    for nth in 0..6 {
        let name = CommandId::parse(&format!("k{from}-{nth}")).unwrap();
        let command = Command {
            id: Some(name.clone()),
            actor: Actor::named("test"),
            expected_seq: None,
            what: asked(from + nth),
        };
        heard.push((name, sender.submit(&id, &command, PATIENCE).await.unwrap()));
        tokio::time::sleep(Duration::from_millis((from as u64 * 7 + nth as u64) % 4)).await;
    }
    heard
}

#[expect(clippy::print_stderr, reason = "whoever asks for more casts wants the figures")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_arrives_while_a_cast_ends_is_answered_once_and_its_sender_hears() {
    let root = tempfile::tempdir().unwrap();
    // Two handles, as two processes have them: one drives, one sends.
    let ((driver, _), (sender, journal)) = (host(root.path()), host(root.path()));
    let (mut taken, mut refused, mut undriven) = (0, 0, 0);
    let all: Vec<usize> = (0..casts()).collect();
    for group in all.chunks(AT_ONCE) {
        let under_way: Vec<_> = group
            .iter()
            .map(|nth| {
                let id = RunId::new(format!("run-{nth}"));
                // Some are long, so that commands come before, at and behind the end.
                let names: Vec<String> = (0..2 + nth % 17).map(|node| format!("n{node}")).collect();
                let nodes: Vec<&str> = names.iter().map(String::as_str).chain(["last"]).collect();
                let run = driver.begin(id.clone(), row(&nodes), setting(&id, &nodes));
                (id.clone(), run, tokio::spawn(pester(sender.clone(), id, *nth)))
            })
            .collect();
        for (id, run, pestering) in under_way {
            let heard = pestering.await.unwrap();
            run.rested().await.unwrap();
            for (name, submitted) in heard {
                let receipt = journal.receipt(&id, &name).await.unwrap();
                match submitted {
                    Submitted::Answered(answer) => {
                        match &answer.answer {
                            Answer::Done { .. } => taken += 1,
                            Answer::Refused { .. } => refused += 1,
                        }
                        assert_eq!(receipt, Some(answer), "{id} {name}: what was heard is kept");
                    }
                    // It waits for a person: the sender was told to do it himself, and left nothing.
                    Submitted::Undriven => {
                        undriven += 1;
                        assert_eq!(receipt, None, "{id} {name}");
                    }
                    Submitted::Waits(_) => panic!("{id}: nobody answered {name}"),
                }
            }
            assert!(journal.commands(&id).await.unwrap().is_empty(), "{id}: nothing is left over");
        }
    }
    eprintln!(
        "{} casts: {taken} taken, {refused} refused, {undriven} told that nobody drives it",
        all.len()
    );
    assert!(taken > 0 && refused > 0, "{taken} taken, {refused} refused");
    assert!(journal.addressed().await.unwrap().is_empty());
}

/// A cast that has ended refuses at once what is asked of it, by whichever way; what could set it going again is left.
#[tokio::test]
async fn what_is_asked_of_a_cast_that_has_ended_is_refused_at_once() {
    let root = tempfile::tempdir().unwrap();
    let (host, journal) = host(root.path());
    let (id, nodes) = (RunId::new("r"), ["work", "last"]);
    host.begin(id.clone(), row(&nodes), setting(&id, &nodes)).rested().await.unwrap();
    assert_eq!(load(&*journal, &id).unwrap().0.phase().status(), CastStatus::Completed);
    // Somebody still holds it.
    let lease = journal.claim(&id).await.unwrap();
    for nth in 0..10 {
        let what = asked(nth);
        let posting = journal.post(&id, &Command::person(what.clone())).await.unwrap();
        let receipt = posting.receipt.unwrap_or_else(|| panic!("{what:?} waits"));
        let Answer::Refused { reason } = &receipt.answer else { panic!("{receipt:?}") };
        assert_eq!(reason, "the cast has ended: it is completed");
        assert_eq!(journal.receipt(&id, &posting.id).await.unwrap(), Some(receipt));
    }
    assert!(journal.commands(&id).await.unwrap().is_empty());
    for what in [Do::Recast, Do::Revive] {
        let posting = journal.post(&id, &Command::person(what)).await.unwrap();
        assert_eq!(posting.receipt, None);
        assert!(journal.withdraw(&id, lease.epoch(), &posting.id).await.unwrap());
    }
}

/// Whoever is killed while he drives takes no command with him: it waits, or its sender hears that nobody drives the cast.
#[tokio::test]
async fn a_sender_hears_that_whoever_drove_the_cast_is_gone() {
    let root = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(root.path(), materia_journal::Options::default()).unwrap();
    let journal = Arc::new(journal);
    let (sender, _) = host(root.path());
    let (id, nodes) = (RunId::new("r"), ["work", "asked"]);
    let (driver, _) = host(root.path());
    driver.begin(id.clone(), row(&nodes), setting(&id, &nodes)).rested().await.unwrap();
    let lease = journal.claim(&id).await.unwrap();
    let (asking, run) = (sender.clone(), id.clone());
    let command = Command::person(Do::Say { node: Some(NodeId::new("asked")), text: "x".into() });
    let heard = tokio::spawn(async move { asking.submit(&run, &command, PATIENCE).await.unwrap() });
    while blocking(&*journal).commands(&id).unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // It goes without a look at what waits.
    drop(lease);
    assert_eq!(heard.await.unwrap(), Submitted::Undriven);
    assert!(blocking(&*journal).commands(&id).unwrap().is_empty());
}
