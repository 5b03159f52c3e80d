//! Ways on from a state: the first step, the key of the state it leads to, and the nodes at which turns began.

use materia_contract::{Event, EventBody, NodeId, Plan};
use materia_kernel::{Run, canonical};

use super::answers::Answers;
use super::step::{self, Manner, Step};

/// Takes the first step that the kernel accepts; says which, and what happened.
pub(crate) fn first_step(
    run: &mut Run,
    plan: &Plan,
    answers: &Answers,
    manner: Manner,
) -> Option<(Step, Vec<Event>)> {
    for step in step::steps(run, plan, answers, manner) {
        let mut next = run.clone();
        if let Some(events) = step::apply(&mut next, plan, &step, None) {
            *run = next;
            return Some((step, events));
        }
    }
    None
}

/// The key under which a state is known.
pub(crate) fn key(run: &Run, kept: &[u32]) -> [u8; 16] {
    let mut form = canonical(run);
    for one in kept {
        form.extend_from_slice(&one.to_le_bytes());
    }
    let mut key = [0; 16];
    key.copy_from_slice(&blake3::hash(&form).as_bytes()[..16]);
    key
}

/// The nodes at which first attempts began. A turn that a person refused did not run, however often that happens.
pub(crate) fn visits(plan: &Plan, events: &[Event]) -> Vec<usize> {
    let mut refused: Option<&NodeId> = None;
    let mut nodes = Vec::new();
    for event in events {
        if let EventBody::ApprovalDenied(data) = &event.body {
            refused = event.node.as_ref().filter(|_| data.route);
        }
        if let (EventBody::TurnStarted(data), Some(node)) = (&event.body, &event.node)
            && data.attempt == 1
            && refused.take_if(|refused| *refused == node).is_none()
        {
            nodes.extend(plan.nodes.get_index_of(node));
        }
    }
    nodes
}
