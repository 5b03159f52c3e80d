//! Generators, loops, rework and prompts.

use insta::assert_snapshot;
use materia_contract::{Condition, Do, EventBody, Input, Plan};
use serde_json::json;

use crate::play::{
    NodeExt as _, agent, created, input_of, looped, plan, play, prompt_of, run, tell, utility,
};

use Condition::{Always, NotSatisfied, Satisfied};

const YES: &str = r#"{"satisfied": true}"#;
const NO: &str = r#"{"satisfied": false, "context": "no test"}"#;

fn items(count: usize) -> String {
    let items: Vec<_> = (1..=count)
        .map(|n| json!({"title": format!("T{n}"), "context": format!("C{n}")}))
        .collect();
    json!({ "workItems": items }).to_string()
}

/// plan → (build → eval → maintain)*, with eval sending back what is not good.
fn workflow() -> Plan {
    let nodes = [
        ("plan", agent().generator().edge(Always, "build")),
        ("build", agent().text().edge(Always, "eval")),
        ("eval", agent().edge(Satisfied, "maintain").edge(NotSatisfied, "build")),
        ("maintain", utility().advances(Always).edge(Always, "build")),
        ("after", agent().text()),
    ];
    let members = ["build", "eval", "maintain"];
    looped(plan(nodes), "work", &members, Some("plan"), &[("maintain", Always, "after")])
}

