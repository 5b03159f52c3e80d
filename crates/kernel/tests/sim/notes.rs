//! Notes the rare states that the events show.

use std::collections::BTreeSet;

use materia_contract::{
    Cause, Delivery, DropReason, EdgeId, Event, EventBody, FAIL, NodeId, Pace, Plan, Timer, Uuid,
};
use materia_verifier::Verifier;

use crate::sometimes::Sometimes;

/// Facts of earlier events that the notes need.
#[derive(Default)]
pub(crate) struct Notes {
    sent: BTreeSet<Uuid>,
    asked: BTreeSet<NodeId>,
    quiet: BTreeSet<EdgeId>,
    /// The newest turn that failed.
    failed: Option<u64>,
    /// Whether a way led to `fail`, and nothing has been tried again since.
    gave_up: bool,
}

impl Notes {
    /// Notes what an event shows, before which this was thought of the run.
    pub(crate) fn note(&mut self, event: &Event, before: &Verifier, seen: &mut Sometimes) {
        seen.note(event.body.type_name());
        match &event.body {
            EventBody::ModeChanged(data) => {
                seen.note(&format!("mode {:?} by {}", data.value, data.reason));
                if data.message.as_ref().is_some_and(|message| message.contains("without a bound"))
                {
                    seen.note("cycle without a bound stopped");
                }
            }
            EventBody::RunWaiting(data) => seen.note(&format!("waiting for {:?}", data.reason)),
            EventBody::RunFailed(data) => {
                seen.note(&format!("failed as {}", data.code.word()));
                if data.message.contains("counts anew") {
                    seen.note("bounded way out of a loop stopped");
                }
            }
            EventBody::TurnFailed(data) => {
                seen.note(&format!("turn failed as {}", data.code.word()));
                if data.session_lost {
                    seen.note("session lost");
                }
                self.failed = Some(data.turn);
                let utility = data.code.word().starts_with("utility");
                if utility && data.retry_at.is_some() {
                    seen.note("utility tried again");
                }
            }
            EventBody::TurnInterrupted(data) => {
                seen.note(&format!("interrupted by {:?}", data.reason));
            }
            EventBody::ApprovalRequested(_) => {
                if !self.asked.insert(event.node.clone().unwrap()) {
                    seen.note("approval asked for again");
                }
            }
            EventBody::RouteSelected(data) => {
                let id = data.edge_id.as_ref().map(ToString::to_string).unwrap_or_default();
                if id.starts_with("onFailure:") {
                    seen.note("failure led on");
                    if data.to == FAIL {
                        seen.note("failure led to fail");
                    }
                }
                self.gave_up |= data.to == FAIL;
            }
            EventBody::StatePatched(data) if before.node_of(data.turn).is_none() => {
                if self.failed == Some(data.turn) {
                    seen.note("evidence of a failed utility");
                }
            }
            EventBody::TurnCompleted(data) if data.context.is_some() => {
                seen.note(&format!("exit code says {:?}", data.satisfied));
            }
            EventBody::HandoffSent(data) => {
                if !self.sent.insert(data.payload_id) {
                    seen.note("payload id offered again");
                }
            }
            EventBody::CursorAdvanced(data) if data.region.is_none() && data.count == 0 => {
                seen.note("foreach over nothing");
            }
            EventBody::TurnStarted(data) => {
                let again = match data.cause {
                    Cause::Input => "turn by input",
                    Cause::Manual => "turn by hand",
                    Cause::Foreach { .. } => "turn of a foreach",
                    Cause::Retry { .. } => "turn again after an interruption",
                    Cause::Repair { .. } => "turn again after a broken contract",
                    Cause::Recast { .. } => "turn again after a failure",
                };
                seen.note(again);
                if let Cause::Recast { .. } = data.cause
                    && std::mem::take(&mut self.gave_up)
                {
                    seen.note("recast after a way to fail");
                }
                if before.pace() == Pace::Interactive {
                    match data.cause {
                        Cause::Manual => seen.note("turn by hand in INTERACTIVE"),
                        Cause::Retry { .. } | Cause::Repair { .. } | Cause::Recast { .. } => {
                            seen.note("further attempt by hand in INTERACTIVE");
                        }
                        Cause::Input | Cause::Foreach { .. } => {}
                    }
                }
            }
            _ => self.on_the_way(event, before, seen),
        }
    }

    /// Notes on payloads and timers.
    fn on_the_way(&mut self, event: &Event, before: &Verifier, seen: &mut Sometimes) {
        let Some(plan) = before.plan() else { return };
        match &event.body {
            EventBody::PayloadSuperseded(data) => {
                seen.note(&format!("superseded on {:?}", delivery(plan, &data.edge_id).mode));
            }
            EventBody::PayloadDropped(data) => {
                let delivery = delivery(plan, &data.edge_id);
                seen.note(&format!("dropped {:?} on {:?}", data.reason, delivery.mode));
                if data.reason == DropReason::Overflow {
                    seen.note(&format!("overflow {:?}", delivery.overflow));
                }
            }
            EventBody::PayloadDeduplicated(data) => {
                let delivery = delivery(plan, &data.edge_id);
                seen.note(&format!("deduplicated by {:?}", delivery.dedupe_by));
                if delivery.dedupe_window_ms.is_some() {
                    seen.note("deduplicated within a window");
                }
            }
            EventBody::TimerSet(data) => {
                if let Timer::Debounce { edge_id } = &data.timer
                    && !self.quiet.insert(edge_id.clone())
                {
                    seen.note("timer moved");
                }
            }
            EventBody::TimerFired(data) => {
                let node = event.node.as_ref().unwrap();
                match &data.timer {
                    Timer::Debounce { edge_id } => {
                        self.quiet.remove(edge_id);
                        seen.note("debounce fired");
                    }
                    Timer::Retry { .. } => seen.note("retry fired"),
                    Timer::Tick => {
                        seen.note("tick fired");
                        if plan.nodes[node].cron.is_some() {
                            seen.note("tick by schedule fired");
                        }
                        if data.payload_id.is_none() {
                            seen.note("tick merged with one that is owed");
                        }
                        if before.in_flight(node) >= plan.nodes[node].max_in_flight as usize {
                            seen.note("tick due while the node is full");
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

/// The rule by which payloads wait on an edge.
fn delivery(plan: &Plan, edge: &EdgeId) -> Delivery {
    let mut edges = plan.nodes.values().flat_map(|node| &node.edges);
    edges.find(|one| one.id == *edge).map(|one| one.delivery.clone()).unwrap_or_default()
}
