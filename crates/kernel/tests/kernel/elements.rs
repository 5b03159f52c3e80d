//! A node that runs once for each element of a list.

use materia_contract::{Condition, Pace, RunCreated};
use serde_json::json;

use crate::play::{
    NodeExt as _, Play, agent, created, input_of, plan, prompt_of, run, tell, utility,
};

use Condition::{Always, NotSatisfied, Satisfied};

#[test]
fn elements_that_come_to_the_same_are_no_stall_and_rounds_that_do_are() {
    // `b` goes over four elements and begins again; only whole rounds can stand still.
    let b = utility().text().all().each("state.list").edge(Always, "b");
    let mut play = Play::of(plan([("a", utility().edge(Always, "b")), ("b", b)]));
    play.end(r#"{"state": {"list": [1, 2, 3, 4]}}"#);
    for turn in 1..12 {
        let told = play.end("same");
        assert_eq!(play.run.pace(), Pace::Auto, "after {turn} turns: {told}");
    }
    let told = play.end("same");
    assert!(told.contains("mode Pace(Interactive) (stall)"), "{told}");
    assert!(told.ends_with("waiting: stall"), "{told}");
}

#[test]
fn a_run_may_begin_with_a_list_that_it_was_given() {
    let state = json!({"list": ["x", "y"]}).as_object().unwrap().clone();
    let begins = created(plan([("a", utility().each("state.list"))]));
    let (_, events) = run(RunCreated { state, ..begins }, &["{}", "{}"]);
    let told = tell(&events);
    for line in ["a 1.1 started on WI-1", "a 2.1 started on WI-2"] {
        assert!(told.contains(line), "{line} in {told}");
    }
    assert!(told.ends_with("entryIndex at 2 of 2\na routes to end\ncompleted"), "{told}");
    assert_eq!(input_of(&events, "a")["item"], json!("y"));
}

#[test]
fn only_elements_that_have_what_is_required_are_worked_on() {
    let mut b = utility().each("state.list");
    b.requires = vec!["item.owner".parse().unwrap()];
    let mut play = Play::of(plan([("a", utility().edge(Always, "b")), ("b", b)]));
    let told = play.end(r#"{"state": {"list": [{"owner": "x"}, {}, {"owner": "z"}]}}"#);
    assert!(told.ends_with("b 1.1 started on WI-1"), "it is asked: {told}");
    // The second has nobody, and is answered for.
    let told = play.end("{}");
    assert!(told.contains("b 2.1 started on WI-2\nb 2.1 completed"), "{told}");
    assert!(told.ends_with("b 3.1 started on WI-3"), "{told}");
}

#[test]
fn a_node_that_was_not_asked_is_not_satisfied_and_says_what_was_missing() {
    let mut a = agent().edge(Satisfied, "yes").edge(NotSatisfied, "no");
    a.requires = vec!["state.notes".parse().unwrap()];
    let nodes = plan([("a", a), ("yes", agent().text()), ("no", agent().text())]);
    let (_, events) = run(created(nodes), &["done"]);
    let told = tell(&events);
    assert!(
        told.contains("a routes to no\nfollow-up for no: state.notes is not available"),
        "{told}"
    );
    let prompt = prompt_of(&events, "no");
    assert!(prompt.contains("# From a\nstate.notes is not available"), "{prompt}");
}

#[test]
fn a_way_back_from_a_list_is_bounded_and_tells_its_reason() {
    // What sends the work back is the whole list, whichever element it was about last.
    let check = agent().each("state.list").edge(NotSatisfied, "build").bounded(2);
    let nodes = plan([
        ("a", utility().edge(Always, "build")),
        ("build", agent().text().edge(Always, "check")),
        ("check", check),
    ]);
    let no = r#"{"satisfied": false, "context": "no tests"}"#;
    let list = r#"{"state": {"list": ["x"]}}"#;
    let (_, events) = run(created(nodes), &[list, "1", no, "2", no, "3", no]);
    let prompt = prompt_of(&events, "build");
    assert!(prompt.contains("check: no tests"), "{prompt}");
    let told = tell(&events);
    assert!(told.contains("build 3.1 started") && !told.contains("build 4.1"), "{told}");
    assert!(told.contains("failed edge_exhausted"), "{told}");
}
