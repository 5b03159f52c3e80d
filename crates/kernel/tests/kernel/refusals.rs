//! Rejected acts of a person, and the messages.

use materia_contract::{Condition, Do, NodeBudgets, NodeId, Trigger};
use materia_kernel::{Input, Phase, Rejection, step};

use crate::play::{NodeExt as _, Play, agent, plan};

fn nowhere() -> NodeId {
    NodeId::new("nowhere")
}

/// Asks for something that is refused, and sees that nothing has changed by that.
fn refused(play: &mut Play, input: Input) -> Rejection {
    let before = play.run.clone();
    let refused = step(&mut play.run, play.now + 1, input).expect_err("it is refused");
    assert!(play.run == before, "a refused input changes nothing");
    refused
}

#[test]
fn a_node_that_is_not_in_the_plan_is_named_to_whoever_asked_for_it() {
    let mut talk = agent().text().edge(Condition::Always, "end");
    talk.multi_turn = true;
    let mut play = Play::of(plan([("a", talk)]));
    play.end("first");
    let budgets = NodeBudgets { turns: Some(1), ..NodeBudgets::default() };
    let inputs = [
        Input::act(Do::NodeBudget { node: nowhere(), budgets }),
        Input::act(Do::Say { node: Some(nowhere()), text: "hello".into() }),
        Input::act(Do::Continue { node: Some(nowhere()) }),
    ];
    for input in inputs {
        assert_eq!(refused(&mut play, input), Rejection::UnknownNode(nowhere()));
    }
}

#[test]
fn an_instant_at_which_nothing_happens_is_not_for_a_run_at_rest() {
    let mut by_hand = agent().text();
    by_hand.trigger = Trigger::ManualOnly;
    let mut play = Play::of(plan([("a", by_hand)]));
    assert!(matches!(play.run.phase(), Phase::Waiting(_)));
    assert_eq!(refused(&mut play, Input::tick()), Rejection::NotRunning);
}
