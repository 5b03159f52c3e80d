//! Read-only questions about a run and its nodes.

use materia_contract::{
    Amount, Budget, Condition, Consume, Delivery, DeliveryMode, Do, EdgeId, ErrorCode,
    FailureClass, GlobalMode, NodeBudgets, NodeId, NodeMode, Offered, Pace, RunId, RunPlace,
    TurnOutput, TurnUsage, Uuid,
};
use materia_kernel::{
    Gate, Input, Run, TurnOutcome, barred, budgets_of, has_elements, held_turn, is_requested,
    iterates, quiet_until, spent_by, step, turns_in_flight, waiting_inputs,
};

use crate::play::{NodeExt as _, Play, agent, created, plan, utility};

use Condition::Always;

#[test]
fn a_run_says_where_it_is_and_what_it_may_do() {
    let mut asked = created(plan([("a", agent().text().edge(Always, "b")), ("b", agent())]));
    let of_b = NodeBudgets { turns: Some(7), ..NodeBudgets::default() };
    asked.plan.nodes["b"].budgets = Some(of_b);
    asked.plan.budget = Budget { max_turns: Some(40), ..Budget::default() };
    asked.pace = Pace::Interactive;
    asked.global_mode = GlobalMode::Planning;
    let mut run = Run::new(RunId::new("r"));
    let first = step(&mut run, 5_000, Input::Create(asked.into())).unwrap();
    assert_eq!((run.cwd(), run.run_dir()), ("{workspace}", "{runDir}"));
    assert_eq!((run.pace(), run.global_mode()), (Pace::Interactive, GlobalMode::Planning));
    assert_eq!(run.budget(), Budget { max_turns: Some(40), ..Budget::default() });
    assert_eq!(run.created_at(), first[0].ts);
    assert_eq!(run.created_at(), 5_000);
    let auto = Do::Mode { value: Pace::Auto };
    let events = step(&mut run, 9_000, Input::act(auto)).unwrap();
    let last = events.last().unwrap();
    assert_eq!((run.seq(), run.ts()), (last.seq, last.ts));
    assert_eq!(run.instant(), 9_000, "the clock, while logical time is ahead of it");
    assert!(run.ts() > 9_000 && run.seq() > 4);
    assert_eq!((run.created_at(), run.pace()), (5_000, Pace::Auto));
    let (a, b) = (NodeId::new("a"), NodeId::new("b"));
    assert_eq!((run.node_budgets(&a), run.node_budgets(&b)), (None, Some(of_b)));
    assert_eq!(run.node_budgets(&NodeId::new("c")), None, "nobody of that name");
    let more =
        NodeBudgets { cost: Some(Amount::from_millionths(2_500_000)), ..NodeBudgets::default() };
    step(&mut run, 9_500, Input::act(Do::NodeBudget { node: b.clone(), budgets: more })).unwrap();
    let both = NodeBudgets { cost: more.cost, ..of_b };
    assert_eq!(run.node_budgets(&b), Some(both), "what a person gave it, and what it had");
    let resume = Input::taken_up(
        Do::Resume { pace: None },
        RunPlace { cwd: "/q".into(), run_dir: "/q/r".into(), files: None },
    );
    step(&mut run, 9_900, resume).unwrap();
    assert_eq!((run.cwd(), run.run_dir()), ("/q", "/q/r"), "it has moved");
}

fn offer_as(play: &mut Play, edge: &str, id: u128) {
    let payload_id = Some(Uuid::from_u128(id));
    let payload = Offered { payload_id, message: Some("x".into()), ..Offered::default() };
    play.act(Do::Offer { edge: edge.into(), payload });
}

