//! What a turn is given: an agent's prompt or a utility's input, byte for byte.

mod input;
mod prompt;
mod requires;
mod tick;

use std::sync::Arc;

use materia_contract::{Behavior, PromptLayer, SessionPolicy, SessionRef};

pub(crate) use prompt::{follow_up_reason, with_faults};

use crate::payload::Payload;
use crate::{Run, TurnWork, items};

/// How many reasons for sending work back are kept for a node and item (D25).
pub(crate) const FOLLOW_UPS_MAX: usize = 5;

/// The longest reason that is kept, in characters.
pub(crate) const FOLLOW_UP_CHARS_MAX: usize = 900;

/// The most of them that a prompt shows, in characters.
pub(crate) const FOLLOW_UP_CHARS_SHOWN_MAX: usize = 2_400;

/// Assembles the work of a new turn, and says where each part of a prompt comes from.
pub(crate) fn assemble(
    run: &Run,
    index: usize,
    payloads: &[Payload],
    session: Option<&SessionRef>,
) -> (TurnWork, Vec<PromptLayer>) {
    let (_, node) = run.node(index);
    match &node.behavior {
        Behavior::Agent { prompt, origin, .. } => {
            let resumes = session.is_some_and(|session| session.resume);
            let built = if resumes {
                tick::assemble(run, index, payloads)
            } else {
                prompt::assemble(run, index, prompt, origin, payloads)
            };
            (TurnWork::Prompt(built.text.into()), built.layers)
        }
        Behavior::Utility { params, .. } => {
            let input = input::assemble(run, index, params, payloads);
            (TurnWork::Input(Arc::new(input)), Vec::new())
        }
    }
}

/// The provider session of a new turn that starts at `seq`: the one before, or a fresh one (D29).
pub(crate) fn session(run: &Run, index: usize, seq: u64) -> Option<SessionRef> {
    let (_, node) = run.node(index);
    let Behavior::Agent { .. } = node.behavior else { return None };
    let item = items::current(run, index).map(|item| item.id);
    let kept = run.nodes[index].session.filter(|(_, about)| match node.session {
        SessionPolicy::Auto => *about == item,
        SessionPolicy::Fresh => false,
        SessionPolicy::Keep => true,
    });
    Some(match kept {
        Some((id, _)) => SessionRef { id, resume: true },
        None => SessionRef { id: run.uuid(seq), resume: false },
    })
}