#[test]
fn each_item_is_built_evaluated_and_checkpointed_then_the_exit_is_taken() {
    let (_, events) = run(
        created(workflow()),
        &[&items(2), "built", YES, "{}", "built", NO, "again", YES, "{}", "done"],
    );
    let told: Vec<String> = tell(&events)
        .lines()
        .filter(|line| line.contains("started") || line.contains("work") || line.contains("follow"))
        .map(str::to_owned)
        .collect();
    assert_snapshot!(told.join("\n"), @r#"
    plan 1.1 started
    patched {} {"workItems":[{"title":"T1","context":"C1"},{"title":"T2","context":"C2"}]}
    entered work (1): 2 items
    build 1.1 started on WI-1
    eval 1.1 started on WI-1
    maintain 1.1 started on WI-1
    workItemIndex at 1 of 2
    build 2.1 started on WI-2
    eval 2.1 started on WI-2
    follow-up for build: no test
    build 3.1 started on WI-2
    eval 3.1 started on WI-2
    maintain 2.1 started on WI-2
    workItemIndex at 2 of 2
    work exhausted, to after
    sent over loop-exit:work:maintain:always
    after 1.1 started
    "#);
    assert!(tell(&events).ends_with("completed"));
}

#[test]
fn a_utility_in_a_loop_is_told_its_item() {
    let (_, events) = run(created(workflow()), &[&items(2), "b", YES, "{}", "b", YES]);
    let input = input_of(&events, "maintain");
    assert_eq!(input["item"], json!({"title": "T2", "context": "C2"}));
    assert_eq!((&input["itemKey"], &input["itemLabel"]), (&json!("WI-2"), &json!("T2")));
    assert_eq!(input["cursor"], json!({"name": "workItemIndex", "index": 1, "count": 2}));
    assert_eq!(input["cursors"], json!({"workItemIndex": 1}));
}

#[test]
fn an_empty_loop_is_left_before_any_member_runs() {
    let told = play(workflow(), &[&items(0), "done"]);
    assert!(told.contains("entered work (1): 0 items\nwork exhausted, to after"), "{told}");
    assert!(!told.contains("build 1.1"), "{told}");
}

#[test]
fn a_loop_entered_again_starts_at_its_first_item_with_the_new_list() {
    let nodes = [
        ("plan", agent().generator().edge(Always, "build")),
        ("build", agent().text().advances(Always).edge(Always, "build")),
        ("check", agent().edge(NotSatisfied, "plan").bounded(3).edge(Satisfied, "end")),
    ];
    let plan = looped(plan(nodes), "work", &["build"], Some("plan"), &[("build", Always, "check")]);
    let told = play(plan, &[&items(2), "b", "b", NO, &items(1), "b", YES]);
    assert!(told.contains("entered work (2): 1 items"), "{told}");
    assert_eq!(told.matches("build 3.1 started on WI-1").count(), 1, "{told}");
    assert!(told.ends_with("completed"), "{told}");
}

#[test]
fn exits_follow_the_verdict_then_always_then_the_end() {
    let left_to = |answer: &str, exits: &[(&str, Condition, &str)]| {
        let mut last = utility().advances(Always).edge(Always, "b");
        last.parse = materia_contract::Parse::Json;
        let nodes = [
            ("plan", agent().generator().edge(Always, "b")),
            ("b", last),
            ("yes", utility().text()),
            ("no", utility().text()),
            ("other", utility().text()),
        ];
        let plan = looped(plan(nodes), "work", &["b"], Some("plan"), exits);
        let (_, events) = run(created(plan), &[&items(1), answer]);
        let told = tell(&events);
        let line = told.lines().find_map(|line| line.strip_prefix("work exhausted, to "));
        line.unwrap().to_owned()
    };
    let all = [("b", Satisfied, "yes"), ("b", NotSatisfied, "no"), ("b", Always, "other")];
    assert_eq!(left_to(YES, &all), "yes");
    assert_eq!(left_to(NO, &all), "no");
    assert_eq!(left_to("{}", &all), "other");
    assert_eq!(left_to(YES, &all[1..]), "other");
    assert_eq!(left_to("{}", &all[..2]), "end");
    assert_eq!(left_to(YES, &[("plan", Always, "other")]), "end", "another member's exit");
}

#[test]
fn nested_loops_have_their_own_cursors() {
    let nodes = [
        ("outer", agent().generator().edge(Always, "inner")),
        ("inner", agent().generator().edge(Always, "leaf")),
        ("leaf", utility().text().advances(Always).edge(Always, "leaf")),
        ("next", utility().text().advances(Always).edge(Always, "inner")),
    ];
    let plan = looped(plan(nodes), "big", &["inner", "leaf", "next"], Some("outer"), &[]);
    let plan = looped(plan, "small", &["leaf"], Some("inner"), &[("leaf", Always, "next")]);
    let (_, events) =
        run(created(plan), &[&items(2), &items(2), "l", "l", "n", &items(1), "l", "n"]);
    let told = tell(&events);
    assert!(told.contains("entered small (2): 1 items"), "{told}");
    assert!(told.contains("leaf 3.1 started on WI-1"), "{told}");
    assert!(told.contains("next 2.1 started on WI-2"), "{told}");
    assert!(told.ends_with("completed"), "{told}");
}

#[test]
fn a_bound_counts_for_each_item_anew() {
    let mut plan = workflow();
    plan.nodes["eval"].edges[1].max_traversals = Some(2);
    let item = ["b", NO, "b", NO, "b", YES, "{}"];
    let mut answers = vec![items(2)];
    answers.extend(item.iter().chain(&item).map(ToString::to_string));
    answers.push("done".into());
    let answers: Vec<&str> = answers.iter().map(String::as_str).collect();
    assert!(play(plan.clone(), &answers).ends_with("completed"));
    let told = play(plan, &[&items(1), "b", NO, "b", NO, "b", NO]);
    assert!(told.lines().last().unwrap().starts_with("failed edge_exhausted"), "{told}");
}

#[test]
fn rework_without_end_is_stopped_for_each_item() {
    let mut answers = vec![items(1)];
    for _ in 0..4 {
        answers.extend(["b".to_owned(), NO.to_owned()]);
    }
    let answers: Vec<&str> = answers.iter().map(String::as_str).collect();
    let told = play(workflow(), &answers);
    let last = told.lines().last().unwrap();
    assert!(
        last.starts_with("failed no_advance") && last.contains("build -> eval -> build"),
        "{last}"
    );
}

#[test]
fn an_agent_that_breaks_the_contract_is_asked_once_more_and_a_utility_is_not() {
    let nodes = || plan([("a", agent().edge(Satisfied, "end").edge(NotSatisfied, "end"))]);
    let (_, events) = run(created(nodes()), &["no json", YES]);
    assert_snapshot!(tell(&events[3..]), @r#"
    a 1.1 started
    a 1.1 failed: `a` broke its contract: no JSON object was found in the answer (expected ident at line 1 column 2)
    a 1.2 started
    a 1.2 completed
    a routes to end
    completed
    "#);
    assert!(prompt_of(&events, "a").contains("no JSON object was found"));
    let told = play(nodes(), &["{}", "{}"]);
    assert!(told.contains("$.satisfied is missing"), "{told}");
    assert!(told.lines().last().unwrap().starts_with("failed contract_error"), "{told}");
    let told = play(plan([("a", utility())]), &["no json"]);
    assert!(told.lines().last().unwrap().starts_with("failed contract_error"), "{told}");
}

#[test]
fn what_a_model_writes_around_its_object_does_not_matter() {
    let (after, events) = run(
        created(plan([("a", agent().generator())])),
        &[
            "Here:\n```json\n{\"workItems\": [{\"title\": \"t\", \"context\": \"c\", \"id\": 7}], \"summary\": 1}\n```",
        ],
    );
    assert_eq!(after.variables()["workItems"], json!([{"title": "t", "context": "c"}]));
    let told = tell(&events);
    assert!(told.contains("ignored $.workItems.0.id"), "{told}");
    assert!(told.contains("ignored $.summary"), "{told}");
}

#[test]
fn prompts_are_layers_laid_end_to_end() {
    let (_, events) = run(created(workflow()), &[&items(3), "built", NO, "again", NO]);
    let mut sizes = Vec::new();
    for event in &events {
        let EventBody::TurnStarted(data) = &event.body else { continue };
        let prompt = data.prompt.as_ref().unwrap();
        let mut end = 0;
        for layer in &data.layers {
            assert_eq!(layer.start, end, "no gap");
            assert!(!layer.origin.is_empty() && layer.end > layer.start);
            end = layer.end;
        }
        assert_eq!(end, prompt.len(), "no byte without a layer");
        sizes.push((event.node.as_ref().unwrap().to_string(), prompt.len()));
    }
    let prompt = prompt_of(&events, "build");
    assert!(prompt.contains("\"kind\": \"tick\"") && prompt.contains("\"objective\": \"Do it."));
    assert!(prompt.contains("eval: no test") && !prompt.contains("# Request"), "{prompt}");
    let first = &events[3];
    assert!(
        matches!(&first.body, EventBody::TurnStarted(data) if data.prompt.as_ref().unwrap().contains("workItems"))
    );
}

#[test]
fn a_thousand_items_with_two_reworks_run_through_and_prompts_do_not_grow() {
    const ITEMS: usize = 1_000;
    let mut answers = vec![items(ITEMS)];
    for _ in 0..ITEMS {
        answers.extend(["built", NO, "built", NO, "built", YES, "{}"].map(str::to_owned));
    }
    answers.push("done".into());
    let answers: Vec<&str> = answers.iter().map(String::as_str).collect();
    let (after, events) = run(created(workflow()), &answers);
    assert_eq!(*after.phase(), materia_kernel::Phase::Completed);
    // The first prompt of each item: every third visit of `build`.
    let first_prompts: Vec<usize> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::TurnStarted(data) if data.visit % 3 == 1 => {
                let prompt = data.prompt.as_ref()?;
                (event.node.as_ref()?.as_str() == "build").then_some(prompt.len())
            }
            _ => None,
        })
        .collect();
    assert_eq!(first_prompts.len(), ITEMS);
    // "WI-1", "T1" and "C1" have each become three digits longer.
    assert!(first_prompts[ITEMS - 1] <= first_prompts[0] + 9, "{first_prompts:?}");
    let bytes = |events: &[materia_contract::Event]| -> usize {
        events.iter().map(|event| event.body.data_json().len()).sum()
    };
    // A utility's input holds the whole list, at every step alike.
    let tenth = events.len() / 10;
    let (early, late) = (bytes(&events[tenth..2 * tenth]), bytes(&events[8 * tenth..9 * tenth]));
    assert!(late * 100 <= early * 115, "{late} bytes of events against {early}");
}

