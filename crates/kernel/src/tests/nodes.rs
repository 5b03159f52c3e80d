//! Cost of a run, counted in accesses to nodes.

use indexmap::IndexMap;
use materia_contract::{
    Behavior, Budget, Condition, Delivery, Edge, EdgeId, Limits, Node, NodeId, Parse, Plan,
    Routing, RunId, TurnOutput,
};

use super::play::created;
use crate::tally::{Look, looks_during};
use crate::{Effect, Input, Phase, Report, Run, TurnOutcome, outstanding, step};

fn node(edges: Vec<Edge>) -> Node {
    let (command, params) = (vec!["true".into()], serde_json::Map::new());
    let behavior = Behavior::Utility { command, params };
    Node { parse: Parse::Text, routing: Routing::All, edges, ..Node::new("m", behavior) }
}

fn edge(from: &str, to: &str) -> Edge {
    Edge {
        id: EdgeId::new(format!("{from}->{to}")),
        when: Condition::Always,
        guard: None,
        to: Some(NodeId::new(to)),
        fails: false,
        max_traversals: None,
        delivery: Delivery::default(),
    }
}

/// One node that feeds `count` others, each of which feeds a last one.
fn fan_out(count: usize) -> Plan {
    let workers: Vec<String> = (0..count).map(|nth| format!("w{nth}")).collect();
    let mut nodes = IndexMap::new();
    let first = node(workers.iter().map(|worker| edge("a", worker)).collect());
    nodes.insert(NodeId::new("a"), first);
    nodes.insert(NodeId::new("z"), node(Vec::new()));
    for worker in &workers {
        nodes.insert(NodeId::new(worker), node(vec![edge(worker, "z")]));
    }
    Plan {
        loadout: "test".into(),
        entry: NodeId::new("a"),
        nodes,
        loops: IndexMap::new(),
        limits: Limits::default(),
        budget: Budget::default(),
        doc_root: "docs".into(),
    }
}

/// Counts for one run of a plan.
#[derive(Debug)]
struct Took {
    turns: usize,
    events: usize,
    looks: usize,
}

/// Runs it through, at most 64 turns at once.
fn run_through(plan: Plan) -> Took {
    let (mut turns, mut events) = (0, 0);
    let looks = looks_during(Look::Node, || (turns, events) = played(plan));
    Took { turns, events, looks: usize::try_from(looks).unwrap() }
}

/// How many turns and events it was.
fn played(plan: Plan) -> (usize, usize) {
    let mut run = Run::new(RunId::new("r"));
    let mut now = 1_000;
    let mut events = step(&mut run, now, Input::Create(created(plan).into())).unwrap().len();
    while *run.phase() == Phase::Running {
        let turns = outstanding(&run).filter_map(|effect| match effect {
            Effect::StartTurn(turn) => Some(turn),
            Effect::WakeAt(_) | Effect::Publish => None,
        });
        let output = || TurnOutput { output: "done".into(), ..TurnOutput::default() };
        let reports: Vec<Report> =
            turns.map(|turn| Report { turn, outcome: TurnOutcome::Ended(output()) }).collect();
        now += 1_000;
        events += step(&mut run, now, Input::reports(reports)).unwrap().len();
    }
    assert_eq!(*run.phase(), Phase::Completed);
    (usize::try_from(run.usage().turns).unwrap(), events)
}

#[test]
fn ten_times_the_nodes_cost_ten_times_as_much() {
    let hundred = run_through(fan_out(100));
    // The last node takes what waits, so that it runs once for each lot of 64.
    assert_eq!(hundred.turns, 1 + 100 + 2);
    let [small, large] = [1_000, 10_000].map(|count| run_through(fan_out(count)));
    for took in [&hundred, &small, &large] {
        assert!(took.looks > took.turns, "the work is counted: {took:?}");
        // A scan of all nodes for each node would take millions of looks.
        assert!(took.looks <= 150 * took.turns, "{took:?}");
    }
    assert!(large.looks <= 11 * small.looks, "{small:?} and {large:?}");
    assert!(large.events <= 11 * small.events, "{small:?} and {large:?}");
}
