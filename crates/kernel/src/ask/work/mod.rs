//! What a turn is given: an agent's prompt or a utility's input, byte for byte.

mod input;
mod prompt;
mod requires;
mod tick;

use materia_contract::{Behavior, PromptLayer, SessionPolicy, SessionRef, UtilityInput};

pub(crate) use prompt::{follow_up_reason, reason_of};

use crate::ask::items;
use crate::state::{Payload, Run, Turn, TurnWork, Why};

/// How many reasons for sending work back are kept for a node and item (D25).
pub(crate) const FOLLOW_UPS_MAX: usize = 5;

/// The longest reason that is kept, in characters.
pub(crate) const FOLLOW_UP_CHARS_MAX: usize = 900;

/// The most of them that a prompt shows, in characters.
pub(crate) const FOLLOW_UP_CHARS_SHOWN_MAX: usize = 2_400;

/// What `turn.started` keeps of a turn's work.
pub(crate) enum Given {
    /// An agent's prompt, and where each part of it comes from.
    Prompt(String, Vec<PromptLayer>),
    /// A utility's input.
    Input(UtilityInput),
}

/// Assembles the work of a new turn that starts at `seq`.
pub(crate) fn assemble(
    run: &Run,
    index: usize,
    seq: u64,
    payloads: &[Payload],
    session: Option<&SessionRef>,
) -> Given {
    let (_, node) = run.node(index);
    match &node.behavior {
        Behavior::Agent { prompt, origin, .. } => {
            let resumes = session.is_some_and(|session| session.resume);
            let built = if resumes {
                tick::assemble(run, index, payloads)
            } else {
                prompt::assemble(run, index, prompt, origin, payloads)
            };
            Given::Prompt(built.text, built.layers)
        }
        Behavior::Utility { .. } => Given::Input(input::assemble(run, index, seq, payloads)),
    }
}

/// The work of a further attempt at a turn whose last one started at `before`: the same, and after a
/// broken contract the reasons.
pub(crate) fn again(turn: &Turn, before: u64, why: &Why) -> Given {
    match &turn.work {
        TurnWork::Input(whole) => Given::Input(input::again(std::sync::Arc::clone(whole), before)),
        TurnWork::Prompt(prompt) => {
            let (mut text, mut layers) = (prompt.to_string(), turn.layers.clone());
            if let Why::Rejected(event, faults) = why {
                (text, layers) = prompt::with_faults(text, layers, *event, faults);
            }
            Given::Prompt(text, layers)
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
