//! Parsing of an output: the object in it, the fields that the graph needs, the values that `assign` copies.

use materia_contract::Condition;
use serde_json::{Value, json};

use crate::play::{NodeExt as _, agent, created, looped, plan, prompt_of, run, tell, utility};

use Condition::{Always, NotSatisfied, Satisfied};

/// The variables after a plan has met these answers.
fn state(plan: materia_contract::Plan, answers: &[&str]) -> Value {
    Value::Object(run(created(plan), answers).0.variables().clone())
}

#[test]
fn words_around_an_agents_object_are_no_part_of_it() {
    let nodes = || {
        let reader = utility().text().assign("seen", "lastJson.context");
        plan([("a", agent().edge(Always, "b")), ("b", reader)])
    };
    for answer in [
        "{\"context\": \"why\"}",
        "Here it is:\n```json\n{\"context\": \"why\"}\n```\nDone.",
        "{\"context\": \"why\"} and that is all",
        "So {\"context\": \"why\"}",
    ] {
        assert_eq!(state(nodes(), &[answer, "ok"]), json!({"seen": "why"}), "{answer}");
    }
}

#[test]
fn a_node_can_copy_from_its_own_object_whatever_is_around_it() {
    let nodes = || plan([("a", agent().assign("mine", "lastJson.context"))]);
    assert_eq!(state(nodes(), &["{\"context\": \"x\"}"]), json!({"mine": "x"}));
    assert_eq!(state(nodes(), &["Well: {\"context\": \"x\"}."]), json!({"mine": "x"}));
}

#[test]
fn text_is_not_searched_for_objects() {
    let reader = utility().text().assign("seen", "lastJson.context");
    let nodes = plan([("a", agent().text().edge(Always, "b")), ("b", reader)]);
    assert_eq!(state(nodes, &["{\"context\": \"why\"}", "ok"]), json!({}));
}

#[test]
fn an_integer_of_more_than_64_bits_breaks_the_contract() {
    const WIDE: &str = "18446744073709551616";
    let said = format!("the integer {WIDE} has more than 64 bits; write it as a string");
    let count = || utility().assign("n", "$.n");
    let output = |n: &str| format!("{{\"n\": {n}}}");
    let told = tell(&run(created(plan([("a", count())])), &[&output(WIDE)]).1);
    assert!(
        told.contains(&format!("failed contract_error: `a` broke its contract: {said}")),
        "{told}"
    );
    for held in ["18446744073709551615", "-9223372036854775808", "4.964670416023219e-8"] {
        let state = state(plan([("a", count())]), &[&output(held)]);
        assert_eq!(state.to_string(), format!("{{\"n\":{held}}}"));
    }

    // An agent is told, and only the object that was chosen counts.
    let answer = |n: &str| format!("Of {WIDE} and {{\"m\": {WIDE}}}:\n{{\"n\": {n}}}");
    let asks = || plan([("a", agent().assign("n", "$.n"))]);
    let (run, events) = run(created(asks()), &[&answer(WIDE), &answer("7")]);
    let told = tell(&events);
    assert!(told.contains("a 1.2 started") && told.contains(&said), "{told}");
    assert_eq!(run.variables()["n"], json!(7));
    let string = answer(&format!("\"{WIDE}\""));
    assert_eq!(state(asks(), &[&string]), json!({ "n": WIDE }));
}

#[test]
fn a_utility_puts_out_an_object_and_nothing_else() {
    for (output, kind) in [
        ("null", "null"),
        ("true", "a boolean"),
        ("1", "a number"),
        ("\"{}\"", "a string"),
        ("[{}]", "an array"),
    ] {
        let told = tell(&run(created(plan([("a", utility())])), &[output]).1);
        let expected = format!("the output must be a JSON object, not {kind}");
        assert!(told.contains(&expected), "{told}");
    }
}

