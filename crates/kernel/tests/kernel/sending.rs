//! Payloads on an edge: selected artifacts, duplicates, and names of edges.

use materia_contract::time::DURATION_MS_MAX;
use materia_contract::{
    Artifact, Condition, DedupeBy, Do, EdgeId, Offered, OutputSelector, Plan, TurnOutput,
};
use materia_kernel::{Effect, Input, TurnOutcome, outstanding};
use serde_json::{Value, json};

use crate::play::{NodeExt as _, Play, input_of, plan, utility};

use Condition::Always;

fn artifact(kind: &str) -> Artifact {
    let name = format!("sockets/a/1-1.{kind}");
    Artifact { kind: kind.into(), name, hash: format!("hash of {kind}"), content: "…".into() }
}

/// The kinds of artifacts that `b` gets where `a` sends them on so.
fn sent(selector: OutputSelector, named: &[&str]) -> Vec<String> {
    let mut nodes = plan([("a", utility().text().edge(Always, "b")), ("b", utility().text())]);
    nodes.nodes["a"].output_selector = selector;
    nodes.nodes["a"].artifacts = named.iter().map(|kind| (*kind).to_owned()).collect();
    let mut play = Play::of(nodes);
    let artifacts = vec![artifact("diff"), artifact("logs"), artifact("notes")];
    let output = TurnOutput { output: "done".into(), artifacts, ..TurnOutput::default() };
    let turn = play.turns()[0];
    let events = play.take(Input::report(turn, TurnOutcome::Ended(output)));
    let input = input_of(&events, "b");
    let artifacts = input["inputs"][0]["artifacts"].as_array().cloned().unwrap_or_default();
    artifacts.iter().map(|one| one["kind"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_selector_says_which_artifacts_travel() {
    assert_eq!(sent(OutputSelector::ArtifactsDiff, &[]), ["diff"]);
    assert_eq!(sent(OutputSelector::ArtifactsLogs, &[]), ["logs"]);
    assert_eq!(sent(OutputSelector::Composite, &[]), ["diff", "logs", "notes"]);
    assert_eq!(sent(OutputSelector::Composite, &["notes", "diff"]), ["diff", "notes"]);
    assert_eq!(sent(OutputSelector::MessageFinal, &["diff"]), [] as [String; 0]);
}

/// `a` is at work for ever; what is offered to `b` is compared so.
fn doorman(by: DedupeBy, window: Option<u64>) -> Play {
    let mut nodes = plan([("a", utility().text().edge(Always, "b")), ("b", utility().text())]);
    let delivery = &mut nodes.nodes["a"].edges[0].delivery;
    (delivery.dedupe_by, delivery.dedupe_window_ms) = (by, window);
    Play::of(nodes)
}

/// Offers a message after so many milliseconds; whether it was let in.
fn admits(play: &mut Play, after_ms: i64, message: &str) -> bool {
    // Every input of a play comes a millisecond after the one before it.
    play.now += (after_ms - 1) * 1_000;
    !play.offer("a->b", message).contains("b deduplicated a->b")
}

#[test]
fn a_twin_of_the_last_payload_is_turned_away() {
    let mut play = doorman(DedupeBy::ContentHash, None);
    assert!(admits(&mut play, 5, "x"));
    assert!(!admits(&mut play, 5, "x"));
    assert!(!admits(&mut play, 900_000, "x"), "however late");
    assert!(admits(&mut play, 5, "y"));
    assert!(admits(&mut play, 5, "x"), "only the last one counts");
    let mut play = doorman(DedupeBy::None, None);
    assert!(admits(&mut play, 5, "x") && admits(&mut play, 5, "x"));
    let mut play = doorman(DedupeBy::PayloadId, None);
    assert!(admits(&mut play, 5, "x") && admits(&mut play, 5, "x"), "each has an id of its own");
}

#[test]
fn within_a_window_every_twin_is_turned_away() {
    let mut play = doorman(DedupeBy::ContentHash, Some(100));
    assert!(admits(&mut play, 5, "x"));
    assert!(admits(&mut play, 40, "y"));
    assert!(!admits(&mut play, 40, "x"), "80 ms later, though it was not the last");
    assert!(admits(&mut play, 40, "x"), "120 ms after the one that was let in");
    assert!(!admits(&mut play, 90, "x"), "and from then on its time counts");
    assert!(!admits(&mut play, 10, "x"), "the last instant of the window belongs to it");
    assert!(admits(&mut play, 1, "x"), "the one after it does not");
    let mut play = doorman(DedupeBy::ContentHash, Some(DURATION_MS_MAX));
    assert!(admits(&mut play, 5, "x") && admits(&mut play, 5, "y"));
    assert!(!admits(&mut play, 900_000, "x"), "a window of ten years");
}

#[test]
fn an_edge_is_called_by_its_id_or_by_its_ends() {
    let named = |name: &str| -> String {
        let a = utility().text().edge(Always, "b").edge(Always, "c");
        let mut nodes: Plan = plan([("a", a), ("b", utility().text()), ("c", utility().text())]);
        nodes.nodes["a"].edges[0].id = EdgeId::new("first");
        nodes.nodes["a"].edges[1].id = EdgeId::new("second");
        Play::of(nodes).offer(name, "x")
    };
    assert!(named("a->b").contains("delivered to b"));
    assert!(named("a->c").contains("delivered to c"));
    assert!(named("second").contains("delivered to c"));
}

#[test]
fn what_is_offered_is_what_arrives() {
    let mut play = doorman(DedupeBy::None, None);
    let payload = Offered {
        message: Some("m".into()),
        structured: Some(json!({"n": 1})),
        ..Offered::default()
    };
    let events = play.take(Input::act(Do::Offer { edge: "a->b".into(), payload }));
    let input: Value = input_of(&events, "b");
    assert_eq!(input["inputs"][0]["message"], "m");
    assert_eq!(input["inputs"][0]["structured"], json!({"n": 1}));
    assert_eq!(input["inputs"][0]["fromNodeId"], "a");
}

#[test]
fn only_a_scheduled_node_ticks() {
    let mut nodes = plan([("a", utility().text())]);
    nodes.nodes["a"].interval_ms = Some(50);
    let play = Play::of(nodes);
    let timers = outstanding(&play.run).filter(|effect| matches!(effect, Effect::WakeAt(_)));
    assert_eq!(timers.count(), 0, "an interval alone starts nothing");
}
