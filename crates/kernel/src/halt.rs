//! How a run stops before its end, and how it goes on.

use materia_contract::{
    InterruptReason, OnInterrupt, RunAborted, RunResumed, RunWaiting, WaitReason,
};

use crate::draft::Draft;
use crate::{schedule, settle};

/// Carries on a run. Turns that were in flight are lost: nobody knows how they ended (D8).
pub(crate) fn resume(draft: &mut Draft<'_>, cwd: String, run_dir: String) {
    let crashed = !draft.run().turns.is_empty();
    settle::interrupt_all(draft, InterruptReason::Crash);
    if crashed && let Some(node) = asks_first(draft) {
        let message = format!(
            "a turn of `{node}` was interrupted and nobody knows how far it came; resume again to run it once more"
        );
        draft.emit(RunWaiting { reason: WaitReason::Approval, node: Some(node), message });
        return;
    }
    draft.emit(RunResumed { cwd, run_dir });
    for held in draft.run().held.clone() {
        schedule::restart(draft, held);
    }
    schedule::go_on(draft);
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
