//! Content of a payload for the next node: its parts, its status, and the result of a transform.

use indexmap::IndexMap;
use materia_contract::{
    Artifact, ArtifactRef, Condition, Do, Guard, Offered, OutputSelector, PayloadPart,
    PayloadStatus, Plan, Routing, Test, Transform, TurnOutput,
};
use materia_kernel::{Input, TurnOutcome};
use serde_json::{Value, json};

use crate::play::{NodeExt as _, Play, agent, input_of, plan, prompt_of, tell, utility};

use Condition::Always;

const VERDICT: &str = r#"{"satisfied": false, "context": "no test", "n": 7}"#;

/// `a` hands its output to `b` so.
fn pair(selector: OutputSelector, transform: Option<Transform>) -> Plan {
    let mut nodes = plan([("a", utility().edge(Always, "b")), ("b", utility().text())]);
    nodes.nodes["a"].output_selector = selector;
    nodes.nodes["a"].edges[0].delivery.transform = transform;
    nodes
}

fn report(output: &str) -> TurnOutcome {
    let (name, hash) = ("sockets/a/1-1.diff".to_owned(), "h".to_owned());
    let artifacts = vec![Artifact { kind: "diff".into(), name, hash, content: "+line".into() }];
    TurnOutcome::Ended(TurnOutput { output: output.into(), artifacts, ..TurnOutput::default() })
}

/// The input of `b` after this output of `a`.
fn envelope(nodes: Plan, output: &str) -> Value {
    let mut play = Play::of(nodes);
    let turn = play.turns()[0];
    let events = play.take(Input::report(turn, report(output)));
    input_of(&events, "b")["inputs"][0].clone()
}

#[test]
fn the_selector_says_which_parts_travel() {
    let parts = |selector| {
        let got = envelope(pair(selector, None), VERDICT);
        ["message", "structured", "artifacts"].map(|part| {
            let value = &got[part];
            !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty())
        })
    };
    assert_eq!(parts(OutputSelector::MessageFinal), [true, false, false]);
    assert_eq!(parts(OutputSelector::StructuredOutput), [false, true, false]);
    assert_eq!(parts(OutputSelector::ArtifactsDiff), [false, false, true]);
    assert_eq!(parts(OutputSelector::Composite), [true, true, true]);
}

