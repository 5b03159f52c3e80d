//! A cycle of dataflow that only repeats itself is stopped, with the turns that show it (D23).

use insta::assert_snapshot;
use materia_contract::{
    Artifact, Condition, Do, EventBody, NodeId, Pace, Plan, RunWaiting, TurnOutput, WaitReason,
};
use materia_kernel::{Input, Phase, TurnOutcome};

use crate::play::{NodeExt as _, Play, agent, looped, plan, tell, utility};

use Condition::{Always, Satisfied};

const SAME_OUTPUT: &str = "put out the same each time";
const BACK_AND_FORTH: &str = "goes back and forth";
const SAME_DIFF: &str = "left the same diff";
const SAME_REASON: &str = "was not satisfied for the same reason each time";

/// A node that hands its work to itself, again and again.
fn round() -> Plan {
    plan([("a", utility().text().all().edge(Always, "a"))])
}

/// The same, where the node gives a verdict and its reason.
fn judging() -> Plan {
    plan([("a", utility().all().edge(Always, "a"))])
}

fn text(output: &str) -> TurnOutput {
    TurnOutput { output: output.into(), ..TurnOutput::default() }
}

fn waits(play: &Play) -> Option<RunWaiting> {
    match play.run.phase() {
        Phase::Running => None,
        Phase::Waiting(waiting) => Some(waiting.clone()),
        other => panic!("{other:?}"),
    }
}

/// Ends one turn after the other like this; none before the last may stop the run. Says what stopped
/// it at the last.
fn stopped_by(graph: Plan, outputs: &[TurnOutput]) -> Option<&'static str> {
    let mut play = Play::of(graph);
    for (place, output) in outputs.iter().enumerate() {
        assert_eq!(waits(&play), None, "it was stopped after {place} of {outputs:?}");
        let turn = play.turns()[0];
        play.take(Input::report(turn, TurnOutcome::Ended(output.clone())));
    }
    let waiting = waits(&play)?;
    assert_eq!(waiting.reason, WaitReason::Stall);
    let known = [SAME_OUTPUT, BACK_AND_FORTH, SAME_DIFF, SAME_REASON];
    let found = known.into_iter().find(|what| waiting.message.contains(what));
    Some(found.unwrap_or_else(|| panic!("{}", waiting.message)))
}

fn stopped_after(outputs: &[&str]) -> Option<&'static str> {
    let outputs: Vec<_> = outputs.iter().map(|output| text(output)).collect();
    stopped_by(round(), &outputs)
}