#[test]
fn generators_chain_and_a_validator_passes_items_through() {
    let nodes = [
        ("first", agent().generator().edge(Always, "second")),
        ("second", agent().generator().edge(Always, "sigil")),
        ("sigil", utility().generator().edge(Satisfied, "work").edge(NotSatisfied, "first")),
        ("work", utility().text().advances(Always).edge(Always, "work")),
    ];
    let plan = looped(plan(nodes), "each", &["work"], Some("sigil"), &[]);
    let echoed =
        json!({"workItems": [{"title": "x", "context": "y"}], "satisfied": true}).to_string();
    let (_, events) = run(created(plan), &[&items(2), &items(1), &echoed, "w"]);
    assert!(prompt_of(&events, "second").contains("2. T2: C2"), "it sees the items of the first");
    assert!(tell(&events).contains("entered each (1): 1 items"));
}

/// The workflow, stopped by a person while item 1 waits to be evaluated.
fn at_rest_in_the_loop(count: usize) -> materia_kernel::Run {
    let plan = created(workflow());
    let (mut at, _) = run(plan, &[&items(count), "built"]);
    let turn = materia_kernel::turns_in_flight(&at, 2)[0];
    let stopped = [
        Input::act(Do::Stop { message: None }),
        Input::Stopped { reports: Vec::new(), message: "stopped".into() },
    ];
    assert!(turn > 0);
    for (place, input) in stopped.into_iter().enumerate() {
        materia_kernel::step(&mut at, 1_000 + i64::try_from(place).unwrap(), input).unwrap();
    }
    at
}

