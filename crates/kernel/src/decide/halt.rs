//! How a run stops before its end, and how it goes on.

use materia_contract::{
    InterruptReason, MessageReceived, NodeId, OnInterrupt, Pace, PayloadDelivered, RunAborted,
    RunFailed, RunResumed, RunRevived, RunWaiting, SocketFinished, WaitReason, places,
};

use crate::decide::draft::Draft;
use crate::decide::{acts, elements, fault, schedule, settle};
use crate::state::{Phase, Run};

/// Carries on a run. Turns that were in flight are lost: nobody knows how they ended (D8).
///
/// A person who resumes a run that was paused wants it to go on by itself; a run that merely lost its
/// process keeps its pace.
pub(crate) fn resume(draft: &mut Draft<'_>, resumed: RunResumed, pace: Option<Pace>) {
    let crashed = !draft.run().turns.is_empty();
    let rested = matches!(draft.run().phase, Phase::Waiting(_));
    let pace = pace.or(rested.then_some(Pace::Auto));
    settle::interrupt_all(draft, InterruptReason::Crash);
    if crashed && let Some(node) = asks_first(draft) {
        let message = format!(
            "a turn of `{node}` was interrupted and nobody knows how far it came; a person must let it run once more"
        );
        draft.emit(RunWaiting { reason: WaitReason::Approval, node: Some(node), message });
        return;
    }
    draft.emit(resumed);
    if let Some(pace) = pace {
        acts::set_pace(draft, pace, "resume");
    }
    schedule::go_on(draft);
}

/// What is said of a run that goes on. Inputs of journals before version 4 say where it lay.
pub(crate) fn resumed(cwd: Option<String>, run_dir: Option<String>, recast: bool) -> RunResumed {
    let cwd = cwd.unwrap_or_else(|| places::WORKSPACE.to_owned());
    let run_dir = run_dir.unwrap_or_else(|| places::RUN_DIR.to_owned());
    RunResumed { cwd, run_dir, recast }
}

/// Tries what failed again.
pub(crate) fn recast(draft: &mut Draft<'_>, resumed: RunResumed) {
    draft.emit(resumed);
    schedule::go_on(draft);
}

/// Gives an exhausted run further allowance and takes the way that was barred.
pub(crate) fn revive(draft: &mut Draft<'_>) {
    let Phase::Failed(RunFailed { edge_id, socket, .. }) = draft.run().phase.clone() else {
        return;
    };
    draft.emit(RunRevived { edge_id: edge_id.clone() });
    let run = draft.run();
    let (Some(edge_id), Some(socket)) = (edge_id, socket) else { return };
    let index = run.index_of(&socket);
    if run.wiring().is_on_failure(&edge_id) {
        fault::lead_on(draft, index);
        schedule::go_on(draft);
        return;
    }
    let ran = run.passed != Some(index);
    let (turn, verdict) = if ran { (run.last.turn, run.last.verdict) } else { (None, None) };
    settle::routed(draft, index, turn, verdict, Some(&edge_id));
    schedule::go_on(draft);
}

/// A person says something to a node, which takes it as an input.
pub(crate) fn say(draft: &mut Draft<'_>, node: Option<NodeId>, text: String) {
    let node = addressed(draft.run(), node).expect("checked before");
    wake(draft);
    let payload_id = draft.run().uuid(draft.next_seq());
    draft.emit_at(&node, MessageReceived { payload_id, text });
    draft.emit_at(&node, PayloadDelivered { payload_id, edge_id: None });
    schedule::go_on(draft);
}

/// A person finishes a multi-turn node: its last result counts.
pub(crate) fn finish(draft: &mut Draft<'_>, node: Option<NodeId>) {
    let node = addressed(draft.run(), node).expect("checked before");
    wake(draft);
    let index = draft.run().index_of(&node);
    let turn = draft.run().paused[&index].turn.expect("it has had a turn");
    draft.emit_at(&node, SocketFinished { turn });
    let verdict = draft.run().last.verdict;
    if elements::advance(draft, index) == elements::Next::Routes {
        settle::leave(draft, index, Some(turn), verdict);
    }
    schedule::go_on(draft);
}

/// The node that a person means: the one named, else the one that waits for a person.
pub(crate) fn addressed(run: &Run, node: Option<NodeId>) -> Option<NodeId> {
    node.or_else(|| run.paused.keys().next().map(|index| run.node(*index).0.clone()))
}

/// A waiting run runs again.
pub(crate) fn wake(draft: &mut Draft<'_>) {
    if matches!(draft.run().phase, Phase::Waiting(_)) {
        let (cwd, run_dir) = (draft.run().cwd.clone(), draft.run().run_dir.clone());
        draft.emit(RunResumed { cwd, run_dir, recast: false });
    }
}

/// The node of an interrupted turn that may not run again unasked.
fn asks_first(draft: &Draft<'_>) -> Option<materia_contract::NodeId> {
    let run = draft.run();
    run.held.iter().find_map(|held| {
        let (id, node) = run.node(held.turn.node);
        (node.on_interrupt == OnInterrupt::Ask).then(|| id.clone())
    })
}

/// A person stops the run for now.
pub(crate) fn stop(draft: &mut Draft<'_>, message: String) {
    settle::interrupt_all(draft, InterruptReason::Stopped);
    draft.emit(RunWaiting { reason: WaitReason::Interactive, node: None, message });
}

/// The simulation ends here.
pub(crate) fn run_for(draft: &mut Draft<'_>) {
    settle::interrupt_all(draft, InterruptReason::RunFor);
    let message = "the simulation reached its runForMs".to_owned();
    draft.emit(RunWaiting { reason: WaitReason::RunFor, node: None, message });
}

/// A person ends the run for good.
pub(crate) fn abort(draft: &mut Draft<'_>, reason: String) {
    settle::interrupt_all(draft, InterruptReason::Aborted);
    draft.emit(RunAborted { reason });
}
