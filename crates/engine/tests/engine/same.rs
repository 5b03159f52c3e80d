//! Real time and simulated time: the same completions give the same events.

use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use materia_contract::{
    Condition, Delivery, DeliveryMode, EventBody, NodeId, Parse, Record, Routing, RunCreated,
    RunId, TurnOutput,
};
use materia_engine::{
    BoxFuture, Clock, MemoryJournal, NoObserver, Options, Runner, SystemClock, TurnJob, TurnReport,
    World, blocking, cast,
};
use materia_kernel::Phase;

use crate::story::{edge, of, quiet, utility};

/// Answers at once, or after a while that depends on the node.
#[derive(Clone, Copy)]
struct Answers {
    after: fn(&str) -> Duration,
}

impl Runner for Answers {
    fn run(&self, job: TurnJob) -> BoxFuture<'static, TurnReport> {
        let after = (self.after)(job.node.as_str());
        Box::pin(async move {
            let output = match job.node.as_str() {
                // Sends the work round until it has come by three times.
                "check" => {
                    let (visit, done) = (job.visit, job.visit >= 3);
                    format!(r#"{{"satisfied": {done}, "context": "{visit}"}}"#)
                }
                node => format!("{node} {}", job.visit),
            };
            // A sleep of no time ends with the next tick of the timer, not at once.
            if !job.virtual_time && !after.is_zero() {
                tokio::time::sleep(after).await;
            }
            let outcome = Ok(TurnOutput { output, ..TurnOutput::default() });
            TurnReport { outcome, after: if job.virtual_time { after } else { Duration::ZERO } }
        })
    }
}

/// `plan` starts three workers, all of which feed `check`, which sends the work back or on to `last`.
fn dataflow() -> RunCreated {
    let all = |node| materia_contract::Node { routing: Routing::All, ..node };
    let text = |node| materia_contract::Node { parse: Parse::Text, ..node };
    let workers = ["w1", "w2", "w3"];
    let start = workers.map(|to| edge("plan", Condition::Always, to, None)).into();
    let mut nodes: IndexMap<NodeId, materia_contract::Node> = IndexMap::new();
    nodes.insert(NodeId::new("plan"), text(all(utility(start))));
    for (nth, worker) in workers.into_iter().enumerate() {
        let mut way = edge(worker, Condition::Always, "check", None);
        let modes = [DeliveryMode::Queue, DeliveryMode::Latest, DeliveryMode::DropIfBusy];
        way.delivery = Delivery::of(modes[nth]);
        nodes.insert(NodeId::new(worker), text(all(utility(vec![way]))));
    }
    let back = edge("check", Condition::NotSatisfied, "plan", None);
    let on = edge("check", Condition::Satisfied, "last", None);
    nodes.insert(NodeId::new("check"), all(utility(vec![back, on])));
    nodes.insert(NodeId::new("last"), text(utility(Vec::new())));
    of(nodes, "plan")
}

async fn log(created: RunCreated, runner: Answers) -> Vec<Record> {
    let journal = MemoryJournal::default();
    let world = World {
        journal: Arc::new(journal.clone()),
        observer: Arc::new(NoObserver),
        runner: Arc::new(runner),
        clock: Arc::new(SystemClock),
    };
    let id = RunId::new("r");
    let phase = cast(&world, id.clone(), created, Options::default(), &mut quiet()).await.unwrap();
    assert_eq!(phase, Phase::Completed);
    blocking(&journal).records(&id, 0, 10_000).unwrap()
}

/// The events without times, ids and hashes.
fn told(records: &[Record]) -> Vec<String> {
    let events = records.iter().map(|record| record.event().unwrap());
    let line = |mut event: materia_contract::Event| {
        if let EventBody::RunCreated(created) = &mut event.body {
            Arc::make_mut(created).virtual_time = false;
        }
        let mut data = event.body.data_json();
        // What utilities are given has the times of its envelopes in it, and is kept by its hash.
        if let Some(start) = data.find("\"hash\":\"") {
            data.replace_range(start + 8..start + 8 + 64, "");
        }
        format!("{} {:?} {} {data}", event.seq, event.node, event.body.type_name())
    };
    events.map(line).collect()
}

