//! The decision is the unit of the journal: replayed, forked and answered as a whole.

use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use materia_contract::{
    ChainHash, Command, CommandId, Condition, Decided, Delivery, DeliveryMode, Do, EventBody,
    Folders, Node, NodeId, Pace, Parse, Record, Routing, RunCreated, RunId,
};
use materia_engine::{
    Answer, Batch, Clock, EngineError, Epoch, Journal, MemoryJournal, NoObserver, Options,
    ReplayError, World, blocking, carry_on, cast, fork, load, load_to_drive, replay, report,
    resume,
};
use materia_kernel::Phase;

use crate::story::{Counter, counting, edge, fan_out, of, quiet, stop, utility, world};

fn id() -> RunId {
    RunId::new("r")
}

fn text(node: Node) -> Node {
    Node { parse: Parse::Text, ..node }
}

/// Lets a run go on for a moment, then stops it.
async fn stopped(world: &World, created: RunCreated, after: Duration) -> Phase {
    let (sender, mut asks) = tokio::sync::mpsc::unbounded_channel();
    let later = async move {
        tokio::time::sleep(after).await;
        sender.send(stop("enough for now").into()).unwrap();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        phase = cast(world, id(), created, Options::default(), &mut asks) => phase.unwrap(),
        () = later => unreachable!("it never ends"),
    }
}

/// `a` starts so many others at once.
fn wide(count: usize) -> RunCreated {
    let names: Vec<String> = (0..count).map(|nth| format!("n{nth}")).collect();
    let edges = names.iter().map(|to| edge("a", Condition::Always, to, None)).collect();
    let mut nodes: IndexMap<NodeId, Node> = IndexMap::new();
    nodes.insert(NodeId::new("a"), text(Node { routing: Routing::All, ..utility(edges) }));
    for name in &names {
        nodes.insert(NodeId::new(name), text(utility(Vec::new())));
    }
    let mut created = of(nodes, "a");
    created.plan.limits.max_concurrent_turns = u32::MAX;
    created.plan_hash = created.plan.hash();
    created
}

#[tokio::test(start_paused = true)]
async fn fifteen_hundred_turns_interrupted_at_once_replay_and_fork() {
    let journal = MemoryJournal::default();
    let slow = Counter { delay: Duration::from_secs(10), ..Counter::default() };
    let world = world(Arc::new(journal.clone()), &slow);
    let phase = stopped(&world, wide(1_500), Duration::from_secs(15)).await;
    assert!(matches!(phase, Phase::Waiting(_)), "{phase:?}");
    let records = blocking(&journal).records(&id(), 0, 100_000).unwrap();
    let interrupted = records.iter().filter(|record| record.kind == "turn.interrupted").count();
    assert_eq!(interrupted, 1_500);
    let whole = replay(&journal, &id(), None).unwrap();
    assert_eq!(whole.events, records.len() as u64);
    // In the middle of the interruptions: the fork has all of them.
    let middle = records.len() as u64 - 700;
    fork(Arc::new(journal.clone()), &id(), middle, &RunId::new("copy"), Epoch::default())
        .await
        .unwrap();
    assert_eq!(replay(&journal, &RunId::new("copy"), None).unwrap().events, whole.events);
    let phase = resume(&world, &id(), Options::default(), &mut quiet()).await.unwrap();
    assert_eq!(phase, Phase::Completed);
    replay(&journal, &id(), None).unwrap();
}

/// A clock that shows another time from one process to the next.
struct Shows(tokio::time::Instant, Duration);

