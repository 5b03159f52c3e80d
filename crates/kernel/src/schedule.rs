//! Who runs next, and what it means when nobody does.

use materia_contract::{
    Cause, Consume, Control, Node, NodeMode, Pace, Path, PayloadConsumed, RunCompleted, RunWaiting,
    ScriptEntry, Trigger, TurnStarted, WaitReason,
};

use crate::draft::Draft;
use crate::lookup::Scope;
use crate::state::{Held, Payload, Why};
use crate::{Phase, Run, TurnWork, budget, foreach, items, settle, work};

/// Whether the scheduler may start a turn at a node, and if not, why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// It starts as soon as it is looked at.
    Runnable,
    /// Nothing waits there.
    NoInput,
    /// The pace is INTERACTIVE.
    PaceInteractive,
    /// Only a person starts turns there.
    Manual,
    /// It runs as many turns as it may.
    AtMaxInFlight,
    /// The run has as many turns in flight as it may.
    AtMaxConcurrent,
    /// It has spent its budget.
    OverBudget,
    /// The run does not run.
    RunAtRest,
}

/// The scheduler's own predicate (X18, D17), which `why` shows too.
#[must_use]
pub fn readiness(run: &Run, index: usize) -> Readiness {
    let (_, node) = run.node(index);
    let state = &run.nodes[index];
    let manual = node.mode == NodeMode::Interactive
        || node.control == Some(Control::Manual)
        || node.trigger == Trigger::ManualOnly;
    if state.inputs.is_empty() {
        Readiness::NoInput
    } else if run.pace == Pace::Interactive {
        Readiness::PaceInteractive
    } else if manual {
        Readiness::Manual
    } else if state.foreach.is_some() || state.in_flight >= node.max_in_flight {
        Readiness::AtMaxInFlight
    } else if budget::node_exhausted(run, index).is_some() {
        Readiness::OverBudget
    } else if run.turns.len() >= run.plan().limits.max_concurrent_turns as usize {
        Readiness::AtMaxConcurrent
    } else if run.phase != Phase::Running {
        Readiness::RunAtRest
    } else {
        Readiness::Runnable
    }
}

/// Starts all that is runnable; if nothing is left to do, the run comes to rest.
pub(crate) fn go_on(draft: &mut Draft<'_>) {
    while draft.run().phase == Phase::Running {
        let Some(next) = next_start(draft.run()) else { break };
        if budget::exhausted(draft.run()).is_some() {
            break;
        }
        match next {
            Next::Again(place) => restart(draft, place),
            Next::Element(index) => foreach::begin_element(draft, index),
            Next::Enter(index) => enter(draft, index),
        }
    }
    if draft.run().phase == Phase::Running {
        budget::warn(draft);
        budget::block(draft);
        if draft.run().turns.is_empty() {
            rest(draft);
        }
    }
}

/// What could start next.
enum Next {
    /// A further attempt at a held turn.
    Again(usize),
    /// The next element of a `foreach`.
    Element(usize),
    /// A node that has inputs.
    Enter(usize),
}

fn next_start(run: &Run) -> Option<Next> {
    if run.turns.len() >= run.plan().limits.max_concurrent_turns as usize {
        return None;
    }
    let again = run.held.iter().position(|held| held.released);
    again
        .map(Next::Again)
        .or_else(|| run.iterating.first().copied().map(Next::Element))
        .or_else(|| next_runnable(run).map(Next::Enter))
}

/// The node with the oldest input among those that may run.
fn next_runnable(run: &Run) -> Option<usize> {
    let mut nodes = run.ready.0.iter().map(|(_, _, index)| *index);
    nodes.find(|index| readiness(run, *index) == Readiness::Runnable)
}

/// A node takes its inputs and begins.
fn enter(draft: &mut Draft<'_>, index: usize) {
    let (id, node) = draft.run().node(index);
    let id = id.clone();
    let inputs = &draft.run().nodes[index].inputs;
    let count = match node.consume {
        Consume::All => inputs.len(),
        Consume::One => 1,
    };
    let payloads: Vec<Payload> = inputs.iter().take(count).cloned().collect();
    if node.foreach.is_some() {
        foreach::enter(draft, index, &payloads);
        return;
    }
    for payload in &payloads {
        draft.emit_at(&id, PayloadConsumed { payload_id: payload.id });
    }
    start_turn(draft, index, Cause::Input, &payloads);
}