#[test]
fn the_third_equal_output_stops_the_run_and_names_the_turns() {
    let mut play = Play::of(round());
    let mut turns = Vec::new();
    for output in ["first", "x", "x"] {
        turns.extend(play.turns());
        assert!(play.end(output).ends_with("started"));
    }
    turns.extend(play.turns());
    let turn = turns[3];
    let events = play.take(Input::report(turn, TurnOutcome::Ended(text("x"))));
    assert_snapshot!(tell(&events), @r"
    a 4.1 completed
    mode Pace(Interactive) (stall)
    a routes to a
    sent over a->a
    delivered to a
    waiting: stall
    ");
    let shown = events.iter().find_map(|event| match &event.body {
        EventBody::ModeChanged(data) => Some(data.evidence.clone()),
        _ => None,
    });
    assert_eq!(shown.as_deref(), Some(&turns[1..]));
    let message = format!(
        "`a` put out the same each time (turns at events {}, {}, {})",
        turns[1], turns[2], turns[3]
    );
    let node = Some(NodeId::new("a"));
    assert_eq!(waits(&play), Some(RunWaiting { reason: WaitReason::Stall, node, message }));
}

#[test]
fn outputs_count_only_where_they_follow_each_other() {
    assert_eq!(stopped_after(&["x", "x"]), None);
    assert_eq!(stopped_after(&["x", "x", "x"]), Some(SAME_OUTPUT));
    assert_eq!(stopped_after(&["x", "x", "y", "x", "x"]), None);
    assert_eq!(stopped_after(&["x", "x", "y", "x", "x", "x"]), Some(SAME_OUTPUT));
    assert_eq!(stopped_after(&["x", "y", "z", "x", "y", "z", "x"]), None, "a round of three");
}

#[test]
fn two_outputs_in_turn_stop_the_run_at_the_second_round() {
    assert_eq!(stopped_after(&["x", "y", "x"]), None);
    assert_eq!(stopped_after(&["x", "y", "x", "y"]), Some(BACK_AND_FORTH));
    assert_eq!(stopped_after(&["x", "y", "x", "z"]), None, "only the first comes back");
    assert_eq!(stopped_after(&["x", "y", "z", "y"]), None, "only the second comes back");
    assert_eq!(stopped_after(&["x", "y", "z", "w"]), None);
    assert_eq!(stopped_after(&["w", "x", "y", "x", "y"]), Some(BACK_AND_FORTH));
    let mut play = Play::of(round());
    let mut turns = Vec::new();
    for output in ["x", "y", "x", "y"] {
        turns.extend(play.turns().iter().map(ToString::to_string));
        play.end(output);
    }
    let message = format!("`a` goes back and forth (turns at events {})", turns.join(", "));
    assert_eq!(waits(&play).unwrap().message, message);
}

#[test]
fn one_byte_makes_two_outputs_different() {
    // Every bit of that byte by itself, behind nothing and behind a long text.
    for before in [String::new(), "All tests pass. ".repeat(500)] {
        for other in ["`", "c", "e", "i", "q", "A", "!"] {
            let (one, two) = (format!("{before}a"), format!("{before}{other}"));
            assert_eq!(stopped_after(&[&one, &two, &one]), None, "a and {other}");
            assert_eq!(stopped_after(&[&one, &one, &two]), None, "a and {other}");
            assert_eq!(stopped_after(&[&one, &one, &one]), Some(SAME_OUTPUT));
        }
        let ends = ["ab", "ba", "a", "aa", "b", "bb", ""];
        let outputs: Vec<String> = ends.iter().map(|end| format!("{before}{end}")).collect();
        let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
        assert_eq!(stopped_after(&outputs), None);
    }
}

/// A turn with an output of its own that left these, by kind and content.
fn leaving(output: &str, artifacts: &[(&str, &str)]) -> TurnOutput {
    let artifacts = artifacts.iter().map(|(kind, content)| Artifact {
        kind: (*kind).into(),
        name: format!("{output}.{kind}"),
        hash: format!("{kind} {output}"),
        content: (*content).into(),
    });
    TurnOutput { artifacts: artifacts.collect(), ..text(output) }
}

fn stopped_after_leaving(turns: &[&[(&str, &str)]]) -> Option<&'static str> {
    let outputs = turns.iter().enumerate();
    let outputs: Vec<_> = outputs.map(|(place, left)| leaving(&place.to_string(), left)).collect();
    stopped_by(round(), &outputs)
}

#[test]
fn the_second_equal_diff_stops_the_run() {
    assert_eq!(stopped_after_leaving(&[&[("diff", "+x")]]), None);
    assert_eq!(stopped_after_leaving(&[&[("diff", "+x")], &[("diff", "+x")]]), Some(SAME_DIFF));
    assert_eq!(stopped_after_leaving(&[&[("diff", "+x")], &[("diff", "-x")]]), None);
    let between = [[("diff", "+x")].as_slice(), &[], &[("diff", "+x")]];
    assert_eq!(stopped_after_leaving(&between), None, "a turn between them left none");
    let long = |end: &str| format!("{}{end}", "+line\n".repeat(2_000));
    let (one, two) = (long("a"), long("c"));
    assert_eq!(stopped_after_leaving(&[&[("diff", &one)], &[("diff", &two)]]), None);
}

