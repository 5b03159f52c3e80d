//! Turns that a person asks for.

use materia_contract::{Approval, Condition, Consume, Do, Event, EventBody, NodeId, Pace, Trigger};
use materia_kernel::Input;

use crate::play::{NodeExt as _, Play, agent, outcome, plan, prompt_of, tell, utility};

use Condition::Always;

fn trigger(node: &str, message: Option<&str>) -> Do {
    Do::trigger(NodeId::new(node), message.map(str::to_owned))
}

fn approvals(events: &[Event]) -> Vec<Option<String>> {
    let turns = events.iter().filter_map(|event| match &event.body {
        EventBody::TurnStarted(data) => Some(data.approved.clone()),
        _ => None,
    });
    turns.collect()
}

#[test]
fn where_one_input_is_taken_at_a_time_a_persons_message_comes_before_older_ones() {
    let mut b = agent().text();
    (b.consume, b.trigger) = (Consume::One, Trigger::ManualOnly);
    let mut play = Play::of(plan([("a", utility().text().edge(Always, "b")), ("b", b)]));
    play.offer("a->b", "the oldest");
    play.offer("a->b", "the second");
    let events = play.take(Input::act(trigger("b", Some("mind the tests"))));
    let prompt = prompt_of(&events, "b");
    assert!(prompt.contains("# Instruction\nmind the tests"), "{prompt}");
    assert!(!prompt.contains("From a"), "nothing else is taken: {prompt}");
    assert_eq!(tell(&events).matches("consumed by b").count(), 1);
    // Without a message the oldest is next.
    play.act(trigger("b", None));
    let turn = play.turns()[1];
    let events = play.take(Input::report(turn, outcome("done")));
    let prompt = prompt_of(&events, "b");
    assert!(prompt.contains("# From a\nthe oldest\n\n# Mode"), "{prompt}");
    assert!(!prompt.contains("the second"), "{prompt}");
}

#[test]
fn a_turn_by_hand_does_not_use_up_what_a_person_consented_to() {
    let mut nodes = plan([("a", utility().text().edge(Always, "b")), ("b", utility().text())]);
    (nodes.nodes["b"].approval, nodes.nodes["b"].consume) = (Some(Approval::Before), Consume::One);
    let mut play = Play::of(nodes);
    play.end("work");
    play.act(Do::Mode { value: Pace::Interactive });
    assert!(play.act(Do::approve(NodeId::new("b"))).contains("b approved"));
    let by_hand = play.take(Input::act(trigger("b", Some("first this"))));
    assert_eq!(approvals(&by_hand), [None], "it needs no consent");
    play.act(Do::Mode { value: Pace::Auto });
    // Now what was consented to runs, and nobody is asked again.
    let turn = play.turns()[0];
    let next = play.take(Input::report(turn, outcome("done")));
    assert!(tell(&next).ends_with("consumed by b\nb 2.1 started"), "{}", tell(&next));
    assert!(matches!(approvals(&next).as_slice(), [Some(_)]));
}

#[test]
fn a_list_that_a_person_has_worked_through_needs_no_consent_either() {
    let mut nodes = plan([("a", utility().edge(Always, "b")), ("b", utility().each("state.list"))]);
    nodes.nodes["b"].approval = Some(Approval::Before);
    let mut play = Play::of(nodes);
    play.end(r#"{"state": {"list": [1, 2]}}"#);
    play.act(Do::Mode { value: Pace::Interactive });
    play.act(Do::approve(NodeId::new("b")));
    let by_hand = play.take(Input::act(trigger("b", None)));
    assert_eq!(approvals(&by_hand), [None]);
    let turn = play.turns()[0];
    let second = play.take(Input::report(turn, outcome("{}")));
    assert_eq!(approvals(&second), [None]);
}
