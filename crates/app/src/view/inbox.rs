//! What a cast asks of a person, with all that is needed to answer.

use materia_contract::api::{ApprovalAsked, CastSummary, InboxItem};
use materia_contract::{Behavior, NodeId};
use materia_engine::Journal;
use materia_kernel::{Phase, Run};

use crate::asking::{self, Asks};
use crate::heard::{self, Which};
use crate::standing::Standing;

/// What waits for a person in a cast, if anything does.
#[must_use]
pub fn inbox(journal: &dyn Journal, summary: &CastSummary, run: &Run) -> Option<InboxItem> {
    let Phase::Waiting(waiting) = run.phase() else { return None };
    let asks = asking::of(run);
    let approval = match &asks {
        Some(Asks::Approval(asked)) => Some(ApprovalAsked {
            hash: asked.hash.clone(),
            runs: asked.runs.clone(),
            argv: command(run, waiting.node.as_ref()).0,
            cwd: command(run, waiting.node.as_ref()).1,
            inputs: asked.inputs.clone(),
            writes: asked.writes.clone(),
            routes: asked.routes,
        }),
        Some(Asks::Words(_)) | None => None,
    };
    let said = match &asks {
        Some(Asks::Words(node)) => {
            let which = Which::parse(Some(node.as_str())).ok()?;
            let heard = heard::find(journal, &summary.line.cast_id, &which).ok();
            heard.map(|heard| heard.report.output)
        }
        Some(Asks::Approval(_)) | None => None,
    };
    let reason = serde_json::to_value(waiting.reason).ok();
    let onward = Standing::of(run).onward();
    Some(InboxItem {
        project: summary.project.clone(),
        cast_id: summary.line.cast_id.clone(),
        loadout: summary.line.loadout.clone(),
        request: summary.line.request.clone(),
        reason: reason.and_then(|it| it.as_str().map(str::to_owned)).unwrap_or_default(),
        message: waiting.message.clone(),
        node: waiting.node.clone(),
        since: summary.updated_at.clone(),
        approval,
        said,
        trust: None,
        next: onward.iter().filter_map(|next| serde_json::to_value(next).ok()).collect(),
    })
}

/// The program that a socket would run, and the folder in the project.
fn command(run: &Run, node: Option<&NodeId>) -> (Vec<String>, Option<String>) {
    let node = run.created().and_then(|created| created.plan.nodes.get(node?));
    match node.map(|node| (&node.behavior, &node.cwd)) {
        Some((Behavior::Utility { command, .. }, cwd)) => (command.clone(), cwd.clone()),
        Some((Behavior::Agent { .. }, _)) | None => (Vec::new(), None),
    }
}
