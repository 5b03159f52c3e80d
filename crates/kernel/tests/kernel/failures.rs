//! The report of a failed run.

use materia_contract::{Condition, Do, Edge, EventBody, NodeId, RunFailed};
use materia_kernel::{Input, Phase, Run};

use crate::play::{NodeExt as _, Play, agent, created, looped, plan, run, utility};

fn failure(run: &Run) -> RunFailed {
    match run.phase() {
        Phase::Failed(failed) => failed.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_failed_utility_names_the_files_that_show_what_it_did() {
    let (run, _) = run(created(plan([("check", utility())])), &["!it broke"]);
    let failed = failure(&run);
    assert_eq!(failed.socket, Some(NodeId::new("check")));
    let files = ["input.json", "stdout", "stderr", "meta.json"];
    let files = files.map(|name| format!("{{runDir}}/sockets/check/1-1.{name}"));
    assert_eq!(failed.artifacts, files);
}

#[test]
fn a_failed_agent_names_the_files_of_its_last_attempt() {
    let (run, _) = run(created(plan([("build", agent())])), &["nonsense", "nonsense again"]);
    let files = ["prompt.txt", "output.txt", "meta.json"];
    let files = files.map(|name| format!("{{runDir}}/sockets/build/1-2.{name}"));
    assert_eq!(failure(&run).artifacts, files);
}

#[test]
fn what_breaks_the_contract_leaves_nothing_among_the_variables() {
    // It exited well, so what it put out is an answer, and a bad one; only a failure leaves evidence (D49).
    let broken = r#"{"state": {"x": 1}, "satisfied": "no"}"#;
    let (run, events) = run(created(plan([("check", utility())])), &[broken]);
    assert_eq!(failure(&run).code.word(), "contract_error");
    let patched =
        |event: &materia_contract::Event| matches!(event.body, EventBody::StatePatched(_));
    assert!(!events.iter().any(patched));
}

#[test]
fn a_run_whose_process_died_while_it_was_being_stopped_goes_on_when_it_is_resumed() {
    let mut play = Play::of(plan([("build", agent())]));
    play.act(Do::Stop { message: None });
    assert_eq!((play.run.phase(), play.turns().len()), (&Phase::Running, 1));
    // Nobody ended the turn: the process went away. Whoever resumes a stopped run wants it to go on.
    play.take(Input::resume(None));
    assert_eq!((play.run.phase(), play.turns().len()), (&Phase::Running, 1));
}

#[test]
fn a_way_to_fail_ends_the_run_with_what_the_socket_said_and_recast_starts_it_again() {
    // D65: the verdict is false, the edge leads to `fail`; the same socket may answer again.
    let check = agent().edge(Condition::NotSatisfied, "fail").edge(Condition::Satisfied, "end");
    let mut play = Play::of(plan([("check", check)]));
    play.end(r#"{"satisfied": false, "context": "two tests fail"}"#);
    let failed = failure(&play.run);
    assert_eq!(failed.code.word(), "graph_failed");
    assert_eq!(failed.message, "two tests fail");
    assert_eq!(failed.socket, Some(NodeId::new("check")));
    play.act(Do::Recast);
    assert_eq!(play.turns().len(), 1, "the socket runs again");
    play.end(r#"{"satisfied": true}"#);
    assert_eq!((play.run.phase(), play.run.verdict()), (&Phase::Completed, Some(true)));
}

#[test]
fn a_loop_that_led_to_fail_stands_at_the_item_again_that_is_recast() {
    let nodes = plan([
        ("plan", agent().generator().edge(Condition::Always, "work")),
        ("work", agent().advances(Condition::Always).edge(Condition::Always, "work")),
    ]);
    let exits = [("work", Condition::NotSatisfied, "fail")];
    let mut play = Play::of(looped(nodes, "items", &["work"], Some("plan"), &exits));
    play.end(r#"{"workItems": [{"title": "a", "context": "x"}, {"title": "b", "context": "y"}]}"#);
    play.end(r#"{"satisfied": true}"#);
    play.end(r#"{"satisfied": false, "context": "b is not done"}"#);
    assert_eq!(failure(&play.run).message, "b is not done");
    let told = play.act(Do::Recast);
    assert!(told.ends_with("work 2.2 started on WI-2"), "{told}");
    play.end(r#"{"satisfied": true}"#);
    assert_eq!(play.run.phase(), &Phase::Completed);
}

#[test]
fn a_way_to_fail_ends_every_branch_and_what_was_in_flight() {
    let nodes = plan([
        ("start", utility().all().edge(Condition::Always, "a").edge(Condition::Always, "b")),
        ("a", utility().all().edge(Condition::Always, "fail")),
        ("b", utility().all()),
    ]);
    let mut play = Play::of(nodes);
    play.end("{}");
    assert_eq!(play.turns().len(), 2);
    play.end(r#"{"context": "a gives up"}"#);
    assert_eq!(failure(&play.run).message, "a gives up");
    assert_eq!(play.turns().len(), 0);
    play.act(Do::Recast);
    assert_eq!(play.turns().len(), 2, "the interrupted turn of `b` runs again, too");
}

#[test]
fn a_failed_turn_may_lead_to_the_end_or_to_fail() {
    let to = |fails: bool| {
        let mut node = utility();
        node.on_failure = Some(Edge {
            id: materia_contract::on_failure_edge("a"),
            when: Condition::Always,
            guard: None,
            to: None,
            fails,
            max_traversals: None,
            delivery: materia_contract::Delivery::default(),
        });
        run(created(plan([("a", node)])), &["!it broke"]).0
    };
    assert_eq!(to(false).phase(), &Phase::Completed);
    let failed = failure(&to(true));
    assert_eq!(failed.code.word(), "graph_failed");
    assert!(failed.message.contains("it broke"), "{}", failed.message);
}

#[test]
fn a_run_with_branches_is_satisfied_only_if_all_of_their_ends_are() {
    let nodes = |judge: &str, other: &str| {
        let mut play = Play::of(plan([
            ("start", utility().all().edge(Condition::Always, "a").edge(Condition::Always, "b")),
            ("a", utility().all().edge(Condition::Satisfied, "end")),
            ("b", utility().all().edge(Condition::Always, "c")),
            ("c", utility().all()),
        ]));
        for answer in ["{}", judge, other, "{}"] {
            play.end(answer);
        }
        play.run.verdict()
    };
    let (yes, no) = (r#"{"satisfied": true}"#, r#"{"satisfied": false}"#);
    assert_eq!(nodes(no, yes), Some(false), "the branch of `a` ended so, by no edge");
    assert_eq!(nodes(yes, no), Some(true), "`b` ended no branch");
}