/// Starts a new turn of a node.
pub(crate) fn start_turn(draft: &mut Draft<'_>, index: usize, cause: Cause, payloads: &[Payload]) {
    let run = draft.run();
    let (id, node) = run.node(index);
    let id = id.clone();
    let missing = missing_path(run, node, index);
    let seq = draft.next_seq();
    let session = work::session(run, index, seq);
    let (work, layers) = work::assemble(run, index, payloads, session.as_ref());
    let started = TurnStarted {
        visit: run.nodes[index].visits + 1,
        attempt: 1,
        item: items::current(run, index).map(|item| item.key),
        cause,
        consumed: payloads.iter().map(|payload| payload.id).collect(),
        session,
        layers,
        script: if missing.is_some() { None } else { script_entry(run, index) },
        ..without_work(work)
    };
    draft.emit_at(&id, started);
    if let Some(path) = missing {
        // Nobody is asked to invent what is not there.
        let context = format!("{path} is not available, so this socket was not asked.");
        settle::answered(draft, seq, &context);
    }
}

/// A path that must be present and is not (D41).
fn missing_path(run: &Run, node: &Node, index: usize) -> Option<Path> {
    let item = items::current(run, index).map(|item| item.value);
    let scope = Scope { item, ..Scope::of(run) };
    node.requires.iter().find(|path| scope.get(path).is_none()).cloned()
}

/// Starts a held turn again: with the same inputs, and after a broken contract with the reasons.
fn restart(draft: &mut Draft<'_>, place: usize) {
    let run = draft.run();
    let Held { started, turn, why, .. } = run.held[place].clone();
    let id = run.node(turn.node).0.clone();
    let script = script_entry(run, turn.node);
    let (cause, work, layers) = match why {
        Why::Interrupted => (Cause::Retry { turn: started }, turn.work, turn.layers),
        Why::Failed => (Cause::Recast { turn: started }, turn.work, turn.layers),
        Why::Rejected(event, faults) => {
            let (work, layers) = work::with_faults(turn.work, turn.layers, event, &faults);
            (Cause::Repair { turn: started }, work, layers)
        }
    };
    let again = TurnStarted {
        visit: turn.visit,
        attempt: turn.attempt + 1,
        item: turn.item,
        cause,
        consumed: turn.consumed,
        session: turn.session,
        layers,
        script,
        ..without_work(work)
    };
    draft.emit_at(&id, again);
}

/// The part of `turn.started` that says what the runner gets; the rest is to be filled in.
fn without_work(work: TurnWork) -> TurnStarted {
    let (prompt, input) = match work {
        TurnWork::Prompt(prompt) => (Some(prompt.to_string()), None),
        TurnWork::Input(input) => (None, Some(input)),
    };
    TurnStarted {
        visit: 0,
        attempt: 0,
        item: None,
        cause: Cause::Input,
        consumed: Vec::new(),
        prompt,
        input,
        layers: Vec::new(),
        session: None,
        script: None,
    }
}

/// The scripted answer that a turn of this node would take now.
fn script_entry(run: &Run, index: usize) -> Option<ScriptEntry> {
    let binding = run.created()?.script.as_ref()?;
    let key = binding.keys.get(run.node(index).0)?;
    let index = run.script.get(key).map_or(0, crate::state::ScriptPosition::upcoming);
    Some(ScriptEntry { key: key.clone(), index })
}

/// Nothing is in flight and nothing can start (D38).
fn rest(draft: &mut Draft<'_>) {
    let run = draft.run();
    let oldest = run.ready.0.first().map(|(_, _, index)| run.node(*index).0.clone());
    let paused = run.paused.keys().next().map(|index| run.node(*index).0.clone());
    let wanted = next_start(run).is_some();
    if let Some(bound) = budget::exhausted(run).filter(|_| wanted) {
        let message = format!("the cast has spent its budget: {bound}");
        draft.emit(RunWaiting { reason: WaitReason::Budget, node: oldest, message });
    } else if let Some(node) = paused {
        let message = format!(
            "`{node}` waits: `materia say` gives it a further instruction, `materia continue` finishes it"
        );
        draft.emit(RunWaiting { reason: WaitReason::MultiTurn, node: Some(node), message });
    } else if let Some(stall) = &run.stalled {
        let (reason, message) = (WaitReason::Stall, stall.message.clone());
        let node = Some(stall.node.clone());
        draft.emit(RunWaiting { reason, node, message });
    } else if let Some(node) = budget::blocked(run) {
        let message = format!("`{node}` has spent its budget; its inputs are kept");
        draft.emit(RunWaiting { reason: WaitReason::Budget, node: Some(node), message });
    } else if run.pace == Pace::Interactive {
        let message = "the pace is INTERACTIVE: nothing starts by itself".to_owned();
        draft.emit(RunWaiting { reason: WaitReason::Interactive, node: oldest, message });
    } else if let Some(node) = oldest {
        let message = format!("input waits at `{node}`, which only a person starts");
        draft.emit(RunWaiting { reason: WaitReason::Manual, node: Some(node), message });
    } else if run.held.is_empty() {
        draft.emit(RunCompleted {});
    }
}
