//! From events to state: the one deterministic materializer (X4).

mod files;
mod loops;
mod payloads;
mod people;
mod traces;
mod turns;

use std::sync::Arc;

use materia_contract::{Event, EventBody, NodeId, RunCreated, StatePatched};

use crate::ask::scope;
use crate::state::{Branch, Files, LoopState, Nodes, Phase, Run, Why};

/// Applies one event. The only code that changes a [`Run`].
///
/// # Panics
///
/// If the event is impossible at this place: a gap in the numbering, or a name that is not in the plan. Readers check
/// the hash chain first, so that only a bug can cause it.
pub fn evolve(run: &mut Run, event: &Event) {
    assert_eq!(event.seq, run.seq + 1, "events come without gaps");
    run.seq = event.seq;
    run.ts = event.ts;
    run.instant = event.wall;
    run.verdict.note(event);
    match &event.body {
        EventBody::RunCreated(data) => created(run, data),
        EventBody::RunResumed(data) => {
            run.cwd.clone_from(&data.cwd);
            run.run_dir.clone_from(&data.run_dir);
            loops::go_back(run);
            run.phase = Phase::Running;
            run.stopping = false;
            files::resumed(run, data);
            run.held.release_all(|held| held.why == Why::Interrupted || data.recast);
        }
        EventBody::RunWaiting(data) => {
            files::waits(run, data);
            run.phase = Phase::Waiting(data.clone());
        }
        EventBody::RunCompleted(_) => run.phase = Phase::Completed,
        EventBody::RunFailed(data) => run.phase = Phase::Failed(data.clone()),
        EventBody::RunAborted(_) => run.phase = Phase::Aborted,
        EventBody::TurnStarted(data) => turns::turn_started(run, event, data),
        EventBody::TurnCompleted(data) => turns::turn_completed(run, data),
        EventBody::TurnFailed(data) => turns::turn_failed(run, event, data),
        EventBody::TurnInterrupted(data) => turns::turn_interrupted(run, event, data),
        EventBody::RouteSelected(data) => loops::route_selected(run, node(event), data),
        EventBody::HandoffSent(data) => payloads::handoff_sent(run, event, data),
        EventBody::PayloadDelivered(data) => payloads::delivered(run, node(event), data),
        EventBody::PayloadConsumed(data) => payloads::consumed(run, node(event), data),
        EventBody::PayloadSuperseded(data) => {
            payloads::ended(run, node(event), &data.edge_id, data.payload_id, true);
        }
        EventBody::PayloadDropped(data) => payloads::dropped(run, node(event), data),
        EventBody::PayloadDeduplicated(data) => {
            payloads::ended(run, node(event), &data.edge_id, data.payload_id, false);
        }
        EventBody::PayloadFiltered(data) => {
            payloads::ended(run, node(event), &data.edge_id, data.payload_id, false);
        }
        EventBody::TimerSet(data) => payloads::timer_set(run, node(event), data),
        EventBody::TimerFired(data) => payloads::timer_fired(run, event, data),
        EventBody::StatePatched(data) => patched(run, data),
        EventBody::CursorAdvanced(data) => match &data.region {
            Some(region) => loops::loop_advanced(run, region, data),
            None => loops::cursor_advanced(run, node(event), data),
        },
        EventBody::LoopEntered(data) => loops::loop_entered(run, event.seq, data),
        EventBody::ItemSkipped(data) => loops::skipped(run, node(event), data),
        EventBody::FollowUpCaptured(data) => loops::follow_up(run, event, data),
        EventBody::BudgetWarned(data) => {
            run.warned.insert(data.bound);
        }
        EventBody::BudgetChanged(data) => people::budget_changed(run, event, data),
        EventBody::NodeBlocked(_) => {
            let index = run.index_of(node(event));
            run.nodes[index].blocked = true;
        }
        EventBody::ModeChanged(data) => people::mode_changed(run, event, data),
        EventBody::RunRevived(data) => people::revived(run, data),
        EventBody::MessageReceived(data) => people::message_received(run, event, data),
        EventBody::TurnRequested(data) => people::turn_requested(run, event, data),
        EventBody::ApprovalRequested(data) => people::approval_requested(run, event, data),
        EventBody::ApprovalGiven(data) => people::approval_given(run, event, data),
        EventBody::ApprovalDenied(data) => people::approval_denied(run, event, data),
        EventBody::TimelineReached(data) => run.timeline = data.index + 1,
        EventBody::SocketFinished(_) => {
            let index = run.index_of(node(event));
            if let Some(result) = run.paused.remove(&index) {
                run.crossing = result.trail.clone();
                run.passed = None;
                run.last = result;
            }
        }
        EventBody::StorageMeasured(data) => run.storage = Some(*data),
        EventBody::AgentsChosen(data) => run.agents = Arc::new(data.agents.clone()),
        EventBody::WorkspacePublishing(_) => files::branch(run, Branch::Publishing),
        EventBody::WorkspacePublished(_) => files::branch(run, Branch::Published),
        // These events only inform readers of the journal; their consequences are separate events.
        EventBody::OutputFieldsIgnored(_) | EventBody::LoopExhausted(_) => {}
    }
}

fn node(event: &Event) -> &NodeId {
    event.node.as_ref().expect("events about nodes name one")
}

fn created(run: &mut Run, data: &Arc<RunCreated>) {
    run.cwd.clone_from(&data.cwd);
    run.run_dir.clone_from(&data.run_dir);
    run.phase = Phase::Running;
    run.created_at = run.ts;
    run.nodes = Nodes::new(data.plan.nodes.len());
    run.loops = vec![LoopState::default(); data.plan.loops.len()];
    run.variables.clone_from(&data.state);
    run.budget = data.plan.budget;
    run.pace = data.pace;
    run.global = data.global_mode;
    run.agents = Arc::new(data.agents.clone());
    run.created = Some(Arc::clone(data));
    let at = run.instant;
    run.files = data.workspace.as_ref().map(|own| Box::new(Files::new(own.files.clone(), at)));
    for index in 0..run.nodes.len() {
        turns::weigh(run, index);
    }
    let entry = run.index_of(&data.plan.entry);
    let request = run.request_payload();
    run.nodes[entry].arriving.push_back(request);
}

fn patched(run: &mut Run, data: &StatePatched) {
    for (name, value) in &data.merged {
        run.variables.insert(name.clone(), value.clone());
    }
    for (target, value) in &data.assigned {
        scope::assign(&mut run.variables, target, value.clone());
    }
}
