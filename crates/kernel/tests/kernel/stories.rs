use insta::assert_snapshot;
use materia_contract::{Condition, Do, NodeMode, Pace, RunPlace, Test};
use materia_kernel::{Input, Phase, Rejection, Run, decide, step};
use serde_json::json;

use crate::play::{NodeExt as _, agent, created, input_of, plan, play, run, tell, utility};

use Condition::{Always, NotSatisfied, Satisfied};

#[test]
fn one_node_and_the_end() {
    assert_snapshot!(play(plan([("a", agent().edge(Always, "end"))]), &["{}"]), @r"
    created
    delivered to a
    consumed by a
    a 1.1 started
    a 1.1 completed
    a routes to end
    completed
    ");
}

#[test]
fn a_payload_is_sent_delivered_and_consumed_before_its_turn_starts() {
    let plan = plan([("a", agent().edge(Always, "b")), ("b", agent().text())]);
    assert_snapshot!(play(plan, &["{}", "done"]), @r"
    created
    delivered to a
    consumed by a
    a 1.1 started
    a 1.1 completed
    a routes to b
    sent over a->b
    delivered to b
    consumed by b
    b 1.1 started
    b 1.1 completed
    b routes to end
    completed
    ");
}

#[test]
fn the_first_matching_edge_wins_and_only_a_boolean_matches_a_guard() {
    let routes = |answer: &str| {
        let node = utility().edge(Satisfied, "yes").edge(NotSatisfied, "no").edge(Always, "other");
        let plan = plan([
            ("a", node),
            ("yes", agent().text()),
            ("no", agent().text()),
            ("other", agent().text()),
        ]);
        let (_, events) = run(created(plan), &[answer, "x"]);
        let told = tell(&events);
        told.lines().find_map(|line| line.strip_prefix("a routes to ")).unwrap().to_owned()
    };
    assert_eq!(routes(r#"{"satisfied": true}"#), "yes");
    assert_eq!(routes(r#"{"satisfied": false}"#), "no");
    assert_eq!(routes("{}"), "other");
    assert_eq!(routes(r#"{"state": {"satisfied": true}}"#), "other");
}

#[test]
fn a_verdict_that_is_no_boolean_is_a_contract_error() {
    for verdict in ["\"true\"", "1", "null"] {
        let answer = format!("{{\"satisfied\": {verdict}}}");
        let told = play(plan([("a", utility().edge(Always, "end"))]), &[&answer]);
        assert!(told.contains("failed contract_error") && told.contains("$.satisfied"), "{told}");
    }
}

#[test]
fn a_utility_merges_its_state_and_an_agent_does_not() {
    let answer = r#"{"state": {"x": 1, "satisfied": true, "workItems": []}}"#;
    let from_utility = run(created(plan([("a", utility())])), &[answer]);
    assert_eq!(*from_utility.0.variables(), *json!({"x": 1}).as_object().unwrap());
    assert!(tell(&from_utility.1).contains("ignored $.state.satisfied, $.state.workItems"));
    let from_agent = run(created(plan([("a", agent())])), &[answer]);
    assert!(from_agent.0.variables().is_empty());
    assert!(tell(&from_agent.1).contains("ignored $.state"));
}

#[test]
fn assign_copies_in_order_and_sees_what_came_before() {
    let node = utility()
        .assign("first", "$.a.0")
        .assign("deep.copy", "state.first")
        .assign("deep.text", "lastOutput")
        .assign("merged", "state.m")
        .assign("absent", "state.nothing");
    let (after, _) = run(created(plan([("a", node)])), &[r#"{"a": [7], "state": {"m": 2}}"#]);
    let expected = json!({
        "m": 2, "first": 7, "merged": 2,
        "deep": {"copy": 7, "text": r#"{"a": [7], "state": {"m": 2}}"#},
    });
    assert_eq!(serde_json::Value::Object(after.variables().clone()), expected);
}

#[test]
fn a_missing_output_path_is_named_and_null_is_not_missing() {
    let node = || utility().assign("x", "$.a").assign("y", "$.b.c");
    let told = play(plan([("a", node())]), &[r#"{"a": null}"#]);
    assert!(told.contains("$.b.c is missing in the output"), "{told}");
    assert!(!told.contains("$.a is missing"), "{told}");
    let told = play(plan([("a", node())]), &[r#"{"a": null, "b": {"c": null}}"#]);
    assert!(told.ends_with("completed"), "{told}");
}

#[test]
fn output_that_is_no_json_object_fails_a_json_node_only() {
    for answer in ["", "text", "[1]", "{", "3"] {
        let told = play(plan([("a", utility())]), &[answer]);
        assert!(told.contains("failed contract_error"), "{answer:?}: {told}");
        let told = play(plan([("a", utility().text())]), &[answer]);
        assert!(told.ends_with("completed"), "{answer:?}: {told}");
    }
}

#[test]
fn where_looks_at_state() {
    let node = || {
        utility()
            .edge(Always, "git")
            .only_where("state.vcs.kind", Test::Equals(json!("git")))
            .edge(Always, "some")
            .only_where("state.vcs", Test::Exists(true))
            .edge(Always, "none")
            .only_where("state.vcs.kind", Test::NotEquals(json!("jj")))
    };
    let routes = |answer: &str| {
        let plan = plan([
            ("a", node()),
            ("git", utility().text()),
            ("some", utility().text()),
            ("none", utility().text()),
        ]);
        tell(&run(created(plan), &[answer, ""]).1)
    };
    assert!(routes(r#"{"state": {"vcs": {"kind": "git"}}}"#).contains("routes to git"));
    assert!(routes(r#"{"state": {"vcs": {"kind": "jj"}}}"#).contains("routes to some"));
    assert!(routes("{}").contains("routes to none"), "notEquals holds where the path is missing");
}

#[test]
fn a_cycle_without_progress_is_stopped_and_named() {
    let plan = plan([("a", agent().edge(Always, "b")), ("b", agent().edge(Always, "a"))]);
    let told = play(plan, &["{}"; 8]);
    let last = told.lines().last().unwrap();
    assert!(last.starts_with("failed no_advance") && last.contains("a -> b -> a"), "{last}");
    assert_eq!(told.matches("a 4.1 started").count(), 1, "it ran once and after three cycles");
    assert!(!told.contains("a 5.1"), "{told}");
}

#[test]
fn a_bounded_edge_may_close_cycles_until_its_bound() {
    let again = agent().edge(NotSatisfied, "a").bounded(5).edge(Always, "end");
    let no = r#"{"satisfied": false}"#;
    let told = play(plan([("a", again)]), &[no; 6]);
    let last = told.lines().last().unwrap();
    assert!(last.starts_with("failed edge_exhausted") && last.contains("a->a"), "{last}");
    assert!(told.contains("a 6.1 completed") && !told.contains("a 7.1"), "{told}");
}

#[test]
fn foreach_runs_once_for_each_element_and_routes_once() {
    let list = utility().edge(Always, "each");
    let each = utility().each("state.list").edge(Always, "end");
    let answers = [r#"{"state": {"list": [{"title": "one"}, "two"]}}"#, "{}", "{}"];
    let (_, events) = run(created(plan([("list", list), ("each", each)])), &answers);
    assert_snapshot!(tell(&events[9..]), @r"
    entryIndex at 0 of 2
    consumed by each
    each 1.1 started on WI-1
    each 1.1 completed
    entryIndex at 1 of 2
    each 2.1 started on WI-2
    each 2.1 completed
    entryIndex at 2 of 2
    each routes to end
    completed
    ");
    let input = input_of(&events, "each");
    assert_eq!(input["item"], json!("two"));
    assert_eq!(input["itemKey"], json!("WI-2"));
    assert_eq!(input["itemLabel"], json!("two"));
    assert_eq!(input["cursor"], json!({"name": "entryIndex", "index": 1, "count": 2}));
    assert_eq!(input["cursors"], json!({"entryIndex": 1}));
    assert_eq!(input["state"]["entry"], json!("two"));
}

#[test]
fn an_empty_foreach_runs_nothing_and_routes_without_a_verdict() {
    let each = utility().each("state.list").edge(Satisfied, "no").edge(Always, "end");
    let nodes = [("list", utility().edge(Always, "each")), ("each", each), ("no", utility())];
    let (_, events) = run(created(plan(nodes)), &[r#"{"state": {"list": []}}"#]);
    assert_snapshot!(tell(&events[9..]), @r"
    entryIndex at 0 of 0
    consumed by each
    each routes to end
    completed
    ");
}

#[test]
fn a_foreach_over_something_else_fails_by_name() {
    let told = play(plan([("each", utility().each("state.list"))]), &[]);
    assert!(told.contains("failed contract_error: `each` cannot iterate: state.list"), "{told}");
}

#[test]
fn a_utility_is_given_the_documented_object() {
    let node = utility().edge(Always, "b");
    let (_, events) =
        run(created(plan([("a", node), ("b", utility())])), &[r#"{"state": {"k": 1}}"#, "{}"]);
    let input = input_of(&events, "b");
    let mut keys: Vec<&str> = input.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    let expected = [
        "castId",
        "cursor",
        "cursors",
        "cwd",
        "globalMode",
        "inputs",
        "item",
        "itemKey",
        "itemLabel",
        "params",
        "request",
        "runDir",
        "socketId",
        "state",
    ];
    assert_eq!(keys, expected);
    assert_eq!(input["state"], json!({"k": 1}));
    assert_eq!(input["item"], json!(null));
    assert_eq!(input["cursors"], json!({}));
    assert_eq!(input["inputs"][0]["fromNodeId"], json!("a"));
    assert_eq!(input["inputs"][0]["edgeId"], json!("a->b"));
    assert_eq!(input["inputs"][0]["message"], json!(r#"{"state": {"k": 1}}"#));
}

#[test]
fn a_failed_turn_fails_the_run_and_interrupts_the_others() {
    let nodes = [
        ("a", agent().all().edge(Always, "b").edge(Always, "c")),
        ("b", utility()),
        ("c", utility()),
    ];
    assert_snapshot!(play(plan(nodes), &["{}", "!it broke"]), @r"
    created
    delivered to a
    consumed by a
    a 1.1 started
    a 1.1 completed
    a routes to b
    sent over a->b
    delivered to b
    a routes to c
    sent over a->c
    delivered to c
    consumed by b
    b 1.1 started
    consumed by c
    c 1.1 started
    b 1.1 failed: it broke
    c 1.1 interrupted
    failed utility_failed: it broke
    ");
}

fn started() -> Run {
    let mut run = Run::new(materia_contract::RunId::new("r"));
    let plan = plan([("a", agent().edge(Always, "end"))]);
    step(&mut run, 5, Input::Create(created(plan).into())).unwrap();
    run
}

fn resume() -> Input {
    Input::taken_up(
        Do::Resume { pace: None },
        RunPlace { cwd: "/q".into(), run_dir: "/q/r".into(), files: None },
    )
}

#[test]
fn a_lost_turn_runs_again_as_its_next_attempt() {
    let events = decide(&started(), 9, resume()).unwrap();
    assert_snapshot!(tell(&events), @r"
    a 1.1 interrupted
    resumed
    a 1.2 started
    ");
}

#[test]
fn a_node_that_asks_waits_until_it_is_resumed_again() {
    let mut node = agent().edge(Always, "end");
    node.on_interrupt = materia_contract::OnInterrupt::Ask;
    let mut run = Run::new(materia_contract::RunId::new("r"));
    step(&mut run, 5, Input::Create(created(plan([("a", node)])).into())).unwrap();
    assert_snapshot!(tell(&step(&mut run, 9, resume()).unwrap()), @r"
    a 1.1 interrupted
    waiting: approval
    ");
    assert_snapshot!(tell(&step(&mut run, 10, resume()).unwrap()), @r"
    resumed
    a 1.2 started
    ");
}

#[test]
fn a_stopped_run_goes_on_and_an_aborted_one_does_not() {
    let mut run = started();
    let stop = Input::Stopped { reports: Vec::new(), message: "for now".into() };
    assert_snapshot!(tell(&step(&mut run, 9, stop.clone()).unwrap()), @r"
    a 1.1 interrupted
    waiting: interactive
    ");
    assert_eq!(step(&mut run, 9, stop), Err(Rejection::NotRunning));
    assert_snapshot!(tell(&step(&mut run, 9, resume()).unwrap()), @r"
    resumed
    a 1.2 started
    ");
    let abort = Input::act(Do::Abort { reason: Some("enough".into()) });
    assert_snapshot!(tell(&step(&mut run, 9, abort.clone()).unwrap()), @r"
    a 1.2 interrupted
    aborted
    ");
    assert!(matches!(step(&mut run, 9, resume()), Err(Rejection::Ended(_))));
    assert!(matches!(step(&mut run, 9, abort), Err(Rejection::Ended(_))));
}

#[test]
fn a_report_counts_once() {
    let mut run = started();
    let report = Input::report(4, crate::play::outcome("{}"));
    step(&mut run, 9, report.clone()).unwrap();
    assert_eq!(step(&mut run, 9, report), Err(Rejection::StaleTurn { turn: 4 }));
}

#[test]
fn interactive_pace_starts_nothing_and_a_manual_node_keeps_its_input() {
    let mut created_run = created(plan([("a", agent())]));
    created_run.pace = Pace::Interactive;
    assert!(tell(&run(created_run, &[]).1).ends_with("waiting: interactive"));
    let mut node = agent();
    node.mode = NodeMode::Interactive;
    assert!(play(plan([("a", node)]), &[]).ends_with("waiting: manual"));
    let mut node = agent();
    node.trigger = materia_contract::Trigger::ManualOnly;
    assert!(play(plan([("a", node)]), &[]).ends_with("waiting: manual"));
}

#[test]
fn time_never_stands_still_or_goes_back() {
    let mut run = started();
    let before = run.ts();
    let report = Input::report(4, crate::play::outcome("{}"));
    let events = step(&mut run, -50, report).unwrap();
    assert!(events.is_sorted_by_key(|event| event.ts) && events[0].ts > before);
    assert_eq!(*run.phase(), Phase::Completed);
}
