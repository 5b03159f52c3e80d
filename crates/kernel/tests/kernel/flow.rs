//! Concurrent branches, the order of turns, and faults that the simulation has found.

use insta::assert_snapshot;
use materia_contract::{
    Amount, Budget, Condition, Consume, DeliveryMode, Do, EventBody, NodeBudgets, NodeId, Offered,
    Pace, RunPlace, Trigger,
};
use materia_kernel::{Acting, Input, Moment, Phase, Rejection, Report, step};

use crate::play::{NodeExt as _, Play, agent, looped, outcome, plan, tell, utility};

use Condition::{Always, NotSatisfied, Satisfied};

fn trigger(node: &str) -> Do {
    Do::trigger(NodeId::new(node), None)
}

#[test]
fn branches_that_meet_do_not_go_in_circles() {
    let mut a = agent().text().all();
    for to in ["b", "c", "d", "e", "f", "g"] {
        a = a.edge(Always, to);
    }
    let worker = || utility().text().edge(Always, "z");
    let mut play = Play::of(plan([
        ("a", a),
        ("b", worker()),
        ("c", worker()),
        ("d", worker()),
        ("e", worker()),
        ("f", worker()),
        ("g", worker()),
        ("z", utility().text()),
    ]));
    play.end("go");
    let met = play.end_all("done");
    assert!(met.ends_with("z 1.1 started"), "{met}");
    assert!(play.end("done").ends_with("completed"));
}

#[test]
fn each_branch_is_held_to_its_own_cycles() {
    // `b` goes round by itself; `c` runs beside it and is not why.
    let a = agent().text().all().edge(Always, "b").edge(Always, "c");
    let b = utility().text().edge(Always, "b");
    let mut play = Play::of(plan([("a", a), ("b", b), ("c", utility().text())]));
    play.end("go");
    let told: Vec<String> = (0..4).map(|_| play.end_all("x")).collect();
    assert!(told[2].ends_with("b 4.1 started"), "{told:?}");
    assert!(told[3].contains("failed no_advance: the cast goes in circles: b -> b"), "{told:?}");
}

