//! Other casts that are being driven in the same folder (D66).

use materia_contract::{Behavior, CastStatus, GlobalMode, Plan, RunId, ToolsDoc};
use materia_engine::blocking;

use crate::{Failure, Project};

/// Whether turns of a cast may change files of the project: in Planning none may, an agent needs the tools for it.
#[must_use]
pub fn may_write(plan: &Plan, mode: GlobalMode) -> bool {
    let writes = |node: &materia_contract::Node| match &node.behavior {
        Behavior::Utility { .. } => true,
        Behavior::Agent { tools, .. } => {
            let allowed = node.policy.as_ref().and_then(|policy| policy.tools.as_ref());
            allowed.or(tools.as_ref()).is_none_or(ToolsDoc::may_write)
        }
    };
    mode != GlobalMode::Planning && plan.nodes.values().any(writes)
}

/// Casts of a project that are driven now, where they or the cast `id` of this plan may change files. One that cannot be
/// read is left out: it must not keep another from starting.
pub fn others(
    project: &Project,
    id: &RunId,
    plan: &Plan,
    mode: GlobalMode,
) -> Result<Vec<RunId>, Failure> {
    let writes = may_write(plan, mode);
    let mut found = Vec::new();
    for (_, journal) in project.journals()? {
        for line in blocking(&journal).list()?.lines {
            let ends = !matches!(line.status, CastStatus::Running | CastStatus::Waiting);
            if ends
                || line.cast_id == *id
                || !blocking(&journal).is_driven(&line.cast_id).unwrap_or(false)
            {
                continue;
            }
            let Ok((run, _)) = materia_engine::load(&journal, &line.cast_id) else { continue };
            let other = run.created().is_some_and(|it| may_write(&it.plan, run.global_mode()));
            if writes || other {
                found.push(line.cast_id);
            }
        }
    }
    Ok(found)
}

/// The warning about such casts.
#[must_use]
pub fn warning(others: &[RunId]) -> Option<String> {
    let names: Vec<String> = others.iter().map(|id| format!("`{id}`")).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(format!(
            "cast {one} is under way in this folder, too; each of the two sees what the other changes"
        )),
        several => Some(format!(
            "casts {} are under way in this folder, too; each sees what the others change",
            several.join(", ")
        )),
    }
}
