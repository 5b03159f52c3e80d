//! Stops a run before its end, and resumes it.

use materia_contract::{
    FileState, GoOnFrom, InterruptReason, MessageReceived, NodeId, OnInterrupt, Pace,
    PayloadDelivered, RunAborted, RunFailed, RunPlace, RunResumed, RunRevived, RunWaiting,
    SocketFinished, WaitReason,
};

use crate::decide::agenda::{Due, Leaving};
use crate::decide::draft::Draft;
use crate::decide::{acts, elements, ending, schedule};
use crate::state::{Checkout, Phase, Run};

/// Resumes a run without a driver. Turns in flight are lost, because their results are unknown (D8). Without `pace`,
/// a waiting or stopped run goes on at AUTO, and one that lost its process keeps its pace.
pub(crate) fn take_up(draft: &mut Draft<'_>, at: RunPlace, pace: Option<Pace>) {
    let crashed = !draft.run().turns.is_empty();
    let rested = matches!(draft.run().phase, Phase::Waiting(_)) || draft.run().stopping;
    let pace = pace.or(rested.then_some(Pace::Auto));
    ending::interrupt_each(draft, |_| {
        (InterruptReason::Crash, at.files.as_ref().map(|found| found.files.clone()))
    });
    if crashed && let Some(node) = asks_first(draft) {
        let message = format!(
            "a turn of `{node}` was interrupted and nobody knows how far it came; a person must let it run once more"
        );
        draft.emit(RunWaiting { reason: WaitReason::Approval, node: Some(node), message });
        return;
    }
    let resumed = resumed(draft.run(), at, false);
    draft.emit(resumed);
    if let Some(pace) = pace {
        acts::set_pace(draft, pace, "resume");
    }
    draft.then(Due::Start);
}

/// Resumes a run that has a driver. Turns in flight continue.
pub(crate) fn resume(draft: &mut Draft<'_>, pace: Option<Pace>) {
    wake(draft);
    acts::set_pace(draft, pace.unwrap_or(Pace::Auto), "resume");
    draft.then(Due::Start);
}

/// Tries what failed again.
pub(crate) fn recast(draft: &mut Draft<'_>, place: Option<RunPlace>) {
    let place = place.unwrap_or_else(|| here(draft.run()));
    let resumed = resumed(draft.run(), place, true);
    draft.emit(resumed);
    draft.then(Due::Start);
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
        draft.then(Due::FailureEdge(index));
        draft.then(Due::Start);
        return;
    }
    let ran = run.passed != Some(index);
    let (turn, verdict) = if ran { (run.last.turn, run.last.verdict) } else { (None, None) };
    draft.then(Due::Edges(Leaving { node: index, turn, verdict }, Some(edge_id)));
    draft.then(Due::Start);
}

/// A person says something to a node, which takes it as an input. A run that waits is not carried on by
/// that (D59).
pub(crate) fn say(draft: &mut Draft<'_>, node: Option<NodeId>, text: String) {
    let node = addressed(draft.run(), node).expect("checked before");
    let payload_id = draft.run().uuid(draft.next_seq());
    draft.emit_at(&node, MessageReceived { payload_id, text });
    draft.emit_at(&node, PayloadDelivered { payload_id, edge_id: None });
    draft.then(Due::Start);
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
        draft.then(Due::Leave(Leaving { node: index, turn: Some(turn), verdict }));
    }
    draft.then(Due::Start);
}

/// The node that a person means: the one named, else the one that waits for a person.
pub(crate) fn addressed(run: &Run, node: Option<NodeId>) -> Option<NodeId> {
    node.or_else(|| run.paused.keys().next().map(|index| run.node(*index).0.clone()))
}

/// A waiting run runs again.
pub(crate) fn wake(draft: &mut Draft<'_>) {
    if matches!(draft.run().phase, Phase::Waiting(_)) {
        let resumed = resumed(draft.run(), here(draft.run()), false);
        draft.emit(resumed);
    }
}

