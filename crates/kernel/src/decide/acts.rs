//! Acts of people and timelines on a running cast.

use materia_contract::{
    Acting, ApprovalDenied, Do, GlobalMode, Mode, ModeChanged, NodeId, Pace, PayloadDelivered,
    TimelineEntry, TimelineReached, TurnRequested,
};

use crate::ask::approval;
use crate::decide::draft::Draft;
use crate::decide::rejection::Rejection;
use crate::decide::{consent, deliver, schedule};
use crate::state::{Consent, Phase, Run};

/// The context of a refused turn where the person gave no reason.
const REFUSED: &str = "A person refused this turn.";

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
        | Do::Skip { .. }
        | Do::Stop { .. }
        | Do::Abort { .. } => Class::Alone,
    }
}

/// Puts a timeline in the order in which its entries take effect: by instant, and at one instant by
/// D7.
pub fn order_timeline(entries: &mut [TimelineEntry]) {
    entries.sort_by_key(|entry| (entry.at_ms, class(&entry.act)));
}

/// Whether a timeline may do something alone now: always, while the run goes on.
pub(crate) fn accept_alone(run: &Run) -> Result<(), Rejection> {
    match run.phase {
        Phase::Completed | Phase::Failed(_) | Phase::Aborted => {
            Err(Rejection::Ended(run.phase.status()))
        }
        Phase::New | Phase::Running | Phase::Waiting(_) => Ok(()),
    }
}

/// Whether a person may do this now. A timeline may always: what has no effect has none.
pub(crate) fn accept(run: &Run, act: &Do, of_timeline: bool) -> Result<(), Rejection> {
    accept_alone(run)?;
    let known = |node: &NodeId| {
        let found = run.plan().nodes.contains_key(node);
        if found { Ok(()) } else { Err(Rejection::UnknownNode(node.clone())) }
    };
    match act {
        Do::Offer { edge, .. } => match run.wiring().named(run.plan(), edge) {
            Some(_) => Ok(()),
            None => Err(Rejection::UnknownEdge(edge.clone())),
        },
        Do::Trigger { node, approve, hash, .. } => {
            known(node)?;
            match approval::stands(run, node) {
                Some(_) if of_timeline => Ok(()),
                Some(open) if *approve => is_asked(node, open, hash.as_deref()),
                Some(open) => {
                    let denied = open.answer == Some(false);
                    Err(Rejection::AsksFirst { node: node.clone(), denied })
                }
                None => Ok(()),
            }
        }
        Do::Approve { node, hash } | Do::Deny { node, hash, .. } => {
            known(node)?;
            if of_timeline {
                return Ok(());
            }
            let open = approval::open(run, node);
            let open = open.ok_or_else(|| Rejection::NothingToApprove(node.clone()))?;
            is_asked(node, open, hash.as_deref())?;
            match (act, approval::leads_on(run, node)) {
                (Do::Deny { route: true, .. }, Err(why)) => {
                    Err(Rejection::NoWayOn { node: node.clone(), why })
                }
                (_, Ok(()) | Err(_)) => Ok(()),
            }
        }
        Do::Mode { .. } | Do::Pause | Do::GlobalMode { .. } | Do::Crash => Ok(()),
        Do::Say { .. }
        | Do::Continue { .. }
        | Do::Budget { .. }
        | Do::NodeBudget { .. }
        | Do::Resume { .. }
        | Do::Recast
        | Do::Revive
        | Do::Skip { .. }
        | Do::Stop { .. }
        | Do::Abort { .. } => Err(Rejection::NotBeside(act.name())),
    }
}

/// Whether a question is the one that a person was shown.
fn is_asked(node: &NodeId, open: &Consent, shown: Option<&str>) -> Result<(), Rejection> {
    match shown.filter(|shown| *shown != open.hash) {
        None => Ok(()),
        Some(shown) => Err(Rejection::OtherQuestion {
            node: node.clone(),
            shown: shown.to_owned(),
            asked: open.hash.clone(),
        }),
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
        Do::Trigger { node, message, approve, hash } => {
            if approve {
                consent::approve(draft, &node, hash.as_deref());
            }
            // A turn without consent must not start in another way (D56).
            if approval::stands(draft.run(), &node).is_none() {
                request(draft, &node, message);
            }
        }
        Do::Approve { node, hash } => consent::approve(draft, &node, hash.as_deref()),
        Do::Deny { node, hash, reason, route: false } => {
            consent::deny(draft, &node, hash.as_deref(), reason);
        }
        Do::Deny { node, hash, reason, route: true } => {
            deny_and_lead_on(draft, &node, hash.as_deref(), reason);
        }
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
        | Do::Skip { .. }
        | Do::Stop { .. }
        | Do::Abort { .. } => unreachable!("it was refused beside others"),
    }
}

/// A person refuses what was asked last, and the turn counts as one that is not content: the runtime
/// answers it (D56).
fn deny_and_lead_on(
    draft: &mut Draft<'_>,
    node: &NodeId,
    shown: Option<&str>,
    reason: Option<String>,
) {
    let run = draft.run();
    let Some(hash) = consent::asked(run, node, shown) else { return };
    if approval::leads_on(run, node).is_err() {
        return;
    }
    let index = run.index_of(node);
    let context = reason.clone().unwrap_or_else(|| REFUSED.to_owned());
    draft.emit_at(node, ApprovalDenied { hash, reason, route: true });
    schedule::refuse(draft, index, context);
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