#[test]
fn what_assign_reads_by_name_is_not_ignored() {
    let answer = ["{\"extra\": 1, \"other\": 2}"];
    let reads = agent().assign("x", "$.extra");
    assert!(tell(&run(created(plan([("a", reads)])), &answer).1).contains("ignored $.other\n"));
    let elsewhere = agent().assign("x", "state.extra").assign("y", "lastJson.other");
    let told = tell(&run(created(plan([("a", elsewhere)])), &answer).1);
    assert!(told.contains("ignored $.extra, $.other\n"), "{told}");
}

#[test]
fn an_agent_is_told_of_each_field_that_the_graph_reads_once() {
    let node = agent()
        .assign("x", "$.score.total")
        .assign("y", "$.score")
        .assign("z", "$.context")
        .assign("v", "state.hidden");
    let prompt = prompt_of(&run(created(plan([("a", node)])), &[]).1, "a");
    let told = "- `score`: this graph reads `$.score.total`, `$.score`.";
    assert_eq!(prompt.matches(told).count(), 1, "{prompt}");
    assert_eq!(prompt.matches("this graph reads").count(), 1, "{prompt}");
    assert_eq!(prompt.matches("`context`: a string, always").count(), 1, "{prompt}");
}

#[test]
fn assign_sees_the_item_at_hand() {
    let item = |title: &str| format!("{{\"title\": \"{title}\", \"context\": \"c\"}}");
    let planned = format!("{{\"workItems\": [{}, {}]}}", item("one"), item("two"));
    let work = utility().text().assign("about", "item.title").advances(Always).edge(Always, "work");
    let nodes = plan([("plan", agent().generator().edge(Always, "work")), ("work", work)]);
    let nodes = looped(nodes, "items", &["work"], Some("plan"), &[("work", Always, "end")]);
    assert_eq!(state(nodes.clone(), &[&planned, "done"])["about"], "one");
    assert_eq!(state(nodes, &[&planned, "done", "done"])["about"], "two");
}

#[test]
fn a_later_source_sees_what_an_earlier_target_got() {
    let first = utility().assign("x", "$.x").edge(Always, "b");
    let second = utility().assign("x.a", "$.one").assign("copy", "state.x").assign("x.b", "$.two");
    let after = state(
        plan([("a", first), ("b", second)]),
        &["{\"x\": {\"c\": 3}}", "{\"one\": 1, \"two\": 2}"],
    );
    assert_eq!(after, json!({"x": {"c": 3, "a": 1, "b": 2}, "copy": {"c": 3, "a": 1}}));
}

#[test]
fn a_missing_field_is_named_once() {
    let failed = |node, output: &str| {
        let told = tell(&run(created(plan([("a", node)])), &[output]).1);
        told.lines().find(|line| line.contains("broke its contract")).unwrap().to_owned()
    };
    let told = failed(agent().generator(), "{}");
    assert_eq!(told.matches("workItems").count(), 1, "{told}");
    let told = failed(agent().assign("x", "$.workItems"), "{\"context\": \"c\"}");
    assert!(told.ends_with("$.workItems is missing in the output (assigned to `x`)"), "{told}");
    let told = failed(agent().generator().assign("x", "$.extra"), "{\"workItems\": []}");
    assert!(told.ends_with("$.extra is missing in the output (assigned to `x`)"), "{told}");
}

#[test]
fn a_utility_owes_a_verdict_only_where_no_edge_does_without() {
    let ends = |node| tell(&run(created(plan([("a", node), ("b", utility().text())])), &["{}"]).1);
    let asks = || utility().edge(Satisfied, "b").edge(NotSatisfied, "b");
    assert!(ends(asks()).contains("broke its contract"));
    assert!(ends(utility().edge(Satisfied, "b").edge(Always, "b")).ends_with("b 1.1 started"));
    let guarded = utility().edge(Satisfied, "b").edge(Always, "b");
    let guarded = guarded.only_where("state.x", materia_contract::Test::Exists(true));
    assert!(ends(guarded).contains("broke its contract"), "an edge with `where` is no fallback");
}
