//! Rare cases: a loop that is entered once more, a failure that is caught.

use materia_contract::{
    Artifact, Condition, Do, Edge, ErrorCode, RunCreated, RunId, Trigger, TurnOutput,
    on_failure_edge,
};
use materia_kernel::{Acting, Input, Moment, Report, Run, TurnOutcome, step};
use serde_json::json;

use crate::play::{
    NodeExt as _, Play, agent, created, input_of, looped, outcome, plan, prompt_of, run, tell,
    utility,
};

use Condition::{Always, NotSatisfied, Satisfied};

#[test]
fn a_reason_from_outside_is_for_the_first_item_of_the_next_entry() {
    // `judge` stands behind the loop and sends all of it back: the loop is entered a second time.
    let judge = agent().edge(Satisfied, "end").edge(NotSatisfied, "b").bounded(2);
    let nodes = plan([
        ("a", utility().generator().edge(Always, "b")),
        ("b", agent().text().advances(Always).edge(Always, "b")),
        ("judge", judge),
    ]);
    let nodes = looped(nodes, "items", &["b"], Some("a"), &[("b", Always, "judge")]);
    let work = r#"{"workItems": [{"title": "x", "context": "1"}, {"title": "y", "context": "2"}]}"#;
    let no = |reason: &str| json!({ "satisfied": false, "context": reason }).to_string();
    let (first_reason, second_reason) = ("the names differ", "still not alike");
    let (first, second) = (no(first_reason), no(second_reason));
    let answers = [work, "x", "y", &first, "x", "y", &second];
    let (_, events) = run(created(nodes), &answers);
    let begun: Vec<String> = (0..events.len())
        .filter(|end| tell(&events[*end..=*end]).ends_with("started on WI-1"))
        .map(|end| prompt_of(&events[..=end], "b"))
        .collect();
    assert_eq!(begun.len(), 3, "{}", tell(&events));
    // Each entry has reasons of its own.
    let reasons = |prompt: &str, reason: &str| prompt.contains(&format!("- judge: {reason}"));
    let both = |prompt: &String| [first_reason, second_reason].map(|one| reasons(prompt, one));
    assert_eq!(both(&begun[0]), [false, false], "{}", begun[0]);
    assert_eq!(both(&begun[1]), [true, false], "{}", begun[1]);
    assert_eq!(both(&begun[2]), [false, true], "{}", begun[2]);
}

#[test]
fn a_failure_that_is_caught_sends_nothing_that_another_turn_said() {
    let mut nodes = plan([
        ("a", utility().text().edge(Always, "b")),
        ("b", utility().edge(Always, "end")),
        ("c", utility().text()),
    ]);
    let edge: Edge = serde_json::from_value(json!({
        "id": on_failure_edge("b"), "when": "always", "to": "c", "maxTraversals": 2,
    }))
    .unwrap();
    nodes.nodes["b"].on_failure = Some(edge);
    let mut play = Play::of(nodes);
    let [kind, name, hash, content] =
        ["logs", "the-log-of-a.txt", "00", "the log"].map(str::to_owned);
    let artifacts = vec![Artifact { kind, name, hash, content }];
    let report = TurnOutput { output: "the words of a".into(), artifacts, ..TurnOutput::default() };
    play.take(Input::report(play.turns()[0], TurnOutcome::Ended(report)));
    let report = TurnOutput { output: "half done".into(), ..TurnOutput::default() };
    let (code, message) = (ErrorCode::UtilityFailed, "it broke".to_owned());
    let outcome = TurnOutcome::Faulted { code, message, report };
    let events = play.take(Input::report(play.turns()[0], outcome));
    let given = &input_of(&events, "c")["inputs"][0];
    assert_eq!(given["status"]["ok"], false, "{given}");
    for words in ["the words of a", "the-log-of-a", "half done"] {
        assert!(!given.to_string().contains(words), "{given}");
    }
}

#[test]
fn a_failure_that_is_caught_has_no_verdict_of_another_turn() {
    let mut nodes = plan([
        ("a", utility().edge(Satisfied, "b")),
        ("b", utility().edge(Always, "end")),
        ("c", agent().text().edge(Always, "a").bounded(3)),
    ]);
    let edge: Edge = serde_json::from_value(json!({
        "id": on_failure_edge("b"), "when": "always", "to": "c", "maxTraversals": 3,
    }))
    .unwrap();
    nodes.nodes["b"].on_failure = Some(edge);
    let mut play = Play::of(nodes);
    let mut fail = || {
        play.end(r#"{"satisfied": true}"#);
        let (code, message) = (ErrorCode::UtilityFailed, "it broke".to_owned());
        let outcome = TurnOutcome::Faulted { code, message, report: TurnOutput::default() };
        let events = play.take(Input::report(play.turns()[0], outcome));
        play.end("mended");
        prompt_of(&events, "c")
    };
    fail();
    // The session goes on with what is new, and that begins with how things stand.
    let told = fail();
    assert!(told.contains("\"ok\": false") && !told.contains("\"satisfied\""), "{told}");
}

/// The events when the oldest turn ends with this answer and a person stops the run at that instant.
fn stopped_with(play: &mut Play, answer: &str) -> String {
    let reports = vec![Report { turn: play.turns()[0], outcome: outcome(answer) }];
    let acts = vec![Acting::person(Do::Stop { message: None })];
    tell(&play.take(Input::Moment(Moment { reports, acts })))
}

#[test]
fn who_stops_a_run_that_has_just_done_all_it_had_to_lets_it_end() {
    let begun = |created: RunCreated| {
        let mut run = Run::new(RunId::new("r"));
        step(&mut run, 1_000, Input::Create(created.into())).unwrap();
        Play { run, now: 1_000 }
    };
    let one = || plan([("a", utility().text())]);
    let mut play = begun(created(one()));
    assert!(stopped_with(&mut play, "done").ends_with("completed"));
    // As long as anything is to come, there is something to stop: an entry of the timeline, the clock, a turn
    // beside it, one that would follow.
    let stops = |mut play: Play| {
        let told = stopped_with(&mut play, "done");
        assert!(told.ends_with("mode Pace(Interactive) (stop)"), "{told}");
    };
    stops(begun(RunCreated { timeline: 1, ..created(one()) }));
    let mut ticks = utility().text();
    (ticks.trigger, ticks.interval_ms) = (Trigger::Scheduled, Some(10_000));
    stops(begun(created(plan([("a", utility().text()), ("b", ticks)]))));
    let both = utility().text().all().edge(Always, "b").edge(Always, "c");
    let text = || utility().text();
    let mut play = begun(created(plan([("a", both), ("b", text()), ("c", text())])));
    play.end("go");
    stops(play);
    stops(begun(created(plan([("a", text().edge(Always, "b")), ("b", text())]))));
}
