//! What a run costs grows with its work, not with its size times its work.

#![expect(
    clippy::disallowed_methods,
    reason = "the kernel knows no clock; its cost is measured by one"
)]

use std::time::{Duration, Instant};

use materia_contract::{Condition, EdgeId, NodeId, Plan, RunId};
use materia_kernel::{Effect, Input, Phase, Report, Run, outstanding, step};

use crate::play::{NodeExt as _, agent, created, outcome, plan};

/// One node that feeds `count` others, each of which feeds a last one.
fn fan_out(count: usize) -> Plan {
    let mut plan = plan([("a", agent().all().text()), ("z", agent().text())]);
    let mut first = agent().all().text();
    for nth in 0..count {
        let name = format!("w{nth}");
        first = first.edge(Condition::Always, &name);
        first.edges.last_mut().unwrap().id = EdgeId::new(format!("a->{name}"));
        let mut worker = agent().text().edge(Condition::Always, "z");
        worker.edges[0].id = EdgeId::new(format!("{name}->z"));
        plan.nodes.insert(NodeId::new(&name), worker);
    }
    plan.nodes.insert(NodeId::new("a"), first);
    plan
}

/// Runs it through, at most 64 turns at once; says how many turns ran and how long it took.
fn run_through(plan: Plan) -> (u64, Duration) {
    let created = Box::new(created(plan));
    let mut run = Run::new(RunId::new("r"));
    let begun = Instant::now();
    step(&mut run, 1_000, Input::Create(created)).unwrap();
    let mut now = 1_000;
    while *run.phase() == Phase::Running {
        let turns = outstanding(&run).filter_map(|effect| match effect {
            Effect::StartTurn(turn) => Some(turn),
            Effect::WakeAt(_) => None,
        });
        let reports: Vec<Report> =
            turns.map(|turn| Report { turn, outcome: outcome("done") }).collect();
        now += 1_000;
        step(&mut run, now, Input::reports(reports)).unwrap();
    }
    assert_eq!(*run.phase(), Phase::Completed);
    (run.usage().turns, begun.elapsed())
}

#[test]
fn ten_times_the_nodes_cost_ten_times_as_much() {
    let (turns, _) = run_through(fan_out(100));
    // The last node takes what waits, so that it runs once for each lot of 64.
    assert_eq!(turns, 1 + 100 + 2);
    let least = |count| (0..3).map(|_| run_through(fan_out(count)).1).min().unwrap();
    let (small, large) = (least(1_000), least(10_000));
    // Quadratic work would be a hundred times as much.
    assert!(large < small * 40, "1,000 nodes took {small:?}, 10,000 took {large:?}");
}
