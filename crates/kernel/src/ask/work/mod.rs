//! Input of a turn: an agent's prompt or a utility's input, byte for byte.

mod input;
mod layered;
mod prompt;
mod requires;
mod tick;

use materia_contract::{Behavior, PromptLayer, SessionPolicy, SessionRef, UtilityInput};

pub(crate) use prompt::{follow_up_reason, own_reason, reason_of};

use crate::ask::items;
use crate::state::{Payload, Run, Turn, TurnWork, Why};

/// How many reasons for sending work back are kept for a node and item (D25).
pub(crate) const FOLLOW_UPS_MAX: usize = 5;

/// The longest reason that is kept, in characters.
pub(crate) const FOLLOW_UP_CHARS_MAX: usize = 900;

/// The most of them that a prompt shows, in characters.
pub(crate) const FOLLOW_UP_CHARS_SHOWN_MAX: usize = 2_400;

/// All that a turn is given, as `turn.started` keeps it: the context pack of the execution contract (X24).
pub(crate) enum ContextPack {
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
) -> ContextPack {
    let (_, node) = run.node(index);
    match &node.behavior {
        Behavior::Agent { prompt, origin, .. } => {
            let resumes = session.is_some_and(|session| session.resume);
            let built = if resumes {
                tick::assemble(run, index, prompt, payloads)
            } else {
                let mut first = prompt::assemble(run, index, prompt, origin, payloads);
                if node.session == SessionPolicy::Fresh {
                    tick::append(&mut first, run, index, prompt, payloads);
                }
                first
            };
            ContextPack::Prompt(built.text, built.layers)
        }
        Behavior::Utility { .. } => ContextPack::Input(input::assemble(run, index, seq, payloads)),
    }
}

/// The work of a further attempt at a turn whose last one started at `before`: the same, and after a
/// broken contract the reasons. Where the session is gone that knew the rest, all of it.
pub(crate) fn again(run: &Run, turn: &Turn, before: u64, why: &Why) -> ContextPack {
    match &turn.work {
        TurnWork::Input(whole) => {
            ContextPack::Input(input::again(std::sync::Arc::clone(whole), before))
        }
        TurnWork::Prompt(prompt) => {
            let (mut text, mut layers) = (prompt.to_string(), turn.layers.clone());
            if *why == Why::Lost && tick::is_one(&layers) {
                let whole = afresh(run, turn, prompt);
                return ContextPack::Prompt(whole.text, whole.layers);
            }
            if let Why::Rejected(event, faults) = why {
                (text, layers) = prompt::with_faults(text, layers, *event, faults);
            }
            ContextPack::Prompt(text, layers)
        }
    }
}

/// The whole first prompt, then the tick (D44), and whatever was said about an answer since.
fn afresh(run: &Run, turn: &Turn, before: &str) -> layered::Layered {
    let (_, node) = run.node(turn.node);
    let mut layered = layered::Layered::default();
    if let Behavior::Agent { prompt, origin, .. } = &node.behavior {
        layered = prompt::assemble(run, turn.node, prompt, origin, &turn.payloads);
    }
    for layer in turn.layers.iter().filter(|layer| tick::outlives_its_session(layer)) {
        let text = before.get(layer.start..layer.end).unwrap_or_default();
        layered.add(layer.name.clone(), layer.origin.clone(), &[text.trim_start()]);
    }
    layered
}

/// A new, unused session.
pub(crate) fn fresh_session(run: &Run, seq: u64) -> SessionRef {
    SessionRef { id: run.uuid(seq), resume: false }
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
        None => fresh_session(run, seq),
    })
}
