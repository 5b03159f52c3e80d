//! Ends a run short, and interrupts the turns in flight.

use materia_contract::{
    EdgeId, ErrorCode, FileState, InterruptReason, NodeId, RunFailed, TurnInterrupted,
};

use crate::ask::work;
use crate::decide::draft::Draft;

/// A way led to `fail`: the run fails, and the reason is what the socket said (D65).
pub(crate) fn give_up(draft: &mut Draft<'_>, index: usize, turn: Option<u64>) {
    let run = draft.run();
    let id = run.node(index).0.clone();
    let caught = run.caught.as_ref().filter(|caught| turn == Some(caught.turn));
    let reason = match caught {
        Some(caught) => work::reason_of(&caught.message),
        None if turn.is_some() => work::own_reason(run, index),
        None => String::new(),
    };
    let silent = reason.is_empty();
    let message = if silent { format!("`{id}` leads to `fail` and says nothing") } else { reason };
    fail(draft, ErrorCode::GraphFailed, message, Some(id), Vec::new(), None);
}

/// Stops the run short. Whatever else was in flight is interrupted.
pub(crate) fn fail(
    draft: &mut Draft<'_>,
    code: ErrorCode,
    message: String,
    socket: Option<NodeId>,
    artifacts: Vec<String>,
    edge_id: Option<EdgeId>,
) {
    interrupt_all(draft, InterruptReason::RunFailed);
    draft.emit(RunFailed { code, message, socket, artifacts, edge_id });
}

/// Records that the turns in flight were interrupted and their results are unknown.
pub(crate) fn interrupt_all(draft: &mut Draft<'_>, reason: InterruptReason) {
    interrupt_each(draft, |_| (reason, None));
}

/// The same, where not all are interrupted for the same reason, or where it is known which files they left.
pub(crate) fn interrupt_each(
    draft: &mut Draft<'_>,
    reason: impl Fn(u64) -> (InterruptReason, Option<FileState>),
) {
    let in_flight: Vec<_> = draft
        .run()
        .turns
        .iter()
        .map(|(started, turn)| {
            let alone = turn.files.as_ref().map(|files| files.alone);
            (*started, turn.node, turn.visit, turn.attempt, alone)
        })
        .collect();
    for (turn, node, visit, attempt, alone) in in_flight {
        let id = draft.run().node(node).0.clone();
        let (reason, files) = reason(turn);
        let put_back = alone.filter(|_| reason != InterruptReason::Workspace);
        draft.emit_at(&id, TurnInterrupted { turn, visit, attempt, reason, files, put_back });
    }
}
