//! What people and timelines do to a run under way.

use materia_contract::{
    Acting, Do, GlobalMode, Mode, ModeChanged, NodeId, Pace, PayloadDelivered, TimelineEntry,
    TimelineReached, TurnRequested,
};

use crate::ask::approval;
use crate::decide::draft::Draft;
use crate::decide::rejection::Rejection;
use crate::decide::{consent, deliver};
use crate::state::{Phase, Run};

/// When an act takes effect within an instant (D7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Arrival,
    ModeChange,
    Crash,
    /// It belongs to no instant.
    Alone,
}

pub(crate) fn class(act: &Do) -> Class {
    match act {
        Do::Offer { .. } | Do::Trigger { .. } | Do::Approve { .. } | Do::Deny { .. } => {
            Class::Arrival
        }
        Do::Mode { .. } | Do::Pause | Do::GlobalMode { .. } => Class::ModeChange,
        Do::Crash => Class::Crash,
        Do::Say { .. }
        | Do::Continue { .. }
        | Do::Budget { .. }
        | Do::NodeBudget { .. }
        | Do::Resume { .. }
        | Do::Recast
        | Do::Revive
        | Do::Stop { .. }
        | Do::Abort { .. } => Class::Alone,
    }
}

/// Puts a timeline in the order in which its entries take effect: by instant, and at one instant by
/// D7.
pub fn order_timeline(entries: &mut [TimelineEntry]) {
    entries.sort_by_key(|entry| (entry.at_ms, class(&entry.act)));
}

/// Whether a person may do this now. A timeline may always: what has no effect has none.
pub(crate) fn accept(run: &Run, act: &Do, of_timeline: bool) -> Result<(), Rejection> {
    if let Phase::Completed | Phase::Failed(_) | Phase::Aborted = run.phase {
        return Err(Rejection::Ended(run.phase.status()));
    }
    let known = |node: &NodeId| {
        let found = run.plan().nodes.contains_key(node);
        if found { Ok(()) } else { Err(Rejection::UnknownNode(node.clone())) }
    };
    match act {
        Do::Offer { edge, .. } => match run.wiring().named(run.plan(), edge) {
            Some(_) => Ok(()),
            None => Err(Rejection::UnknownEdge(edge.clone())),
        },
        Do::Trigger { node, .. } => known(node),
        Do::Approve { node } | Do::Deny { node } => {
            known(node)?;
            if !of_timeline && approval::open(run, node).is_none() {
                return Err(Rejection::NothingToApprove(node.clone()));
            }
            Ok(())
        }
        Do::Mode { .. } | Do::Pause | Do::GlobalMode { .. } | Do::Crash => Ok(()),
        Do::Say { .. }
        | Do::Continue { .. }
        | Do::Budget { .. }
        | Do::NodeBudget { .. }
        | Do::Resume { .. }
        | Do::Recast
        | Do::Revive
        | Do::Stop { .. }
        | Do::Abort { .. } => Err(Rejection::NotBeside(act.name())),
    }
}

/// Does it.
pub(crate) fn perform(draft: &mut Draft<'_>, acting: Acting) {
    let Acting { act, timeline, .. } = acting;
    let reason = if timeline.is_some() { "timeline" } else { "person" };
    if let Some(index) = timeline {
        draft.emit(TimelineReached { index, act: act.clone() });
    }
    match act {
        Do::Offer { edge, payload } => {
            let run = draft.run();
            if let Some(edge) = run.wiring().named(run.plan(), &edge) {
                deliver::offer(draft, &edge, payload);
            }
        }
        Do::Trigger { node, message } => request(draft, &node, message),
        Do::Approve { node } => consent::answer(draft, &node, true),
        Do::Deny { node } => consent::answer(draft, &node, false),
        Do::Mode { value } => set_pace(draft, value, reason),
        Do::Pause => set_pace(draft, Pace::Interactive, reason),
        Do::GlobalMode { value } => set_global_mode(draft, value, reason),
        // The driver does it, once everything else of the instant has happened.
        Do::Crash => {}
        Do::Say { .. }
        | Do::Continue { .. }
        | Do::Budget { .. }
        | Do::NodeBudget { .. }
        | Do::Resume { .. }
        | Do::Recast
        | Do::Revive
        | Do::Stop { .. }
        | Do::Abort { .. } => unreachable!("it was refused beside others"),
    }
}

/// A person asks for a turn.
fn request(draft: &mut Draft<'_>, node: &NodeId, message: Option<String>) {
    let payload_id = message.as_ref().map(|_| draft.run().uuid(draft.next_seq()));
    draft.emit_at(node, TurnRequested { message, payload_id });
    if let Some(payload_id) = payload_id {
        draft.emit_at(node, PayloadDelivered { payload_id, edge_id: None });
    }
}

/// Changes the pace, if that changes anything.
pub(crate) fn set_pace(draft: &mut Draft<'_>, value: Pace, reason: &str) {
    let run = draft.run();
    if run.pace != value {
        changed(draft, Mode::Pace(value), reason);
    }
}

fn set_global_mode(draft: &mut Draft<'_>, value: GlobalMode, reason: &str) {
    if draft.run().global != value {
        changed(draft, Mode::Global(value), reason);
    }
}

fn changed(draft: &mut Draft<'_>, value: Mode, reason: &str) {
    let reason = reason.to_owned();
    draft.emit(ModeChanged { value, reason, evidence: Vec::new(), message: None });
}