#[test]
fn a_turn_that_is_tried_again_keeps_its_place() {
    let mut play = Play::of(plan([("a", agent())]));
    assert_snapshot!(play.act(trigger("a")), @"a requested: None");
    // The contract is broken; the person's turn waits until the repair is through.
    assert_snapshot!(play.end("nonsense"), @r"
    a 1.1 failed: `a` broke its contract: no JSON object was found in the answer (expected ident at line 1 column 2)
    a 1.2 started
    ");
    assert!(play.end("{}").ends_with("a 2.1 started"));
}

#[test]
fn an_interrupted_visit_does_not_turn_the_count_back() {
    let mut a = utility().text().edge(Always, "a");
    a.max_in_flight = 2;
    let mut play = Play::of(plan([("a", a)]));
    play.offer("a->a", "x");
    play.take(Input::Stopped { reports: Vec::new(), message: "stop".into() });
    let resumed = play.resume();
    assert!(resumed.contains("a 1.2 started\na 2.2 started"), "{resumed}");
    let last = play.turns()[1];
    let told = tell(&play.take(Input::report(last, outcome("x"))));
    assert!(told.ends_with("a 3.1 started"), "{told}");
}

#[test]
fn a_revived_run_takes_up_what_its_end_interrupted_and_the_edges_that_were_left() {
    let a = agent().all().edge(Always, "b").edge(Always, "c");
    let b = agent().all().edge(Always, "d").bounded(1).edge(Always, "e");
    let mut nodes = plan([
        ("a", a),
        ("b", b),
        ("c", agent().text()),
        ("d", agent().text().edge(Always, "b")),
        ("e", agent().text()),
    ]);
    nodes.limits.max_no_advance_cycles = 9;
    let mut play = Play::of(nodes);
    play.end("{}");
    play.end(r#"{"context": "one"}"#);
    // `c`, `d` and `e` are in flight; `d` sends the work back to `b`, whose way to `d` is used up.
    let turn = play.turns()[1];
    play.take(Input::report(turn, outcome("again")));
    let turn = *play.turns().last().unwrap();
    let told = tell(&play.take(Input::report(turn, outcome(r#"{"context": "two"}"#))));
    assert!(told.contains("c 1.1 interrupted"), "{told}");
    assert!(told.contains("failed edge_exhausted"), "{told}");
    let told = tell(&play.take(Input::act(Do::Revive)));
    for line in
        ["b routes to d", "b routes to e", "c 1.2 started", "e 1.2 started", "d 2.1 started"]
    {
        assert!(told.contains(line), "{line} in {told}");
    }
    while *play.run.phase() == Phase::Running {
        let turns = play.turns();
        let last = *turns.last().unwrap();
        play.take(Input::report(last, outcome("{}")));
    }
}

#[test]
fn what_happens_at_the_instant_of_the_end_finds_no_run() {
    let mut play = Play::of(plan([("a", utility().edge(Always, "b")), ("b", utility())]));
    let reports = vec![Report { turn: play.turns()[0], outcome: outcome("!it broke") }];
    let acts = vec![Acting::person(Do::Mode { value: Pace::Interactive })];
    let told = tell(&play.take(Input::Moment(Moment { reports, acts })));
    assert!(told.ends_with("failed utility_failed: it broke"), "{told}");
    let refused = step(&mut play.run, 9_000, Input::act(trigger("b")));
    assert!(matches!(refused, Err(Rejection::Ended(_))));
}

#[test]
fn a_foreach_over_nothing_that_a_person_asks_for_runs_once_and_ends() {
    let b = utility().each("state.list");
    let mut play = Play::of(plan([("a", utility()), ("b", b)]));
    play.act(trigger("b"));
    // The list is not there before `a` has made it.
    assert!(matches!(play.run.phase(), Phase::Failed(_)));
    let b = utility().each("state.list");
    let a = utility().edge(Satisfied, "b");
    let mut nodes = plan([("a", a), ("b", b)]);
    nodes.nodes["a"].max_in_flight = 2;
    let mut play = Play::of(nodes);
    play.act(trigger("a"));
    play.end(r#"{"satisfied": false, "state": {"list": []}}"#);
    assert_snapshot!(play.act(trigger("b")), @r"
    b requested: None
    entryIndex at 0 of 0
    b routes to end
    ");
}

#[test]
fn nodes_that_run_nothing_do_not_send_work_round_for_ever() {
    let b = utility().all().each("state.list").edge(Always, "b");
    let mut play = Play::of(plan([("a", utility().edge(Always, "b")), ("b", b)]));
    let told = play.end(r#"{"state": {"list": []}}"#);
    assert!(told.contains("failed no_advance"), "{told}");
}

#[test]
fn a_tick_is_taken_with_one_input_where_one_is_taken_at_a_time() {
    let mut a = utility().text().all();
    a.trigger = Trigger::Scheduled;
    a.interval_ms = Some(10);
    a.consume = Consume::One;
    let mut play = Play::of(plan([("b", utility().text().edge(Always, "a")), ("a", a)]));
    play.end("first");
    play.offer("b->a", "second");
    play.now = 10_000;
    assert_snapshot!(tell(&play.take(Input::tick())), @r"
    a fired Tick
    delivered to a
    a timer Tick
    consumed by a
    consumed by a
    a 1.1 started
    ");
    // What is left waits for the next tick.
    let told = play.end("x");
    assert!(told.ends_with("a 1.1 completed"), "{told}");
}

#[test]
fn a_turn_is_about_the_item_that_was_current_when_it_started() {
    // `b` hands each item to `c` and `d`; `c` is slow, and `d` moves the loop on meanwhile.
    let b = agent().all().edge(Always, "c").edge(Always, "d");
    let c = agent().edge(NotSatisfied, "c").bounded(1);
    let nodes = plan([
        ("a", agent().generator().edge(Always, "b")),
        ("b", b),
        ("c", c),
        ("d", agent().text().edge(Always, "b").advances(Always)),
    ]);
    let mut play = Play::of(looped(nodes, "work", &["b", "c", "d"], Some("a"), &[]));
    play.end(r#"{"workItems": [{"title": "x", "context": ""}, {"title": "y", "context": ""}]}"#);
    play.end("{}");
    let no = r#"{"satisfied": false}"#;
    // The first time for WI-1, then again while the loop stands at WI-2.
    let c_turn = play.turns()[0];
    let told = tell(&play.take(Input::report(c_turn, outcome(no))));
    assert!(told.contains("c routes to c"), "{told}");
    let d_turn = play.turns()[0];
    let told = tell(&play.take(Input::report(d_turn, outcome("moved"))));
    assert!(told.contains("workItemIndex at 1 of 2"), "{told}");
    let c_turn = play.turns()[0];
    let told = tell(&play.take(Input::report(c_turn, outcome(no))));
    assert!(told.contains("failed edge_exhausted"), "{told}");
}

#[test]
fn a_budget_of_turns_counts_turns_and_not_attempts() {
    let mut a = agent().edge(Always, "a");
    a.budgets = Some(NodeBudgets { turns: Some(2), ..NodeBudgets::default() });
    let mut play = Play::of(plan([("a", a)]));
    assert!(play.end("nonsense").ends_with("a 1.2 started"));
    assert!(play.end("{}").ends_with("a 2.1 started"));
    play.take(Input::Stopped { reports: Vec::new(), message: "stop".into() });
    assert!(play.resume().ends_with("a 2.2 started"));
    let told = play.end("{}");
    assert!(told.contains("a blocked: it has spent its budget: 2 turns"), "{told}");
    assert!(told.ends_with("waiting: budget"), "{told}");
}

#[test]
fn a_further_attempt_past_the_cost_of_its_node_waits_until_that_is_raised() {
    let mut a = agent();
    let one =
        NodeBudgets { cost: Some(Amount::from_millionths(1_000_000)), ..NodeBudgets::default() };
    a.budgets = Some(one);
    let mut play = Play::of(plan([("a", a)]));
    let usage = materia_contract::TurnUsage {
        cost: Some(Amount::from_millionths(1_500_000)),
        ..Default::default()
    };
    let output = materia_contract::TurnOutput {
        output: "nonsense".into(),
        usage: Some(usage),
        ..Default::default()
    };
    let turn = play.turns()[0];
    let ended = materia_kernel::TurnOutcome::Ended(output);
    let told = tell(&play.take(Input::report(turn, ended)));
    assert!(
        told.ends_with("a blocked: it has spent its budget: cost 1.5\nwaiting: budget"),
        "{told}"
    );
    let budgets =
        NodeBudgets { cost: Some(Amount::from_millionths(2_000_000)), ..NodeBudgets::default() };
    play.take(Input::act(Do::NodeBudget { node: NodeId::new("a"), budgets }));
    assert!(play.resume().ends_with("a 1.2 started"));
}

#[test]
fn payloads_that_share_an_id_are_each_taken_once() {
    let latest = materia_contract::Delivery {
        max_buffered: 2,
        ..materia_contract::Delivery::of(DeliveryMode::Latest)
    };
    let mut a = utility().text().all().edge(Always, "b");
    a.edges[0].delivery = latest;
    let mut nodes = plan([("a", a), ("b", utility().text())]);
    nodes.nodes["b"].depends_on.push(NodeId::new("a"));
    let mut play = Play::of(nodes);
    for message in ["x", "y", "z"] {
        let payload = Offered {
            payload_id: Some(materia_contract::Uuid::from_u128(5)),
            message: Some(message.into()),
            ..Offered::default()
        };
        play.act(Do::Offer { edge: "a->b".into(), payload });
    }
    let events = {
        let turn = play.turns()[0];
        play.take(Input::report(turn, outcome("!no")))
    };
    assert!(tell(&events).contains("failed"));
    let recast = Input::taken_up(Do::Recast, RunPlace::named());
    play.take(recast);
    let turn = play.turns()[0];
    let events = play.take(Input::report(turn, outcome("done")));
    let consumed = events.iter().filter(|e| matches!(e.body, EventBody::PayloadConsumed(_)));
    assert_eq!(consumed.count(), 2, "the oldest of the three made room: {}", tell(&events));
}

#[test]
fn spending_is_warned_of_once_when_it_comes_near_its_bound() {
    let with = |warn_at_percent| {
        let mut nodes = plan([("a", utility().text().edge(Always, "a"))]);
        nodes.limits.max_no_advance_cycles = 9;
        nodes.budget = Budget { max_turns: Some(4), warn_at_percent, ..Budget::default() };
        let mut play = Play::of(nodes);
        let mut told = Vec::new();
        while *play.run.phase() == Phase::Running {
            told.push(play.end("x"));
        }
        let warned = told.iter().map(|told| told.matches("warned: ").count());
        warned.collect::<Vec<_>>()
    };
    // The turn that is in flight counts: after two have ended, the third has begun.
    assert_eq!(with(None), [0, 1, 0, 0], "three of four are 75 percent");
    assert_eq!(with(Some(76)), [0, 0, 1, 0]);
    assert_eq!(with(Some(50)), [1, 0, 0, 0]);
}