impl Clock for Shows {
    fn now(&self) -> i64 {
        i64::try_from((self.1 + self.0.elapsed()).as_micros()).unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_was_set_back_while_nobody_drove_the_run_starves_no_timer() {
    let mut way = edge("a", Condition::Always, "b", None);
    way.delivery = Delivery { debounce_ms: Some(60_000), ..Delivery::of(DeliveryMode::Debounce) };
    let nodes = [("a", text(utility(vec![way]))), ("b", text(utility(Vec::new())))];
    let created = of(nodes.into_iter().map(|(id, it)| (NodeId::new(id), it)).collect(), "a");
    let journal = MemoryJournal::default();
    let begun = tokio::time::Instant::now();
    let showing = |hours: u64| World {
        clock: Arc::new(Shows(begun, Duration::from_hours(hours))),
        ..world(Arc::new(journal.clone()), &Counter::default())
    };
    let phase = stopped(&showing(10), created, Duration::from_secs(20)).await;
    assert!(matches!(phase, Phase::Waiting(_)), "{phase:?}");
    // Five hours back: the run's own time goes on from its last event.
    let before = tokio::time::Instant::now();
    let world = showing(5);
    let phase = resume(&world, &id(), Options::default(), &mut quiet()).await.unwrap();
    assert_eq!(phase, Phase::Completed);
    let waited = before.elapsed();
    assert!(waited >= Duration::from_secs(39), "the rest of the quiet period: {waited:?}");
    assert!(waited < Duration::from_secs(62), "and no more: {waited:?}");
    replay(&journal, &id(), None).unwrap();
    let records = blocking(&journal).records(&id(), 0, 100).unwrap();
    assert!(records.is_sorted_by(|one, next| one.ts < next.ts), "time goes forward");
    let last = records.last().unwrap();
    let hours = |micros: i64| Duration::from_micros(micros.unsigned_abs()).as_secs() / 3_600;
    assert_eq!(
        (hours(last.ts), hours(last.wall)),
        (10, 5),
        "what the clock showed is noted beside it"
    );
}

/// A run with people in it: told to go slower, asked for a turn, stopped, carried on.
pub(crate) async fn lively() -> MemoryJournal {
    let journal = MemoryJournal::default();
    let slow = Counter { delay: Duration::from_secs(1), ..Counter::default() };
    let world = world(Arc::new(journal.clone()), &slow);
    stopped(&world, fan_out(), Duration::from_millis(1_500)).await;
    for what in [
        Do::Mode { value: Pace::Interactive },
        Do::trigger(NodeId::new("b"), Some("by hand".into())),
        Do::Say { node: Some(NodeId::new("c")), text: "and this".into() },
        Do::Resume { pace: Some(Pace::Auto) },
    ] {
        let (options, command) = (Options::default(), Command::person(what));
        let claim = blocking(&journal).claim(&id()).unwrap();
        let loaded = load_to_drive(&journal, &id()).unwrap();
        carry_on(&world, claim, loaded, command, options, &mut quiet()).await.unwrap();
    }
    journal
}

#[tokio::test(start_paused = true)]
async fn a_fork_at_any_event_replays_goes_on_and_replays_again() {
    let journal = lively().await;
    let whole = replay(&journal, &id(), None).unwrap();
    let world = world(Arc::new(journal.clone()), &Counter::default());
    let original = blocking(&journal).records(&id(), 0, 10_000).unwrap();
    let starts = |records: &[Record]| -> Vec<u64> {
        let started = records.iter().filter(|record| record.kind == "turn.started");
        started.map(|record| record.seq).collect()
    };
    for at in 1..=whole.events {
        let copy = RunId::new(format!("fork-{at}"));
        fork(Arc::new(journal.clone()), &id(), at, &copy, Epoch::default()).await.unwrap();
        let begun = replay(&journal, &copy, None).unwrap();
        assert!(begun.events >= at, "it shares all that is asked for");
        let shared = blocking(&journal).records(&copy, 0, 10_000).unwrap();
        for (one, other) in original.iter().zip(&shared).take(usize::try_from(at).unwrap()).skip(1)
        {
            assert_eq!((&one.kind, &one.data, one.ts), (&other.kind, &other.data, other.ts));
        }
        // What begins to start is started; nothing is started that stands behind.
        let last = starts(&shared).last().copied().unwrap_or(0);
        let begins =
            at > 1 && original[usize::try_from(at).unwrap() - 1].kind == "payload.consumed";
        assert!(last <= at || begins, "at {at} the turn at {last} has started");
        let (run, _) = load(&journal, &copy).unwrap();
        if matches!(run.phase(), Phase::Running | Phase::Waiting(_)) {
            resume(&world, &copy, Options::default(), &mut quiet()).await.unwrap();
        }
        let replayed = replay(&journal, &copy, None);
        assert!(replayed.is_ok(), "at {at}: {}", replayed.unwrap_err());
        // A fork of the fork, in the part that it has written itself.
        let last = replayed.unwrap().events;
        let again = RunId::new(format!("fork-{at}-again"));
        fork(Arc::new(journal.clone()), &copy, last, &again, Epoch::default()).await.unwrap();
        let replayed = replay(&journal, &again, None);
        assert!(replayed.is_ok(), "again at {at}: {}", replayed.unwrap_err());
    }
}

/// A command that is durable before its receipt is carried out once, or refused with a reason (D57, within one
/// process).
#[tokio::test]
async fn every_command_has_its_receipt_and_takes_effect_once() {
    let journal = MemoryJournal::default();
    let world = world(Arc::new(journal.clone()), &Counter::default());
    let created = RunCreated { pace: Pace::Interactive, ..counting() };
    // Left before the run began: one that fits, one that does not, one that changes nothing.
    let node = NodeId::new("nobody");
    let posted = [
        Do::Say { node: Some(NodeId::new("last")), text: "hello".into() },
        Do::trigger(node, None),
        Do::Mode { value: Pace::Interactive },
        Do::Mode { value: Pace::Auto },
    ]
    .map(Command::person);
    let ids = posted.each_ref().map(|command| blocking(&journal).post(&id(), command).unwrap().id);
    let phase = cast(&world, id(), created, Options::default(), &mut quiet()).await.unwrap();
    assert_eq!(phase, Phase::Completed);
    let answer = |nth: usize| blocking(&journal).receipt(&id(), &ids[nth]).unwrap().unwrap().answer;
    let records = blocking(&journal).records(&id(), 0, 10_000).unwrap();
    let of_command = |command: &CommandId| -> Vec<u64> {
        let rests_on = |record: &&Record| {
            let decided = record.input.as_deref().map(|input| Decided::read(input).unwrap());
            decided.is_some_and(|decided| decided.command.as_ref() == Some(command))
        };
        records.iter().filter(rests_on).map(|record| record.seq).collect()
    };
    let Answer::Done { first, last } = answer(0) else { panic!("{:?}", answer(0)) };
    assert_eq!(of_command(&ids[0]), [first], "one decision carries it out");
    assert!(
        records[usize::try_from(first).unwrap() - 1..]
            .iter()
            .any(|it| it.kind == "message.received")
    );
    assert!(last >= first);
    let Answer::Refused { reason } = answer(1) else { panic!("{:?}", answer(1)) };
    assert!(reason.contains("nobody"), "{reason}");
    assert_eq!(of_command(&ids[1]), [0_u64; 0], "what is refused decides nothing");
    assert!(matches!(answer(3), Answer::Done { .. }));
    assert!(blocking(&journal).commands(&id()).unwrap().is_empty());
    replay(&journal, &id(), None).unwrap();
}

/// A forgery of a journal: its name, and the change.
type Forgery = (&'static str, fn(&mut Vec<Record>));

#[tokio::test(start_paused = true)]
async fn forged_journals_are_refused() {
    let journal = lively().await;
    let records = blocking(&journal).records(&id(), 0, 10_000).unwrap();
    let forged = |change: fn(&mut Vec<Record>)| {
        let mut records = records.clone();
        change(&mut records);
        let mut head = ChainHash::origin(&id());
        for record in &mut records {
            record.hash = record.hash_after(head);
            head = record.hash;
        }
        records
    };
    let changes: [Forgery; 5] = [
        ("asked for after the end", |records| {
            let mut asked = records.iter().find(|it| it.kind == "turn.requested").unwrap().clone();
            let begun = records.iter().rev().find(|it| it.input.is_some()).unwrap();
            asked.input = begun.input.clone();
            let last = records.last().unwrap();
            (asked.seq, asked.ts, asked.wall) = (last.seq + 1, last.ts + 9, last.ts + 9);
            records.push(asked);
        }),
        ("another instant", |records| {
            let one = records.iter_mut().rev().find(|it| it.input.is_some()).unwrap();
            let mut decided = Decided::read(one.input.as_deref().unwrap()).unwrap();
            decided.at += 59_000_000;
            one.input = Some(decided.text());
        }),
        ("an input that nobody can read", |records| {
            let one = records.iter_mut().rev().find(|it| it.input.is_some()).unwrap();
            one.input = Some("{}".into());
        }),
        ("two decisions made one", |records| {
            let one = records.iter_mut().rev().find(|it| it.input.is_some()).unwrap();
            one.input = None;
        }),
        ("one decision made two", |records| {
            let input = records[0].input.clone();
            records[1].input = input;
        }),
    ];
    for (what, change) in changes {
        let copy = MemoryJournal::default();
        let records = forged(change).into();
        let batch = Batch {
            run: id(),
            epoch: Epoch::default(),
            after: 0,
            records,
            receipt: None,
            verdict: None,
        };
        copy.append(batch).await.unwrap();
        let refused = replay(&copy, &id(), None);
        assert!(matches!(refused, Err(ReplayError::Fault { .. })), "{what}: {refused:?}");
    }
}

/// The same journal with other data in its first event, and hashes that hold.
async fn of_version(version: u32) -> MemoryJournal {
    let mut head = ChainHash::origin(&id());
    let records = blocking(&lively().await).records(&id(), 0, 10_000).unwrap();
    let resealed = records.chunk_by(|_, next| next.input.is_none()).flat_map(|decision| {
        let mut events: Vec<_> = decision.iter().map(|record| record.event().unwrap()).collect();
        if let EventBody::RunCreated(created) = &mut events[0].body {
            Arc::make_mut(created).journal_version = version;
        }
        let sealed = Record::seal_decision(decision[0].input.clone().unwrap(), &events, head);
        head = sealed.last().unwrap().hash;
        sealed
    });
    let (run, epoch) = (id(), Epoch::default());
    let batch =
        Batch { run, epoch, after: 0, records: resealed.collect(), receipt: None, verdict: None };
    let journal = MemoryJournal::default();
    journal.append(batch).await.unwrap();
    journal
}

#[tokio::test(start_paused = true)]
async fn a_run_of_an_unreleased_version_is_refused_by_name() {
    replay(&of_version(5).await, &id(), None).unwrap();
    for version in 1..5 {
        let journal = of_version(version).await;
        let told = format!("unreleased version of materia (journal version {version};");
        let copy = RunId::new("copy");
        let forked = fork(Arc::new(journal.clone()), &id(), 3, &copy, Epoch::default()).await;
        for error in [
            replay(&journal, &id(), None).unwrap_err().to_string(),
            load_to_drive(&journal, &id()).unwrap_err().to_string(),
            report(&journal, &id(), &Folders::default()).unwrap_err().to_string(),
            forked.unwrap_err().to_string(),
        ] {
            assert!(error.contains(&told), "{error}");
        }
    }
}

/// A driver takes snapshots every few thousand events; the report is put together from their chapters.
#[tokio::test]
async fn a_report_from_chapters_is_the_report_from_the_events() {
    let mut long = counting();
    long.plan.nodes["count"].edges[0].max_traversals = Some(u32::MAX);
    long.plan_hash = long.plan.hash();
    let journal = MemoryJournal::default();
    let world = World {
        observer: Arc::new(NoObserver),
        ..world(Arc::new(journal.clone()), &Counter { count_to: 6_000, ..Counter::default() })
    };
    cast(&world, id(), long, Options::default(), &mut quiet()).await.unwrap();
    let chapters = blocking(&journal).chapters(&id()).unwrap();
    assert!(chapters.len() >= 3, "{} chapters", chapters.len());
    let from_chapters = report(&journal, &id(), &Folders::default()).unwrap();
    // Without any snapshot there is nothing but the events.
    let copy = MemoryJournal::default();
    let records = blocking(&journal).records(&id(), 0, 1_000_000).unwrap().into();
    let batch = Batch {
        run: id(),
        epoch: Epoch::default(),
        after: 0,
        records,
        receipt: None,
        verdict: None,
    };
    copy.append(batch).await.unwrap();
    assert_eq!(from_chapters, report(&copy, &id(), &Folders::default()).unwrap());
    assert_eq!(from_chapters.visits.len(), 6_001);
}

/// The stored size of a step does not grow with the variables (D58).
#[tokio::test]
async fn a_step_keeps_as_much_whatever_the_variables_hold() {
    let size = |records: &[Record]| -> usize {
        records.iter().map(|it| it.data.len() + it.input.as_ref().map_or(0, String::len)).sum()
    };
    let mut sizes = Vec::new();
    for variables in [0, 1_000] {
        let mut created = counting();
        for nth in 0..variables {
            created.state.insert(format!("v{nth}"), "x".repeat(1_000).into());
        }
        let journal = MemoryJournal::default();
        let world = world(Arc::new(journal.clone()), &Counter::default());
        cast(&world, id(), created, Options::default(), &mut quiet()).await.unwrap();
        let records = blocking(&journal).records(&id(), 0, 10_000).unwrap();
        sizes.push(size(&records[1..]));
        replay(&journal, &id(), None).unwrap();
    }
    assert_eq!(sizes[0], sizes[1], "with nothing in the variables, and with a megabyte");
}

/// Whoever asks again hears the same, and nothing is done twice.
#[tokio::test]
async fn a_command_with_an_id_acts_once_wherever_it_is_taken() {
    let journal = MemoryJournal::default();
    let world = world(Arc::new(journal.clone()), &Counter::default());
    let created = RunCreated { pace: Pace::Interactive, ..counting() };
    cast(&world, id(), created, Options::default(), &mut quiet()).await.unwrap();
    let named = |name: &str, text: &str| Command {
        id: CommandId::parse(name).ok(),
        ..Command::person(Do::Say { node: Some(NodeId::new("last")), text: text.into() })
    };
    let say = |command: Command| {
        let world = world.clone();
        async move {
            let (claim, options) =
                (blocking(&*world.journal).claim(&id()).unwrap(), Options::default());
            let loaded = load_to_drive(&*world.journal, &id()).unwrap();
            carry_on(&world, claim, loaded, command, options, &mut quiet()).await
        }
    };
    say(named("k", "hello")).await.unwrap();
    let receipt =
        blocking(&journal).receipt(&id(), &CommandId::parse("k").unwrap()).unwrap().unwrap();
    let events = blocking(&journal).head(&id()).unwrap().unwrap().seq;
    let again = say(named("k", "hello")).await;
    assert!(matches!(&again, Err(EngineError::Answered(it)) if **it == receipt), "{again:?}");
    let other = say(named("k", "goodbye")).await;
    assert!(matches!(&other, Err(EngineError::OtherBody(_))), "{other:?}");
    let posted = blocking(&journal).post(&id(), &named("k", "hello")).unwrap();
    assert_eq!(posted.receipt, Some(receipt), "the inbox knows it too");
    assert_eq!(
        blocking(&journal).head(&id()).unwrap().unwrap().seq,
        events,
        "nothing was done twice"
    );
    // Who knows an older run is refused, and hears the same whenever he asks.
    let late = Command { expected_seq: Some(events - 1), ..named("late", "hello") };
    let refused = say(late.clone()).await;
    assert!(refused.unwrap_err().to_string().contains(&format!("event {events}")));
    let again = say(late).await;
    let Err(EngineError::Answered(receipt)) = again else { panic!("{again:?}") };
    assert!(matches!(receipt.answer, Answer::Refused { .. }));
    say(Command { expected_seq: Some(events), ..named("in-time", "hello") }).await.unwrap();
    replay(&journal, &id(), None).unwrap();
}

/// Another process has left a command for the run, and its holder's own command is refused.
#[tokio::test]
async fn a_run_that_a_waiting_command_sets_going_is_driven_whatever_becomes_of_the_next_one() {
    let journal = MemoryJournal::default();
    let world = world(Arc::new(journal.clone()), &Counter::default());
    let created = RunCreated { pace: Pace::Interactive, ..counting() };
    let phase = cast(&world, id(), created, Options::default(), &mut quiet()).await.unwrap();
    assert!(matches!(phase, Phase::Waiting(_)), "{phase:?}");
    let left = Command::person(Do::Resume { pace: Some(Pace::Auto) });
    blocking(&journal).post(&id(), &left).unwrap();
    let claim = blocking(&journal).claim(&id()).unwrap();
    let loaded = load_to_drive(&journal, &id()).unwrap();
    let own = Command::person(Do::Continue { node: Some(NodeId::new("nowhere")) });
    let refused = carry_on(&world, claim, loaded, own, Options::default(), &mut quiet()).await;
    assert!(matches!(refused, Err(EngineError::Drive(_))), "{refused:?}");
    assert_eq!(*load(&journal, &id()).unwrap().0.phase(), Phase::Completed);
    replay(&journal, &id(), None).unwrap();
}

#[tokio::test]
async fn a_thousand_runs_beside_each_other_are_a_matter_of_a_few_megabytes() {
    // What is kept of a run from its first to its last turn, whatever it does meanwhile; the rest is in boxes
    // that come and go.
    let world = world(Arc::new(MemoryJournal::default()), &Counter::default());
    let (_sender, mut asks) = tokio::sync::mpsc::unbounded_channel();
    let begun = size_of_val(&cast(&world, id(), Box::new(wide(1)), Options::default(), &mut asks));
    let resumed = size_of_val(&resume(&world, &id(), Options::default(), &mut asks));
    assert!(begun <= 2_048 && resumed <= 4_096, "{begun} and {resumed} bytes");
}
