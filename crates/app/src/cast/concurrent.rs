//! Other casts that are being driven in the same folder (D66).

use std::path::{Path, PathBuf};

use materia_contract::api::DrivenCast;
use materia_contract::{Behavior, GlobalMode, Plan, RunId, ToolsDoc};
use materia_journal::SqliteJournal;

use crate::Project;
use crate::project::place::CastJournal;

/// Whether turns of a cast may change files of the project: in Planning none may, an agent needs the tools for it.
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

/// Casts of a journal that are driven now in the project folder. One that cannot be read is left out: it must not keep
/// another from starting.
pub fn driven(journal: &dyn CastJournal) -> Vec<DrivenCast> {
    let read = |cast_id: RunId| {
        let (run, _) = materia_engine::load(journal, &cast_id).ok()?;
        let created = run.created()?;
        // The process that drove a cast may hold its lock for a moment after the end.
        if created.workspace.is_some() || run.phase().status().has_ended() {
            return None;
        }
        let may_write = may_write(&created.plan, run.global_mode());
        Some(DrivenCast { cast_id, may_write })
    };
    journal.driven().into_iter().filter_map(read).collect()
}

/// Casts of a project that are driven now, where they or the cast `id` of this plan may change files. `root` is the
/// folder of the casts.
pub fn others(
    project: &Project,
    root: &Path,
    id: &RunId,
    plan: &Plan,
    mode: GlobalMode,
) -> Vec<RunId> {
    let writes = may_write(plan, mode);
    let options = project.journal_options();
    // The locks show whether there are any. Mostly there are none, and no journal is opened.
    let is_driven = |root: &PathBuf| {
        let runs = SqliteJournal::driven_in(root, &options).unwrap_or_default();
        project.is_remote() || runs.iter().any(|run| run != id)
    };
    let roots = project.roots_beside(root.to_owned()).into_iter().filter(is_driven);
    let journals = roots.filter_map(|root| project.look(&root).ok().flatten());
    let driven = journals.flat_map(|journal| driven(&*journal));
    let others = driven.filter(|other| other.cast_id != *id && (writes || other.may_write));
    others.map(|other| other.cast_id).collect()
}

/// The warning about such casts.
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
