//! INTERACTIVE: no turn starts by itself, and no input is lost.

use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use materia_contract::{
    Condition, Delivery, DeliveryMode, Do, Guard, Node, NodeId, Offered, Pace, Parse, Routing,
    RunCreated, RunId, TimelineEntry, Trigger, WaitReason,
};
use materia_engine::{MemoryJournal, Options, blocking, cast};
use materia_kernel::Phase;

use crate::story::{Counter, edge, of, quiet, utility, world};

const MINUTES: u64 = 60;

/// A node that ticks every second, and one that everything is offered to over four kinds of edges.
fn created(pace: Pace) -> RunCreated {
    let text = |node: Node| Node { parse: Parse::Text, routing: Routing::All, ..node };
    let modes = [
        DeliveryMode::Queue,
        DeliveryMode::Latest,
        DeliveryMode::Debounce,
        DeliveryMode::DropIfBusy,
    ];
    let mut edges = Vec::new();
    for (nth, mode) in modes.into_iter().enumerate() {
        let mut way = edge("a", Condition::Always, "b", None);
        // Only what is offered crosses it.
        let path = "state.never".parse().unwrap();
        way.guard = Some(Guard { path, test: materia_contract::Test::Exists(true) });
        way.id = materia_contract::EdgeId::new(format!("e{nth}"));
        way.delivery = Delivery { debounce_ms: Some(100), ..Delivery::of(mode) };
        edges.push(way);
    }
    let mut ticks = text(utility(Vec::new()));
    ticks.trigger = Trigger::Scheduled;
    ticks.interval_ms = Some(1_000);
    let mut nodes: IndexMap<NodeId, Node> = IndexMap::new();
    nodes.insert(NodeId::new("a"), Node { routing: Routing::All, ..utility(edges) });
    nodes.insert(NodeId::new("b"), text(utility(Vec::new())));
    nodes.insert(NodeId::new("c"), ticks);
    let entries = u32::try_from(MINUTES * 4 + 1).unwrap();
    RunCreated { pace, virtual_time: true, timeline: entries, ..of(nodes, "a") }
}

fn timeline() -> Vec<TimelineEntry> {
    let offer = |minute: u64, edge: u64| TimelineEntry {
        at_ms: minute * 60_000,
        act: Do::Offer {
            edge: format!("e{edge}"),
            payload: Offered { message: Some(format!("{minute}")), ..Offered::default() },
        },
    };
    let mut entries: Vec<TimelineEntry> =
        (0..MINUTES).flat_map(|minute| (0..4).map(move |edge| offer(minute, edge))).collect();
    let auto = Do::Mode { value: Pace::Auto };
    entries.push(TimelineEntry { at_ms: MINUTES * 60_000 + 1, act: auto });
    entries
}

#[tokio::test]
async fn interactive_starts_nothing_for_an_hour_and_loses_nothing() {
    let journal = MemoryJournal::default();
    let world = world(Arc::new(journal.clone()), &Counter::default());
    let run_for = Some(Duration::from_millis(MINUTES * 60_000 + 2));
    let options = Options { run_for, timeline: timeline().into(), ..Options::default() };
    let id = RunId::new("r");
    let created = created(Pace::Interactive);
    let phase = cast(&world, id.clone(), created, options, &mut quiet()).await.unwrap();
    let Phase::Waiting(waiting) = phase else { panic!("{phase:?}") };
    assert_eq!(waiting.reason, WaitReason::RunFor);
    let records = blocking(&journal).records(&id, 0, 100_000).unwrap();
    let auto = records.iter().position(|record| record.kind == "mode.changed").unwrap();
    let of_kind = |records: &[materia_contract::Record], kind: &str| {
        records.iter().filter(|record| record.kind == kind).count()
    };
    let (hour, after) = records.split_at(auto);
    assert_eq!(of_kind(hour, "turn.started"), 0, "an hour without a turn");
    assert_eq!(of_kind(hour, "timer.fired"), 3_600 + 60, "ticks fell due, bursts came to rest");
    // The request, one tick, and what each edge may keep: 60, 1, 1 and 1.
    let (came, kept) = (of_kind(hour, "handoff.sent"), of_kind(after, "payload.consumed"));
    assert_eq!((came, kept), (240, 1 + 1 + 60 + 1 + 1 + 1));
    let gone = of_kind(hour, "payload.superseded") + of_kind(hour, "payload.dropped");
    assert_eq!(gone, 240 - 63, "and the rest is told of");
    assert_eq!(of_kind(after, "turn.started"), 3, "in AUTO all three run at once");
}
