//! Which outputs must have a verdict (H11), and where an agent's object is found (D26).

use materia_contract::{Condition, EventBody, Node, Test};
use serde_json::json;

use crate::play::{NodeExt as _, agent, created, looped, plan, play, run, utility};

use Condition::{Always, NotSatisfied, Satisfied};

/// The events after an output without a verdict.
fn unjudged(node: Node) -> String {
    let nodes = [("a", node), ("b", utility().text()), ("c", utility().text())];
    let told = play(plan(nodes), &["{}"]);
    told.lines().skip(4).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_utility_may_leave_its_verdict_out_where_an_unconditional_edge_follows() {
    let missing = "a 1.1 failed: `a` broke its contract: $.satisfied is missing";
    for when in [Satisfied, NotSatisfied] {
        let guarded = || utility().edge(when, "b");
        assert!(unjudged(guarded()).starts_with(missing), "{when:?}");
        assert!(unjudged(guarded().edge(Always, "c")).contains("a routes to c"), "{when:?}");
        let sometimes = guarded().edge(Always, "c").only_where("state.x", Test::Exists(false));
        assert!(unjudged(sometimes).starts_with(missing), "that edge asks for something");
        let never = utility().edge(when, "b").only_where("state.x", Test::Exists(true));
        assert!(unjudged(never).starts_with(missing), "{when:?}");
    }
    let plain = utility().edge(Always, "b").only_where("state.x", Test::Exists(false));
    assert!(unjudged(plain).contains("a routes to b"), "nothing asks for a verdict");
    assert!(unjudged(utility()).contains("a routes to end"));
}

#[test]
fn a_utility_that_moves_a_loop_by_its_verdict_must_give_one() {
    let told = |when: Condition, answer: &str| {
        let nodes = plan([
            ("a", agent().generator().edge(Always, "b")),
            ("b", utility().advances(when).edge(Always, "b")),
        ]);
        let items = json!({"workItems": [{"title": "t", "context": "c"}]}).to_string();
        play(looped(nodes, "work", &["b"], Some("a"), &[]), &[&items, answer])
    };
    for when in [Satisfied, NotSatisfied] {
        let without = told(when, "{}");
        assert!(without.contains("`b` broke its contract: $.satisfied is missing"), "{without}");
    }
    assert!(told(Always, "{}").ends_with("completed"));
    assert!(told(Satisfied, r#"{"satisfied": true}"#).ends_with("completed"));
}

const AROUND: &str = "Two things:\n```json\n{\"workItems\": [{\"title\": \"t\", \"context\": \"c\"}, \
                      {\"title\": \"u\", \"context\": \"d\"}]}\n```\nThat is all.";

#[test]
fn a_loop_runs_over_the_items_that_an_agent_wrote_something_around() {
    let nodes = plan([
        ("a", agent().generator().edge(Always, "b")),
        ("b", utility().text().advances(Always).edge(Always, "b")),
    ]);
    let told = play(looped(nodes, "work", &["b"], Some("a"), &[]), &[AROUND, "x", "y"]);
    assert!(told.contains("entered work (1): 2 items\n"), "{told}");
    assert!(told.contains("b 2.1 started on WI-2"), "{told}");
}

#[test]
fn the_object_of_an_agent_is_told_apart_from_what_is_written_around_it() {
    // The place is kept with the end of the turn, so that nobody has to look for it again.
    let object = |node: Node, text: &str| {
        let (_, events) = run(created(plan([("a", node)])), &[text]);
        events.into_iter().find_map(|event| match event.body {
            EventBody::TurnCompleted(data) => {
                data.object.map(|(from, to)| text[from..to].to_owned())
            }
            _ => None,
        })
    };
    let found = object(agent(), AROUND).unwrap();
    let items = json!([{"title": "t", "context": "c"}, {"title": "u", "context": "d"}]);
    let expected = json!({ "workItems": items });
    assert_eq!(serde_json::from_str::<serde_json::Value>(&found).unwrap(), expected);
    let alone = r#"{"satisfied": true}"#;
    let padded = object(agent(), r#" {"satisfied": true} "#);
    assert_eq!(padded.as_deref(), Some(alone), "without what is around it");
    assert_eq!(object(utility(), alone).as_deref(), Some(alone));
    assert_eq!(object(agent().text(), AROUND), None, "a text is a text");
    assert_eq!(object(utility(), AROUND), None, "a utility puts out the object alone");
}
