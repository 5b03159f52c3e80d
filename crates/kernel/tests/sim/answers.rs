//! Answers of turns: mostly as their node promises, sometimes not.

use materia_contract::{
    Amount, Artifact, Behavior, ErrorCode, FailureClass, Node, Parse, TurnOutput, TurnUsage,
    content_hash,
};
use materia_kernel::TurnOutcome;
use serde_json::{Map, Value, json};

use crate::dice::Dice;

/// How the world is disposed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    /// Anything may happen.
    Hostile,
    /// Every answer is good, and the same each time.
    Calm,
}

/// How a turn of this node ends.
pub(crate) fn outcome(dice: &mut Dice, node: &Node, mood: Mood) -> TurnOutcome {
    // A node that deals with its failures has more of them.
    let often = if node.on_failure.is_some() || node.retries.is_some() { 12 } else { 2 };
    if mood == Mood::Hostile && dice.percent(often) {
        let code = match node.behavior {
            Behavior::Agent { .. } => ErrorCode::ProviderFailed,
            Behavior::Utility { .. } if dice.percent(20) => ErrorCode::UtilityTimeout,
            Behavior::Utility { .. } => ErrorCode::UtilityFailed,
        };
        // Some failures may pass by themselves; a provider may say how long that takes.
        let class = dice.maybe(60, |dice| {
            *dice.pick(&[
                FailureClass::Transient,
                FailureClass::RateLimit,
                FailureClass::SessionLost,
                FailureClass::Auth,
            ])
        });
        let retry_after_ms = dice.maybe(20, |dice| *dice.pick(&[1, 5_000, 4_000_000]));
        let usage = usage(dice);
        // Even so it may have put something out.
        let output = match dice.below(3) {
            0 => String::new(),
            1 => broken(dice),
            _ => Value::Object(object(dice, node, mood)).to_string(),
        };
        let report = TurnOutput { output, usage, class, retry_after_ms, ..TurnOutput::default() };
        let message = (*dice.pick(&["it broke", "it broke again"])).to_owned();
        return TurnOutcome::Faulted { code, message, report };
    }
    let output = match node.parse {
        Parse::Text if mood == Mood::Calm => "done".to_owned(),
        Parse::Text => (*dice.pick(&["a", "b", "c", "d"])).to_owned(),
        Parse::Json if mood == Mood::Hostile && dice.percent(5) => broken(dice),
        Parse::Json => Value::Object(object(dice, node, mood)).to_string(),
    };
    let hostile = mood == Mood::Hostile;
    let artifacts = if hostile && dice.percent(20) { vec![artifact(dice)] } else { Vec::new() };
    let usage = if hostile { usage(dice) } else { None };
    let (exit_code, stderr) = ends(dice, node, hostile);
    let report =
        TurnOutput { output, stderr, exit_code, usage, artifacts, ..TurnOutput::default() };
    TurnOutcome::Ended(report)
}

/// How a program ends that decides by its exit code.
fn ends(dice: &mut Dice, node: &Node, hostile: bool) -> (Option<i32>, String) {
    match node.verdict {
        Some(_) if hostile => {
            let code = if dice.percent(50) { 0 } else { 3 };
            (Some(code), (*dice.pick(&["", "one test failed"])).to_owned())
        }
        Some(_) => (Some(0), String::new()),
        None => (None, String::new()),
    }
}

fn broken(dice: &mut Dice) -> String {
    let ways = ["no object", r#"{"satisfied": 1}"#, r#"{"satisfied": null, "context": 3}"#];
    (*dice.pick(&ways)).to_owned()
}

fn object(dice: &mut Dice, node: &Node, mood: Mood) -> Map<String, Value> {
    let mut object = Map::new();
    let calm = mood == Mood::Calm;
    object.insert("satisfied".into(), (calm || dice.percent(55)).into());
    object.insert("context".into(), if calm { "done" } else { *dice.pick(&["a", "b"]) }.into());
    if node.generator {
        let count = if calm { 1 } else { dice.below(3) };
        let item = json!({"title": "t", "context": "c"});
        object.insert("workItems".into(), Value::Array(vec![item; count]));
    }
    if matches!(node.behavior, Behavior::Utility { .. }) {
        let count = if calm { 1 } else { dice.below(4) };
        let list: Vec<Value> = (0..count).map(|one| json!({ "title": one.to_string() })).collect();
        let mut state = Map::from_iter([("list".to_owned(), Value::Array(list))]);
        if !calm && dice.percent(40) {
            state.insert("float".into(), json!(dice.float()));
        }
        if !calm && dice.percent(5) {
            state.insert("satisfied".into(), json!(true));
        }
        object.insert("state".into(), Value::Object(state));
    } else if !calm && dice.percent(10) {
        object.insert("summary".into(), "nobody reads it".into());
    }
    object
}

fn artifact(dice: &mut Dice) -> Artifact {
    let kind = (*dice.pick(&["diff", "logs"])).to_owned();
    let content = (*dice.pick(&["+1", "+2", "+3"])).to_owned();
    let hash = content_hash(&json!(content));
    Artifact { name: kind.clone(), kind, hash, content }
}

fn usage(dice: &mut Dice) -> Option<TurnUsage> {
    dice.maybe(35, |dice| TurnUsage {
        input_tokens: Some(u64::from(dice.within(0, 9))),
        output_tokens: dice.maybe(80, |dice| u64::from(dice.within(0, 9))),
        cost: dice
            .maybe(60, |dice| Amount::from_millionths(i64::from(dice.within(0, 4)) * 500_000)),
    })
}
