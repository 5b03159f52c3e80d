//! Acts of people: raise a bound, retry, speak, finish.

use insta::assert_snapshot;
use materia_contract::{Budget, Condition, Do, RunCreated, RunId, RunPlace};
use materia_kernel::{Effect, Input, Rejection, Run, outstanding, step};

use crate::play::{NodeExt as _, agent, created, outcome, plan, run, tell, utility};

use Condition::{Always, NotSatisfied};

fn again() -> Input {
    Input::taken_up(Do::Recast, RunPlace::named())
}

fn go_on() -> Input {
    Input::taken_up(Do::Resume { pace: None }, RunPlace::named())
}

fn answer(run: &mut Run, text: &str) -> String {
    let Some(Effect::StartTurn(turn)) = outstanding(run).next() else {
        panic!("a turn is in flight")
    };
    tell(&step(run, 5, Input::report(turn, outcome(text))).unwrap())
}

#[test]
fn a_failed_turn_can_be_tried_again() {
    let (mut run, _) = run(created(plan([("a", utility())])), &["!it broke"]);
    assert_snapshot!(tell(&step(&mut run, 9, again()).unwrap()), @r"
    resumed
    a 1.2 started
    ");
    assert!(answer(&mut run, "{}").ends_with("completed"));
    assert_eq!(step(&mut run, 9, again()), Err(Rejection::NothingFailed));
}

#[test]
fn an_exhausted_edge_gets_its_allowance_once_more() {
    let node = agent().edge(NotSatisfied, "a").bounded(1).edge(Always, "end");
    let no = r#"{"satisfied": false}"#;
    let (mut run, _) = run(created(plan([("a", node)])), &[no, no]);
    assert_eq!(step(&mut run, 9, again()), Err(Rejection::NothingFailed));
    assert_snapshot!(tell(&step(&mut run, 9, Input::act(Do::Revive)).unwrap()), @r#"
    revived
    a routes to a
    follow-up for a: {"satisfied": false}
    sent over a->a
    delivered to a
    consumed by a
    a 3.1 started
    "#);
    assert!(answer(&mut run, no).contains("failed edge_exhausted"));
}

fn with_budget(budget: Budget) -> RunCreated {
    let mut created =
        created(plan([("a", agent().edge(Always, "b")), ("b", agent().edge(Always, "end"))]));
    created.plan.budget = budget;
    created
}

#[test]
fn spending_stops_before_the_turn_that_would_pass_the_budget() {
    let budget = Budget { max_turns: Some(1), ..Budget::default() };
    let (mut run, events) = run(with_budget(budget), &["{}"]);
    let told = tell(&events);
    assert!(told.contains("warned: 1 of 1") && told.ends_with("waiting: budget"), "{told}");
    assert!(tell(&step(&mut run, 9, go_on()).unwrap()).ends_with("waiting: budget"), "still spent");
    let more = Budget { max_turns: Some(2), ..Budget::default() };
    step(&mut run, 9, Input::act(Do::Budget { budget: more })).unwrap();
    assert!(tell(&step(&mut run, 9, go_on()).unwrap()).contains("b 1.1 started"));
    assert!(answer(&mut run, "{}").ends_with("completed"));
}

#[test]
fn a_multi_turn_node_goes_on_only_when_it_is_finished() {
    let mut talk = agent().text().edge(Always, "end");
    talk.multi_turn = true;
    let (mut run, events) = run(created(plan([("a", talk)])), &["first"]);
    assert!(tell(&events).ends_with("waiting: multi_turn"));
    let say = |text: &str| Input::act(Do::Say { node: None, text: text.into() });
    let told = tell(&step(&mut run, 9, say("looks good, continue")).unwrap());
    // It is noted, and whoever carries the run on lets it answer (D59).
    assert_snapshot!(told, @r"
    a was told: looks good, continue
    delivered to a
    ");
    assert_snapshot!(tell(&step(&mut run, 9, go_on()).unwrap()), @r"
    resumed
    consumed by a
    a 2.1 started
    ");
    assert!(answer(&mut run, "second").ends_with("waiting: multi_turn"), "words finish nothing");
    assert_snapshot!(tell(&step(&mut run, 9, Input::act(Do::Continue { node: None })).unwrap()), @r"
    resumed
    a finished
    a routes to end
    completed
    ");
    let mut other = Run::new(RunId::new("r"));
    let plain = created(plan([("a", agent())]));
    step(&mut other, 1, Input::Create(plain.into())).unwrap();
    assert_eq!(step(&mut other, 2, say("x")), Err(Rejection::NobodyAddressed));
}

#[test]
fn what_is_required_and_missing_is_answered_without_asking() {
    let mut node = agent().edge(Always, "end");
    node.requires = vec!["state.previousCastContext".parse().unwrap()];
    let (_, events) = run(created(plan([("a", node)])), &[]);
    let told = tell(&events);
    assert!(told.ends_with("a 1.1 completed\na routes to end\ncompleted"), "{told}");
}
