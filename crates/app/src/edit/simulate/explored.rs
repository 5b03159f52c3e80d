//! An explored history as a walk.

use materia_contract::api::{Choice, ChosenEnd};
use materia_contract::body::ExploredHistory;
use materia_contract::{Do, NodeId, Plan, TurnOutcome};
use materia_proof::explore::{status, turn_ends};
use serde_json::Value;

use super::walked;

/// The choices of a walk that goes exactly as a history does: the same turns in the same order, and the same end.
/// Otherwise why there is none.
pub fn choices_of(plan: &Plan, history: &ExploredHistory) -> Result<Vec<Choice>, String> {
    let script = &history.script;
    let ended = turn_ends(plan, script).unwrap_or_default();
    let choices: Vec<Choice> =
        ended.into_iter().map(|(socket, outcome)| choice(plan, socket, outcome)).collect();
    let (walking, _) = walked(plan, "", &choices);
    let same = walking.message.is_none()
        && walking.started == history.visits
        && status(&walking.run).trim() == history.end;
    if same {
        return Ok(choices);
    }
    let acts = |wanted: fn(&Do) -> bool| script.timeline.iter().any(|entry| wanted(&entry.act));
    let refuses = acts(|act| matches!(act, Do::Deny { .. }));
    let approves = acts(|act| matches!(act, Do::Approve { .. }));
    Err(if refuses {
        "a person refuses an approval in this history, and Simulate gives every approval"
    } else if script.run_for_ms.is_some() {
        "a scheduled socket still ticks when this history ends, and Simulate goes on ticking"
    } else if approves {
        "a person approves while other turns are under way, and Simulate approves when they have ended"
    } else {
        "Simulate cannot end these turns in exactly this order"
    }
    .to_owned())
}

fn choice(plan: &Plan, socket: NodeId, outcome: TurnOutcome) -> Choice {
    let TurnOutcome::Ended(report) = outcome else {
        return Choice { socket, outcome: ChosenEnd::Fails, items: None, text: None };
    };
    let node = &plan.nodes[&socket];
    let output: Value = serde_json::from_str(&report.output).unwrap_or_default();
    let satisfied = match node.verdict {
        Some(_) => report.exit_code.map(|code| code == 0),
        None => output["satisfied"].as_bool(),
    };
    let items = output["workItems"].as_array().filter(|_| node.generator);
    let items = items.and_then(|items| u32::try_from(items.len()).ok());
    let outcome = match (items, satisfied) {
        (Some(_), _) => ChosenEnd::Items,
        (None, Some(true)) => ChosenEnd::Satisfied,
        (None, Some(false)) => ChosenEnd::NotSatisfied,
        (None, None) => ChosenEnd::Done,
    };
    Choice { socket, outcome, items, text: Some(report.output) }
}
