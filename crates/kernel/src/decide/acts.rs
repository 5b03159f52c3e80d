//! What people and timelines do to a run under way.

use materia_contract::{
    Act, Acting, GlobalMode, Mode, ModeChanged, NodeId, Pace, PayloadDelivered, TimelineEntry,
    TimelineReached, TurnRequested,
};

use crate::ask::approval;
use crate::decide::draft::Draft;
use crate::decide::rejection::Rejection;
use crate::decide::{consent, deliver};
use crate::state::Run;

/// When an act takes effect within an instant (D7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Arrival,
    ModeChange,
    Crash,
}

pub(crate) fn class(act: &Act) -> Class {
    match act {
        Act::Offer { .. } | Act::Trigger { .. } | Act::Approve { .. } | Act::Deny { .. } => {
            Class::Arrival
        }
        Act::Mode { .. } | Act::GlobalMode { .. } => Class::ModeChange,
        Act::Crash => Class::Crash,
    }
}

/// Puts a timeline in the order in which its entries take effect: by instant, and at one instant by
/// D7.
pub fn order_timeline(entries: &mut [TimelineEntry]) {
    entries.sort_by_key(|entry| (entry.at_ms, class(&entry.act)));
}

/// Whether a person may do this now. A timeline may always: what has no effect has none.
pub(crate) fn accept(run: &Run, acting: &Acting) -> Result<(), Rejection> {
    let known = |node: &NodeId| {
        let found = run.plan().nodes.contains_key(node);
        if found { Ok(()) } else { Err(Rejection::UnknownNode(node.clone())) }
    };
    match &acting.act {
        Act::Offer { edge, .. } => match run.wiring().named(run.plan(), edge) {
            Some(_) => Ok(()),
            None => Err(Rejection::UnknownEdge(edge.clone())),
        },
        Act::Trigger { node, .. } => known(node),
        Act::Approve { node } | Act::Deny { node } => {
            known(node)?;
            if acting.timeline.is_none() && approval::open(run, node).is_none() {
                return Err(Rejection::NothingToApprove(node.clone()));
            }
            Ok(())
        }
        Act::Mode { .. } | Act::GlobalMode { .. } | Act::Crash => Ok(()),
    }
}

/// Does it.
pub(crate) fn perform(draft: &mut Draft<'_>, acting: Acting) {
    let Acting { act, timeline } = acting;
    let reason = if timeline.is_some() { "timeline" } else { "person" };
    if let Some(index) = timeline {
        draft.emit(TimelineReached { index, act: act.clone() });
    }
    match act {
        Act::Offer { edge, payload } => {
            let run = draft.run();
            if let Some(edge) = run.wiring().named(run.plan(), &edge) {
                deliver::offer(draft, &edge, payload);
            }
        }
        Act::Trigger { node, message } => request(draft, &node, message),
        Act::Approve { node } => consent::answer(draft, &node, true),
        Act::Deny { node } => consent::answer(draft, &node, false),
        Act::Mode { value } => set_pace(draft, value, reason),
        Act::GlobalMode { value } => set_global_mode(draft, value, reason),
        // The driver does it, once everything else of the instant has happened.
        Act::Crash => {}
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