fn skip(run: &mut materia_kernel::Run) -> String {
    let act = Do::Skip { region: None, reason: Some("not worth it".into()) };
    tell(&materia_kernel::step(run, 2_000, Input::act(act)).unwrap())
}

#[test]
fn a_skipped_item_is_left_and_the_next_begins_where_items_begin() {
    let mut run = at_rest_in_the_loop(2);
    assert_snapshot!(skip(&mut run), @r"
    maintain skipped WI-1 of work
    workItemIndex at 1 of 2
    maintain routes to build
    sent over maintain->build
    delivered to build
    mode Pace(Auto) (skip)
    consumed by build
    build 2.1 started on WI-2
    ");
}

#[test]
fn behind_the_last_item_the_loop_is_left_as_not_satisfied() {
    let mut run = at_rest_in_the_loop(1);
    assert_snapshot!(skip(&mut run), @r"
    maintain skipped WI-1 of work
    workItemIndex at 1 of 1
    work exhausted, to after
    maintain routes to after
    sent over loop-exit:work:maintain:always
    delivered to after
    mode Pace(Auto) (skip)
    consumed by after
    after 1.1 started
    ");
}

#[test]
fn an_item_that_a_turn_works_on_is_not_skipped() {
    let (at, _) = run(created(workflow()), &[&items(2), "built"]);
    let skip = |region: Option<&str>| Do::Skip { region: region.map(str::to_owned), reason: None };
    let refused = |region| materia_kernel::decide(&at, 9, Input::act(skip(region))).unwrap_err();
    assert_eq!(
        refused(None).to_string(),
        "`eval` is at work on the item; wait for it, or stop the cast first and skip the item then"
    );
    assert_eq!(refused(Some("none")).to_string(), "the cast has no loop `none`");
    let (before, _) = run(created(workflow()), &[]);
    let early = materia_kernel::decide(&before, 9, Input::act(skip(None))).unwrap_err();
    assert_eq!(early.to_string(), "no loop of this cast is at work on an item");
}