#[test]
fn the_inputs_that_wait_at_a_node_are_told_in_the_order_in_which_it_takes_them() {
    let mut nodes = plan([("a", utility().text().edge(Always, "b")), ("b", utility().text())]);
    nodes.nodes["b"].mode = NodeMode::Interactive;
    let mut play = Play::of(nodes.clone());
    assert!(waiting_inputs(&play.run, 1).is_empty());
    offer_as(&mut play, "a->b", 9);
    offer_as(&mut play, "a->b", 4);
    assert_eq!(waiting_inputs(&play.run, 1), [Uuid::from_u128(9), Uuid::from_u128(4)]);
    assert!(waiting_inputs(&play.run, 0).is_empty(), "its input was taken");
    nodes.nodes["b"].consume = Consume::One;
    let mut play = Play::of(nodes);
    offer_as(&mut play, "a->b", 9);
    offer_as(&mut play, "a->b", 4);
    assert_eq!(waiting_inputs(&play.run, 1), [Uuid::from_u128(9)], "one at a time");
}

#[test]
fn a_quiet_period_is_known_until_it_ends() {
    let mut a = utility().text().edge(Always, "b").edge(Always, "c");
    a.edges[0].delivery =
        Delivery { debounce_ms: Some(50), ..Delivery::of(DeliveryMode::Debounce) };
    let mut play = Play::of(plan([("a", a), ("b", utility().text()), ("c", utility().text())]));
    let (quiet, plain) = (EdgeId::new("a->b"), EdgeId::new("a->c"));
    assert_eq!(quiet_until(&play.run, &quiet), None);
    play.offer("a->b", "x");
    play.offer("a->c", "x");
    let until = play.now - 1_000 + 50_000;
    assert_eq!(quiet_until(&play.run, &quiet), Some(until));
    assert_eq!(quiet_until(&play.run, &plain), None);
    assert!(waiting_inputs(&play.run, 1).is_empty(), "nothing is taken before");
    play.now = until;
    play.take(Input::tick());
    assert_eq!(quiet_until(&play.run, &quiet), None);
}

#[test]
fn turns_that_run_and_turns_that_were_asked_for_are_known_by_node() {
    let mut nodes = plan([("a", utility().text()), ("b", utility().text())]);
    nodes.nodes["b"].max_in_flight = 2;
    let mut play = Play::of(nodes);
    let of_b = || Do::trigger(NodeId::new("b"), None);
    play.act(of_b());
    play.act(of_b());
    let turns = play.turns();
    assert!(turns[0] > 1, "no turn is the first event");
    assert_eq!(turns_in_flight(&play.run, 0), turns[..1]);
    assert_eq!(turns_in_flight(&play.run, 1), turns[1..]);
    assert!(!is_requested(&play.run, 1), "both have started");
    play.act(of_b());
    assert_eq!([0, 1].map(|index| is_requested(&play.run, index)), [false, true]);
    assert_eq!(barred(&play.run, 1), Some(Gate::Input), "nothing waits there by itself");
    play.end_all("done");
    assert!(!is_requested(&play.run, 1));
    assert!(turns_in_flight(&play.run, 0).is_empty());
}

#[test]
fn a_turn_that_waits_for_its_next_attempt_is_known_by_node() {
    let nodes = [("a", agent().text().edge(Always, "b")), ("b", agent().text())];
    let mut play = Play::of(plan(nodes));
    play.end("go");
    let turn = play.turns()[0];
    assert_eq!(held_turn(&play.run, 1), None);
    let class = Some(FailureClass::Transient);
    let report = TurnOutput { class, ..TurnOutput::default() };
    let (code, message) = (ErrorCode::ProviderFailed, "busy".to_owned());
    play.take(Input::report(turn, TurnOutcome::Faulted { code, message, report }));
    assert_eq!(held_turn(&play.run, 1), Some(turn));
    assert_eq!(held_turn(&play.run, 0), None);
    play.now += 10_000_000;
    play.take(Input::tick());
    assert_eq!(held_turn(&play.run, 1), None, "it runs again");
}