#[tokio::test]
async fn real_and_simulated_time_give_the_same_log() {
    let at_once = Answers { after: |_| Duration::ZERO };
    let real = log(dataflow(), at_once).await;
    let simulated = log(RunCreated { virtual_time: true, ..dataflow() }, at_once).await;
    assert!(real.len() > 60, "it goes round three times: {}", real.len());
    assert_eq!(told(&real), told(&simulated));
}

#[tokio::test(start_paused = true)]
async fn turns_that_end_one_after_the_other_end_so_in_both() {
    // All different, so that the completions come in the same order in both.
    let in_turn = Answers {
        after: |node| match node {
            "w1" => Duration::from_millis(300),
            "w2" => Duration::from_millis(100),
            "w3" => Duration::from_millis(200),
            _ => Duration::from_millis(10),
        },
    };
    let real = log(dataflow(), in_turn).await;
    let simulated = log(RunCreated { virtual_time: true, ..dataflow() }, in_turn).await;
    assert_eq!(told(&real), told(&simulated));
}

#[tokio::test(start_paused = true)]
async fn three_independent_turns_of_two_seconds_take_two_seconds() {
    let slow =
        Answers { after: |node| Duration::from_secs(if node.starts_with('w') { 2 } else { 0 }) };
    // In simulated time: by the instants of the log.
    let simulated = log(RunCreated { virtual_time: true, ..dataflow() }, slow).await;
    let walls = |kind: &str| -> Vec<i64> {
        let of_workers = simulated.iter().filter(|record| {
            let at_worker = record.node.as_ref().is_some_and(|node| node.as_str().starts_with('w'));
            at_worker && record.kind == kind
        });
        of_workers.map(|record| record.wall).collect()
    };
    let (started, ended) = (walls("turn.started"), walls("turn.completed"));
    let began = simulated[0].wall;
    assert_eq!(started[..3], [began; 3], "all three start at the first instant");
    assert_eq!(ended[..3], [began + 2_000_000; 3], "and end two seconds later");
    assert_eq!(simulated.last().unwrap().wall, began + 3 * 2_000_000, "three times round");
    // In real time: by tokio's clock, which is paused and moves only when everybody waits.
    let before = tokio::time::Instant::now();
    log(dataflow(), slow).await;
    assert_eq!(before.elapsed().as_secs(), 6, "three times round");
}

/// A clock that somebody sets back by an hour, a moment after it was first looked at.
struct SetBack(tokio::time::Instant);

impl Clock for SetBack {
    fn now(&self) -> i64 {
        let passed = self.0.elapsed();
        let hour = if passed > Duration::from_millis(50) {
            Duration::from_hours(1)
        } else {
            Duration::ZERO
        };
        i64::try_from((Duration::from_hours(10) + passed).saturating_sub(hour).as_micros()).unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_back_holds_no_timer_up() {
    let mut created = dataflow();
    for worker in ["w1", "w2", "w3"] {
        let delivery = &mut created.plan.nodes[worker].edges[0].delivery;
        *delivery = Delivery { debounce_ms: Some(100), ..Delivery::of(DeliveryMode::Debounce) };
    }
    let journal = MemoryJournal::default();
    let world = World {
        journal: Arc::new(journal.clone()),
        observer: Arc::new(NoObserver),
        runner: Arc::new(Answers { after: |_| Duration::ZERO }),
        clock: Arc::new(SetBack(tokio::time::Instant::now())),
    };
    let before = tokio::time::Instant::now();
    let begun = world.clock.now();
    let id = RunId::new("r");
    let phase = cast(&world, id.clone(), created, Options::default(), &mut quiet()).await.unwrap();
    assert_eq!(phase, Phase::Completed);
    // By tokio's clock, which is paused and moves only when everybody waits: three quiet periods of
    // 100 ms, one for each time round, and not an hour more.
    assert_eq!(before.elapsed().as_millis(), 300);
    assert!(world.clock.now() < begun, "the clock was set back meanwhile");
    let records = blocking(&journal).records(&id, 0, 10_000).unwrap();
    let fired = records.iter().filter(|record| record.kind == "timer.fired");
    let millis: Vec<_> = fired.clone().map(|record| (record.ts - begun) / 1_000).collect();
    assert_eq!(millis, [100, 100, 100, 200, 200, 200, 300, 300, 300]);
    let shown: Vec<_> = fired.map(|record| record.wall < begun).collect();
    assert_eq!(shown, [true; 9], "what the clock showed is noted beside it");
}