#[test]
fn the_status_is_the_judgement_of_the_turn_and_its_reason() {
    let status = |output: &str| envelope(pair(OutputSelector::MessageFinal, None), output);
    assert_eq!(status(VERDICT)["status"], json!({"ok": false, "reason": "no test"}));
    assert_eq!(status(r#"{"satisfied": true, "context": "fine"}"#)["status"], json!({"ok": true}));
    assert_eq!(status("{}")["status"], json!({"ok": true}));
}

#[test]
fn a_person_brings_no_judgement_unless_it_is_named() {
    let offered = |status: Option<PayloadStatus>| {
        let mut play = Play::of(pair(OutputSelector::MessageFinal, None));
        let payload = Offered { message: Some("m".into()), status, ..Offered::default() };
        let events = play.take(Input::act(Do::Offer { edge: "a->b".into(), payload }));
        input_of(&events, "b")["inputs"][0].clone()
    };
    assert_eq!(offered(None)["status"], Value::Null);
    let named = PayloadStatus { ok: false, reason: Some("late".into()) };
    let got = offered(Some(named));
    assert_eq!(got["status"], json!({"ok": false, "reason": "late"}));
    assert_eq!(got["message"], "m");
}

fn transform(guard: Option<(&str, Test)>, map: &[(PayloadPart, &str)]) -> Transform {
    let guard = guard.map(|(path, test)| Guard { path: path.parse().unwrap(), test });
    let map: IndexMap<_, _> =
        map.iter().map(|(part, path)| (*part, path.parse().unwrap())).collect();
    Transform { guard, map }
}

#[test]
fn a_transform_lets_through_what_it_asks_for() {
    let story = |test: Test| {
        let asks = transform(Some(("$.status.ok", test)), &[]);
        let mut play = Play::of(pair(OutputSelector::MessageFinal, Some(asks)));
        let turn = play.turns()[0];
        tell(&play.take(Input::report(turn, report(VERDICT))))
    };
    let through = story(Test::Equals(json!(false)));
    assert!(through.ends_with("b 1.1 started"), "{through}");
    let kept = story(Test::Equals(json!(true)));
    assert!(kept.contains("b filtered a->b") && kept.ends_with("completed"), "{kept}");
}

#[test]
fn a_transform_sees_all_that_was_sent_and_replaces_what_it_names() {
    let maps = transform(
        None,
        &[
            (PayloadPart::Message, "$.artifactText.diff"),
            (PayloadPart::Structured, "$.structured.n"),
        ],
    );
    let got = envelope(pair(OutputSelector::MessageFinal, Some(maps)), VERDICT);
    assert_eq!((&got["message"], &got["structured"]), (&json!("+line"), &json!(7)));
    assert_eq!(got["status"]["ok"], false, "what is not named stays");
    let maps = transform(None, &[(PayloadPart::Message, "$.fromNodeId")]);
    let got = envelope(pair(OutputSelector::StructuredOutput, Some(maps)), VERDICT);
    assert_eq!((&got["message"], &got["structured"]["n"]), (&json!("a"), &json!(7)));
}

#[test]
fn a_prompt_in_a_dataflow_shows_the_parts_that_travel() {
    let shown = |selector| {
        let mut nodes = pair(selector, None);
        nodes.nodes["b"] = agent().text();
        nodes.nodes["a"].routing = Routing::All;
        let mut play = Play::of(nodes);
        let turn = play.turns()[0];
        prompt_of(&play.take(Input::report(turn, report(VERDICT))), "b")
    };
    let parts = ["no test\n", "```json\n{\n  \"satisfied\": false", "+line"];
    let has = |selector| parts.map(|part| shown(selector).contains(part));
    assert_eq!(has(OutputSelector::MessageFinal), [true, false, false]);
    assert_eq!(has(OutputSelector::StructuredOutput), [false, true, false]);
    assert_eq!(has(OutputSelector::ArtifactsDiff), [false, false, true]);
    assert_eq!(has(OutputSelector::Composite), [true, true, true]);
}

#[test]
fn each_artifact_is_shown_under_its_own_name_and_a_long_one_is_cut() {
    let mut nodes = pair(OutputSelector::Composite, None);
    nodes.nodes["a"].routing = Routing::All;
    nodes.nodes["b"] = agent().text();
    let mut play = Play::of(nodes);
    let TurnOutcome::Ended(mut output) = report("{}") else { unreachable!() };
    let (name, hash) = ("sockets/a/1-1.logs".to_owned(), "other".to_owned());
    let content = format!("said{}", "ä".repeat(70_000));
    output.artifacts.push(Artifact { kind: "logs".into(), name, hash, content });
    let turn = play.turns()[0];
    let prompt = prompt_of(&play.take(Input::report(turn, TurnOutcome::Ended(output))), "b");
    assert!(prompt.contains("## artifacts:diff\n+line\n"), "{prompt:.900}");
    let (_, logs) = prompt.split_once("## artifacts:logs\nsaid").unwrap();
    let letters = logs.chars().filter(|letter| *letter == 'ä').count();
    assert!((31_900..32_000).contains(&letters), "32,000 characters in all: {letters}");
    assert!(logs.contains("`sockets/a/1-1.logs` in the folder of this cast"), "the rest is named");
}

#[test]
fn an_artifact_that_a_transform_leaves_is_shown_with_its_own_content() {
    let maps = transform(None, &[(PayloadPart::Message, "$.structured.n")]);
    let mut nodes = pair(OutputSelector::Composite, Some(maps));
    nodes.nodes["a"].routing = Routing::All;
    nodes.nodes["b"] = agent().text();
    let mut play = Play::of(nodes);
    let TurnOutcome::Ended(mut output) = report(VERDICT) else { unreachable!() };
    let (name, hash) = ("sockets/a/1-1.logs".to_owned(), "other".to_owned());
    output.artifacts.push(Artifact { kind: "logs".into(), name, hash, content: "said".into() });
    let turn = play.turns()[0];
    let prompt = prompt_of(&play.take(Input::report(turn, TurnOutcome::Ended(output))), "b");
    assert!(prompt.contains("## artifacts:diff\n+line\n"), "{prompt}");
    assert!(prompt.contains("## artifacts:logs\nsaid\n"), "{prompt}");
}

#[test]
fn a_value_becomes_the_text_of_a_message() {
    let maps = transform(None, &[(PayloadPart::Message, "$.structured.n")]);
    let got = envelope(pair(OutputSelector::MessageFinal, Some(maps)), VERDICT);
    assert_eq!(got["message"], "7");
}

#[test]
fn a_said_word_reaches_the_prompt() {
    let mut nodes = pair(OutputSelector::MessageFinal, None);
    nodes.nodes["b"] = agent().text();
    let mut play = Play::of(nodes);
    let payload = Offered { message: Some("look at the third test".into()), ..Offered::default() };
    let events = play.take(Input::act(Do::Offer { edge: "a->b".into(), payload }));
    assert!(prompt_of(&events, "b").contains("look at the third test"));
}

#[test]
fn a_judgement_that_is_offered_reaches_a_session_that_goes_on() {
    let a = utility().text().all().edge(Always, "b").edge(Always, "c");
    let nodes = plan([("a", a), ("b", agent().text()), ("c", agent().text())]);
    let mut play = Play::of(nodes);
    play.end("go");
    play.end("b is done");
    let status = Some(PayloadStatus { ok: false, reason: None });
    let one = ArtifactRef { kind: "diff".into(), name: "d".into(), hash: "h".into() };
    let artifacts = vec![one.clone(), one];
    let payload = Offered { message: Some("m".into()), status, artifacts, ..Offered::default() };
    let events = play.take(Input::act(Do::Offer { edge: "a->b".into(), payload }));
    let prompt = prompt_of(&events, "b");
    assert_eq!(prompt.matches("artifact://diff/d").count(), 1, "{prompt}");
    assert!(
        prompt.contains("\"kind\": \"tick\"") && prompt.contains("\"satisfied\": false"),
        "{prompt}"
    );
}