#[test]
fn a_foreach_has_elements_before_it_is_entered_and_while_it_goes_on() {
    // `b` waits for `c`, so that it can be looked at before it is entered.
    let nodes = || {
        let mut b = utility().each("state.list");
        b.depends_on.push(NodeId::new("c"));
        plan([("a", utility().edge(Always, "b")), ("b", b), ("c", utility().text())])
    };
    let mut play = Play::of(nodes());
    assert!(has_elements(&play.run, 0), "no foreach, nothing to run out of");
    assert!(!has_elements(&play.run, 1), "there is no list yet");
    play.end(r#"{"state": {"list": []}}"#);
    assert!(!has_elements(&play.run, 1), "a list of nothing");
    let mut play = Play::of(nodes());
    play.end(r#"{"state": {"list": ["x", "y"]}}"#);
    assert!(has_elements(&play.run, 1) && !iterates(&play.run, 1), "it would begin now");
    play.act(Do::trigger(NodeId::new("c"), None));
    assert!(play.end("done").ends_with("b 1.1 started on WI-1"));
    play.end(r#"{"state": {"list": []}}"#);
    assert!(iterates(&play.run, 1) && !iterates(&play.run, 0));
    assert!(has_elements(&play.run, 1), "the list was frozen when it was entered");
    play.end("{}");
    assert!(!iterates(&play.run, 1) && !has_elements(&play.run, 1));
}

#[test]
fn a_node_says_what_it_may_spend_and_what_it_has_spent() {
    let mut nodes = plan([("a", agent().text().edge(Always, "b")), ("b", agent().text())]);
    let planned = NodeBudgets {
        turns: Some(3),
        time_ms: Some(60_000),
        cost: Some(Amount::from_millionths(5_000_000)),
    };
    nodes.nodes["b"].budgets = Some(planned);
    let mut play = Play::of(nodes);
    assert_eq!(budgets_of(&play.run, 0), None);
    assert_eq!(budgets_of(&play.run, 1), Some(planned));
    let given = NodeBudgets { turns: Some(9), ..NodeBudgets::default() };
    play.take(Input::act(Do::NodeBudget { node: NodeId::new("b"), budgets: given }));
    let filled = NodeBudgets { turns: given.turns, ..planned };
    assert_eq!(budgets_of(&play.run, 1), Some(filled), "what is left out stays");
    play.end("go");
    let nothing = NodeBudgets { turns: Some(1), time_ms: Some(0), cost: None };
    assert_eq!(spent_by(&play.run, 1), nothing, "it has just begun");
    let turn = play.turns()[0];
    let usage =
        Some(TurnUsage { cost: Some(Amount::from_millionths(250_000)), ..TurnUsage::default() });
    let output = TurnOutput { output: "done".into(), usage, ..TurnOutput::default() };
    // Seven and a half milliseconds, less the few microseconds by which events follow each other.
    play.now += 6_500;
    play.take(Input::report(turn, TurnOutcome::Ended(output)));
    let spent = NodeBudgets {
        turns: Some(1),
        time_ms: Some(7),
        cost: Some(Amount::from_millionths(250_000)),
    };
    assert_eq!(spent_by(&play.run, 1), spent);
}

#[test]
fn a_node_that_waits_for_a_free_place_says_so() {
    let a = utility().text().all().edge(Always, "b").edge(Always, "c");
    let mut nodes = plan([("a", a), ("b", utility().text()), ("c", utility().text())]);
    nodes.limits.max_concurrent_turns = 1;
    let mut play = Play::of(nodes);
    assert!(play.end("go").ends_with("b 1.1 started"));
    assert!(!Gate::Concurrency.holds(&play.run, 2), "one turn is all that may run");
    assert_eq!(barred(&play.run, 2), Some(Gate::Concurrency));
    assert!(play.end("done").ends_with("c 1.1 started"));
    play.end("done");
    assert!(Gate::Concurrency.holds(&play.run, 2));
}
