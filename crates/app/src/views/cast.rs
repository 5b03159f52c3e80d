//! A cast at any event: its report, its graph and the state of each socket.

use materia_contract::api::{CastView, EdgeNow, LoopNow};
use materia_contract::{Folders, RunId};
use materia_engine::views::sockets;
use materia_engine::{Journal, blocking, report_at};
use materia_kernel::{loops, traversals};

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