#[test]
fn what_else_a_turn_leaves_may_repeat() {
    assert_eq!(stopped_after_leaving(&[&[("logs", "ok")], &[("logs", "ok")]]), None);
    let moved = [[("logs", "ok"), ("diff", "+x")], [("logs", "ok"), ("diff", "+y")]];
    assert_eq!(stopped_after_leaving(&[&moved[0], &moved[1]]), None);
    let stands = [[("logs", "one"), ("diff", "+x")], [("logs", "two"), ("diff", "+x")]];
    assert_eq!(stopped_after_leaving(&[&stands[0], &stands[1]]), Some(SAME_DIFF));
}

/// Verdicts with their reasons, each in an output that is otherwise its own.
fn stopped_after_judging(verdicts: &[(bool, &str)]) -> Option<&'static str> {
    let outputs = verdicts.iter().enumerate().map(|(place, (satisfied, context))| {
        let answer = serde_json::json!({"satisfied": satisfied, "context": context, "n": place});
        text(&answer.to_string())
    });
    stopped_by(judging(), &outputs.collect::<Vec<_>>())
}

#[test]
fn the_third_equal_reason_for_failing_stops_the_run() {
    let no = (false, "no test");
    assert_eq!(stopped_after_judging(&[no, no]), None);
    assert_eq!(stopped_after_judging(&[no, no, no]), Some(SAME_REASON));
    assert_eq!(stopped_after_judging(&[no, no, (false, "no tests")]), None);
    assert_eq!(stopped_after_judging(&[no, no, (true, "no test"), no, no]), None);
    assert_eq!(stopped_after_judging(&[(true, "fine"); 5]), None, "content is no failure");
    let unjudged = ["1", "2", "3"].map(|n| text(&format!(r#"{{"context": "x", "n": {n}}}"#)));
    assert_eq!(stopped_by(judging(), &unjudged), None);
}

#[test]
fn the_reason_is_found_in_what_an_agent_writes_around_it() {
    let nodes = || plan([("a", agent().all().edge(Always, "a"))]);
    let no = |word: &str| {
        text(&format!("{word}:\n```json\n{{\"satisfied\": false, \"context\": \"no test\"}}\n```"))
    };
    let outputs = [no("I looked"), no("Again"), no("Once more")];
    assert_eq!(stopped_by(nodes(), &outputs), Some(SAME_REASON));
}

#[test]
fn switching_to_auto_begins_the_count_anew() {
    let mut play = Play::of(round());
    for again in 0..3 {
        for _ in 0..2 {
            play.end("x");
            assert_eq!(waits(&play), None, "round {again}");
        }
        assert!(play.end("x").ends_with("waiting: stall"));
        // Nothing was lost: the payload that was on its way starts the next turn.
        assert!(play.act(Do::Mode { value: Pace::Auto }).ends_with("started"));
    }
}

#[test]
fn a_loop_that_moves_on_does_not_repeat_itself() {
    // `b` works on an item until `c` is satisfied with it.
    let items = r#"{"workItems": [{"title": "x", "context": ""}, {"title": "y", "context": ""}]}"#;
    let nodes = plan([
        ("a", agent().generator().edge(Always, "b")),
        ("b", utility().text().all().edge(Always, "c")),
        ("c", utility().advances(Satisfied).edge(Always, "b")),
    ]);
    let mut play = Play::of(looped(nodes, "work", &["b", "c"], Some("a"), &[]));
    play.end(items);
    let (no, yes) = (r#"{"satisfied": false}"#, r#"{"satisfied": true}"#);
    play.end("done");
    play.end(no);
    play.end("done");
    assert!(play.end(yes).ends_with("b 3.1 started on WI-2"));
    let mut turns = play.turns();
    play.end("done");
    play.end(no);
    turns.extend(play.turns());
    assert!(play.end("done").ends_with("c 4.1 started on WI-2"), "twice for each item");
    play.end(no);
    turns.extend(play.turns());
    assert!(play.end("done").contains("(stall)"), "three times for the second");
    let shown = turns.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let message = waits(&play).unwrap().message;
    assert_eq!(message, format!("`b` put out the same each time (turns at events {shown})"));
}
