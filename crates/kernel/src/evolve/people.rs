//! Applies events of people, timelines and stalls.

use materia_contract::{
    ApprovalDenied, ApprovalGiven, ApprovalRequested, BudgetChanged, EnvelopeKind, Event,
    GlobalMode, MessageReceived, Mode, ModeChanged, Pace, RunRevived, TurnRequested,
};

use super::node;
use crate::ask::repeats;
use crate::state::{Consent, Payload, Phase, Request, Rounds, Run, Stall, Traces, Why};

pub(super) fn budget_changed(run: &mut Run, event: &Event, data: &BudgetChanged) {
    if let Some(budget) = data.budget {
        run.budget = budget;
        run.warned.clear();
    }
    if let (Some(node), Some(budgets)) = (&event.node, data.node_budgets) {
        let index = run.index_of(node);
        run.nodes[index].budgets = Some(budgets);
        run.nodes[index].blocked = false;
        super::turns::weigh(run, index);
    }
}

/// Switching to AUTO begins every count of turns on cycles anew (D23).
pub(super) fn mode_changed(run: &mut Run, event: &Event, data: &ModeChanged) {
    let pace = match data.value {
        Mode::Pace(pace) => pace,
        Mode::Global(mode) => {
            run.global = mode;
            if mode == GlobalMode::Planning {
                // A turn is held to the strictest mode of its time.
                for turn in run.turns.values_mut() {
                    turn.global_mode = mode;
                }
            }
            return;
        }
    };
    run.pace = pace;
    run.stopping = data.reason == "stop";
    match (pace, &event.node) {
        (Pace::Auto, _) => {
            run.stalled = None;
            for index in run.wiring().cyclic.clone() {
                run.nodes[index].traces = Traces::default();
                run.nodes[index].rounds = Rounds::default();
            }
            for region in &mut run.loops {
                region.rounds = Rounds::default();
            }
        }
        (Pace::Interactive, Some(node)) => {
            let what = data.message.as_deref().unwrap_or("repeats itself");
            let message = repeats::message(node, what, &data.evidence);
            run.stalled = Some(Stall { node: node.clone(), message });
        }
        (Pace::Interactive, None) => {}
    }
}

pub(super) fn revived(run: &mut Run, data: &RunRevived) {
    run.phase = Phase::Running;
    run.crossing.forgive();
    run.held.release_all(|held| held.why == Why::Interrupted);
    if let Some(edge_id) = &data.edge_id {
        let bound = run.wiring().edge(run.plan(), edge_id).and_then(|edge| edge.max_traversals);
        let traversed = run.traversals.entry(edge_id.clone()).or_default();
        traversed.allowance += bound.unwrap_or(0);
    }
}

pub(super) fn message_received(run: &mut Run, event: &Event, data: &MessageReceived) {
    let payload = Payload::plain(data.payload_id, EnvelopeKind::User, event.ts, data.text.as_str());
    let to = run.index_of(node(event));
    run.nodes[to].arriving.push_back(payload);
}

pub(super) fn turn_requested(run: &mut Run, event: &Event, data: &TurnRequested) {
    let index = run.index_of(node(event));
    if let (Some(id), Some(text)) = (data.payload_id, &data.message) {
        let payload = Payload::plain(id, EnvelopeKind::User, event.ts, text.as_str());
        run.nodes[index].arriving.push_back(payload);
    }
    run.requests.ask(index, Request { seq: event.seq, message: data.payload_id });
}

pub(super) fn approval_requested(run: &mut Run, event: &Event, data: &ApprovalRequested) {
    consent(run, event, &data.hash, None, None);
}

pub(super) fn approval_given(run: &mut Run, event: &Event, data: &ApprovalGiven) {
    consent(run, event, &data.hash, Some(true), None);
}

pub(super) fn approval_denied(run: &mut Run, event: &Event, data: &ApprovalDenied) {
    if data.route {
        // The turn that it was about follows at once, answered: nothing is left of the question.
        let index = run.index_of(node(event));
        run.nodes[index].consent = None;
        run.nodes[index].taken.refused = true;
        return;
    }
    consent(run, event, &data.hash, Some(false), data.reason.clone());
}

fn consent(run: &mut Run, event: &Event, hash: &str, answer: Option<bool>, reason: Option<String>) {
    let index = run.index_of(node(event));
    let (hash, seq) = (hash.to_owned(), event.seq);
    run.nodes[index].consent = Some(Consent { hash, answer, reason, seq });
}
