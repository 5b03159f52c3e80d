//! The state of each socket, and how far a run is.

use materia_contract::api::{Progress, SocketNow, SocketState};
use materia_contract::{NodeId, WaitReason};
use materia_kernel::{
    Phase, Run, loops, paused, questions, turns_in_flight, visits_of, waiting_inputs,
};

/// The state of each socket, in the order of the plan.
#[must_use]
pub fn sockets(run: &Run) -> Vec<SocketNow> {
    let Some(created) = run.created() else { return Vec::new() };
    let asking: Vec<&NodeId> = questions(run)
        .filter(|asked| !asked.denied)
        .map(|asked| asked.node)
        .chain(paused(run))
        .collect();
    let nodes = created.plan.nodes.iter().enumerate();
    let now = nodes.map(|(index, (id, node))| {
        let turns = turns_in_flight(run, index);
        let waits = u32::try_from(waiting_inputs(run, index).len()).unwrap_or(u32::MAX);
        let (visits, completed) = visits_of(run, index);
        let state = match run.phase() {
            Phase::Failed(error) if error.socket.as_ref() == Some(id) => SocketState::Failed,
            Phase::Aborted if !turns.is_empty() => SocketState::Aborted,
            Phase::Waiting(waiting)
                if waiting.node.as_ref() == Some(id) && waiting.reason == WaitReason::Stall =>
            {
                SocketState::Stalled
            }
            Phase::New
            | Phase::Running
            | Phase::Waiting(_)
            | Phase::Completed
            | Phase::Failed(_)
            | Phase::Aborted => {
                if asking.contains(&id) {
                    SocketState::NeedsYou
                } else if !turns.is_empty() {
                    SocketState::Running
                } else if waits > 0 {
                    SocketState::Queued
                } else if completed > 0 {
                    SocketState::Done
                } else {
                    SocketState::Idle
                }
            }
        };
        let materia = node.materia.clone();
        SocketNow { socket: id.clone(), materia, state, visits, completed, turns, waits }
    });
    now.collect()
}

/// How far the first loop is.
#[must_use]
pub fn progress(run: &Run) -> Option<Progress> {
    let first = loops(run).next()?;
    let total = u32::try_from(first.items.len()).unwrap_or(u32::MAX);
    Some(Progress { done: first.index.min(total), total })
}
