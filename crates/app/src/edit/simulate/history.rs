//! The history of a cast as a walk.

use std::collections::{BTreeMap, BTreeSet};

use materia_contract::api::{Choice, ChosenEnd};
use materia_contract::{Event, EventBody, NodeId, Plan, TurnCompleted};

/// The longest output that is taken into a walk as it was.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// How the turns of a cast ended, in the order in which they did. Attempts that were made again count once, with the
/// last of them; turns that the runtime answered are no choices.
#[expect(clippy::wildcard_enum_match_arm, reason = "only ends of turns are choices")]
pub fn choices(plan: &Plan, events: &[Event]) -> Vec<Choice> {
    let mut nodes: BTreeMap<u64, NodeId> = BTreeMap::new();
    let mut scripted: BTreeSet<u64> = BTreeSet::new();
    let mut choices = Vec::new();
    for event in events {
        match &event.body {
            EventBody::TurnStarted(data) => {
                if data.script.is_some() {
                    scripted.insert(event.seq);
                }
                nodes.extend(event.node.clone().map(|node| (event.seq, node)));
            }
            EventBody::TurnCompleted(data)
                if scripted.contains(&data.turn) || !was_answered(event, data) =>
            {
                if let Some(socket) = nodes.remove(&data.turn) {
                    choices.push(completed(plan, socket, data));
                }
            }
            EventBody::TurnFailed(data) if !data.repair && data.retry_at.is_none() => {
                if let Some(socket) = nodes.remove(&data.turn) {
                    let outcome = ChosenEnd::Fails;
                    choices.push(Choice { socket, outcome, items: None, text: None });
                }
            }
            _ => {}
        }
    }
    choices
}

/// Whether the runtime answered a turn itself: at once, in the decision that began it. A script may answer as quickly.
fn was_answered(event: &Event, data: &TurnCompleted) -> bool {
    data.turn + 1 == event.seq && data.report.duration_ms.is_none()
}

fn completed(plan: &Plan, socket: NodeId, data: &TurnCompleted) -> Choice {
    let generator = plan.nodes.get(&socket).is_some_and(|node| node.generator);
    let outcome = match data.satisfied {
        _ if generator => ChosenEnd::Items,
        Some(true) => ChosenEnd::Satisfied,
        Some(false) => ChosenEnd::NotSatisfied,
        None => ChosenEnd::Done,
    };
    let count =
        data.work_items.as_ref().map(|items| u32::try_from(items.len()).unwrap_or(u32::MAX));
    // What is longer is made up again: a walk is about where things lead.
    let text = Some(data.report.output.clone()).filter(|text| text.len() <= TEXT_BYTES_MAX);
    Choice { socket, outcome, items: count, text }
}
