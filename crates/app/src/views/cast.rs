//! A cast at any event: its report, its graph and the state of each socket.

use std::collections::BTreeMap;

use materia_contract::api::{CastView, Cost, EdgeNow, LoopNow, SocketNow, SocketState, Spent};
use materia_contract::{Budget, CastReport, Folders, NodeId, RunId, Visit, WaitReason};
use materia_engine::{Journal, blocking, report_at};
use materia_kernel::{
    Phase, Run, loops, paused, questions, traversals, turns_in_flight, visits_of, waiting_inputs,
};

use crate::views::next_steps::NextSteps;
use crate::{Failure, Result, text::grid};

/// A cast at its end, or as of event `at`.
pub fn cast(
    journal: &dyn Journal,
    id: &RunId,
    project: &str,
    folders: &Folders,
    at: Option<u64>,
) -> Result<CastView> {
    let (report, run) = report_at(journal, id, folders, at)?;
    let created =
        run.created().ok_or_else(|| Failure::storage(format!("cast `{id}` has no beginning")))?;
    let driven = blocking(journal).is_driven(id).unwrap_or(false);
    let next = NextSteps::of(&run).onward();
    let edges = traversals(&run).map(|(id, taken, bound)| EdgeNow {
        id: id.clone(),
        taken,
        left: bound.saturating_sub(taken),
    });
    Ok(CastView {
        project: project.to_owned(),
        driven,
        worker: None,
        waits_for_worker: false,
        at: run.seq(),
        pace: run.pace(),
        global_mode: run.global_mode(),
        budget: run.budget(),
        plan: created.plan.clone(),
        plan_hash: created.plan_hash.clone(),
        graph: grid::data(&created.plan),
        sockets: sockets(&run),
        edges: edges.collect(),
        loops: loops(&run)
            .map(|it| LoopNow {
                id: it.id.to_owned(),
                entry: it.entry,
                index: it.index,
                total: u32::try_from(it.items.len()).unwrap_or(u32::MAX),
                items: it.items.to_vec(),
            })
            .collect(),
        next,
        report,
    })
}

/// Where each socket stands.
fn sockets(run: &Run) -> Vec<SocketNow> {
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

/// Cost of a cast, by socket and by item.
pub fn cost(report: &CastReport, budget: Budget) -> Cost {
    let mut sockets: BTreeMap<&NodeId, Spent> = BTreeMap::new();
    let mut items: BTreeMap<&str, Spent> = BTreeMap::new();
    for visit in &report.visits {
        let socket = sockets.entry(&visit.socket).or_default();
        socket.socket = Some(visit.socket.clone());
        socket.materia.clone_from(&visit.materia);
        add(socket, visit);
        if let Some(key) = visit.item.as_deref() {
            let item = items.entry(key).or_default();
            item.item = Some(key.to_owned());
            item.label.clone_from(&visit.item_label);
            add(item, visit);
        }
    }
    Cost {
        usage: report.usage,
        budget,
        by_socket: sockets.into_values().collect(),
        by_item: items.into_values().collect(),
    }
}

fn add(spent: &mut Spent, visit: &Visit) {
    spent.turns += 1;
    spent.tokens = spent.tokens.saturating_add(visit.tokens.unwrap_or(0));
    spent.duration_ms = spent.duration_ms.saturating_add(visit.duration_ms.unwrap_or(0));
    if let Some(cost) = visit.cost {
        spent.cost = Some(spent.cost.map_or(cost, |before| before.saturating_add(cost)));
    }
}
