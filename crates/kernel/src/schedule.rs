//! Who runs next, and what it means when nobody does.

use materia_contract::{
    Cause, Consume, Control, NodeMode, Pace, PayloadConsumed, RunCompleted, RunWaiting,
    ScriptEntry, Trigger, TurnStarted, Uuid, WaitReason,
};

use crate::draft::Draft;
use crate::state::{Held, Payload};
use crate::{Phase, Run, TurnWork, foreach, work};

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
    } else if run.pace() == Pace::Interactive {
        Readiness::PaceInteractive
    } else if manual {
        Readiness::Manual
    } else if state.foreach.is_some() || state.in_flight >= node.max_in_flight {
        Readiness::AtMaxInFlight
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
        let Some(index) = next_runnable(draft.run()) else { break };
        enter(draft, index);
    }
    if draft.run().phase == Phase::Running
        && draft.run().turns.is_empty()
        && draft.run().held.is_empty()
    {
        rest(draft);
    }
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
    let iterates = node.foreach.is_some();
    if iterates && !foreach::enter(draft, index, &payloads) {
        return;
    }
    for payload in &payloads {
        draft.emit_at(&id, PayloadConsumed { payload_id: payload.id });
    }
    if iterates {
        foreach::begin_element(draft, index);
    } else {
        start_turn(draft, index, Cause::Input, &payloads);
    }
}

/// Starts a new turn of a node.
pub(crate) fn start_turn(draft: &mut Draft<'_>, index: usize, cause: Cause, payloads: &[Payload]) {
    let run = draft.run();
    let id = run.node(index).0.clone();
    let visit = run.nodes[index].visits + 1;
    let consumed: Vec<Uuid> = payloads.iter().map(|payload| payload.id).collect();
    let item = foreach::current_item(run, index).map(|_| foreach::item_key(run, index));
    let work = work::assemble(run, index, payloads);
    let script = script_entry(run, index);
    draft.emit_at(&id, turn_started(visit, 1, item, cause, consumed, work, script));
}

/// Starts an interrupted turn again, with the same inputs.
pub(crate) fn restart(draft: &mut Draft<'_>, held: Held) {
    let Held { started, turn } = held;
    let run = draft.run();
    let id = run.node(turn.node).0.clone();
    let script = script_entry(run, turn.node);
    let cause = Cause::Retry { turn: started };
    let event = turn_started(
        turn.visit,
        turn.attempt + 1,
        turn.item,
        cause,
        turn.consumed,
        turn.work,
        script,
    );
    draft.emit_at(&id, event);
}

fn turn_started(
    visit: u32,
    attempt: u32,
    item: Option<String>,
    cause: Cause,
    consumed: Vec<Uuid>,
    work: TurnWork,
    script: Option<ScriptEntry>,
) -> TurnStarted {
    let (prompt, input) = match work {
        TurnWork::Prompt(prompt) => (Some(prompt.to_string()), None),
        TurnWork::Input(input) => (None, Some(input)),
    };
    TurnStarted { visit, attempt, item, cause, consumed, prompt, input, script }
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
    if run.pace() == Pace::Interactive {
        let message = "the pace is INTERACTIVE: nothing starts by itself".to_owned();
        draft.emit(RunWaiting { reason: WaitReason::Interactive, node: oldest, message });
    } else if let Some(node) = oldest {
        let message = format!("input waits at `{node}`, which only a person starts");
        draft.emit(RunWaiting { reason: WaitReason::Manual, node: Some(node), message });
    } else {
        draft.emit(RunCompleted {});
    }
}