/// A run goes on at a place. In a workspace it says from which files, where the last event does not (W5, W10).
fn resumed(run: &Run, place: RunPlace, recast: bool) -> RunResumed {
    let RunPlace { cwd, run_dir, files: found } = place;
    let goes_on = |files, put_back| RunResumed { cwd, run_dir, recast, files, put_back };
    let Some(files) = &run.files else { return goes_on(None, false) };
    let go_on = found.as_ref().map_or(GoOnFrom::Usual, |found| found.go_on);
    let changed = found.as_ref().is_some_and(|found| found.changed);
    let found = found.map(|found| found.files);
    match (go_on, &files.checkout) {
        // Changes that a person made while the run rested are undone only on request.
        (GoOnFrom::Usual, Checkout::PutBack) if changed => goes_on(found, false),
        (GoOnFrom::Found, _) | (GoOnFrom::Usual, Checkout::Unknown) => {
            goes_on(found.filter(|found| *found != files.last), false)
        }
        (GoOnFrom::PutBack, _) => goes_on(None, true),
        (GoOnFrom::Usual, Checkout::Changed(changed)) => {
            goes_on(Some(found.unwrap_or_else(|| changed.clone())), false)
        }
        (GoOnFrom::Usual, Checkout::Same | Checkout::PutBack) => goes_on(None, false),
    }
}

fn here(run: &Run) -> RunPlace {
    RunPlace { cwd: run.cwd.clone(), run_dir: run.run_dir.clone(), files: None }
}

/// The node of an interrupted turn that may not run again unasked.
fn asks_first(draft: &Draft<'_>) -> Option<materia_contract::NodeId> {
    let run = draft.run();
    run.held.iter().find_map(|held| {
        let (id, node) = run.node(held.turn.node);
        (node.on_interrupt == OnInterrupt::Ask).then(|| id.clone())
    })
}

/// A person stops the run: no further turn starts. Once that is durable, the driver ends the turns in flight, and
/// then the run is [`stopped`] (D57).
pub(crate) fn stop(draft: &mut Draft<'_>) {
    // The run may be done already, because its last turn has just ended.
    if schedule::is_done(draft.run()) {
        draft.then(Due::Start);
    } else {
        acts::set_pace(draft, Pace::Interactive, "stop");
    }
}

/// The run was stopped, and the reports of its turns are settled: those still in flight are interrupted.
pub(crate) fn stopped(draft: &mut Draft<'_>, message: String) {
    if draft.run().phase != Phase::Running {
        return;
    }
    ending::interrupt_all(draft, InterruptReason::Stopped);
    draft.emit(RunWaiting { reason: WaitReason::Interactive, node: None, message });
}

/// A turn was not started, because its program differs from the approved one, or because the files of the workspace
/// were changed. Once the reports of the others are settled, it counts as interrupted and runs once the run is resumed.
pub(crate) fn withheld(
    draft: &mut Draft<'_>,
    turn: u64,
    message: String,
    files: Option<&FileState>,
) {
    if draft.run().phase != Phase::Running {
        return;
    }
    let node = draft.run().turn(turn).map(|turn| draft.run().node(turn.node).0.clone());
    let (why, reason) = if files.is_some() {
        (InterruptReason::Workspace, WaitReason::Workspace)
    } else {
        (InterruptReason::Trust, WaitReason::Trust)
    };
    ending::interrupt_each(draft, |one| {
        if one == turn { (why, files.cloned()) } else { (InterruptReason::Stopped, None) }
    });
    draft.emit(RunWaiting { reason, node, message });
}

/// The simulation ends here.
pub(crate) fn run_for(draft: &mut Draft<'_>) {
    ending::interrupt_all(draft, InterruptReason::RunFor);
    let message = "the simulation reached its runForMs".to_owned();
    draft.emit(RunWaiting { reason: WaitReason::RunFor, node: None, message });
}

/// A person ends the run for good.
pub(crate) fn abort(draft: &mut Draft<'_>, reason: String) {
    ending::interrupt_all(draft, InterruptReason::Aborted);
    draft.emit(RunAborted { reason });
}
