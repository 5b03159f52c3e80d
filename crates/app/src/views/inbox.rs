//! Inbox entry of a cast: its question to a person, with all data needed to answer.

use materia_contract::api::{ApprovalAsked, CastSummary, Denied, InboxItem};
use materia_contract::time::wall_time;
use materia_contract::{Actor, Behavior, Decided, NodeId, WaitReason};
use materia_engine::{Journal, blocking};
use materia_kernel::{Phase, Question, Run, question};

use crate::trust;
use crate::views::next_steps::NextSteps;
use crate::views::questions::{self, Asks};
use crate::views::turn_output::{self, Which};

/// Events of one decision up to a refusal, at the most.
const DECISION_EVENTS_MAX: u64 = 8;

/// Inbox entry of a cast, if it waits for a person.
pub fn inbox(journal: &dyn Journal, summary: &CastSummary, run: &Run) -> Option<InboxItem> {
    let Phase::Waiting(waiting) = run.phase() else { return None };
    let asks = questions::of(run);
    let asked = waiting.node.as_ref().filter(|_| waiting.reason == WaitReason::Approval);
    let approval = asked.and_then(|node| approval(journal, run, node));
    let said = match &asks {
        Some(Asks::Words(node)) => {
            let which = Which::parse(Some(node.as_str())).ok()?;
            let heard = turn_output::find(journal, &summary.line.cast_id, &which).ok();
            heard.map(|heard| heard.report.output)
        }
        Some(Asks::Approval(_)) | None => None,
    };
    let reason = serde_json::to_value(waiting.reason).ok();
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
        next: NextSteps::of(run).onward(),
    })
}

/// The question of a socket, with the refusal where a person has refused it.
fn approval(journal: &dyn Journal, run: &Run, node: &NodeId) -> Option<ApprovalAsked> {
    let asked = questions::approval(run, node)?;
    let refused = question(run, node).filter(|asked| asked.denied);
    let (argv, cwd) = command(run, node);
    Some(ApprovalAsked {
        hash: asked.hash,
        runs: asked.runs,
        shell: trust::names_a_shell(&argv),
        argv,
        cwd,
        inputs: asked.inputs,
        writes: asked.writes,
        routes: asked.routes,
        denied: refused.and_then(|asked| denied(journal, run, &asked)),
    })
}

fn denied(journal: &dyn Journal, run: &Run, asked: &Question<'_>) -> Option<Denied> {
    let before = asked.seq.saturating_sub(DECISION_EVENTS_MAX);
    let count = usize::try_from(asked.seq - before).ok()?;
    let records = blocking(journal).records(run.id(), before, count).ok()?;
    let (seq, at) = (asked.seq, wall_time(records.last()?.wall));
    // The first event of the decision says who asked for it.
    let input = records.iter().rev().find_map(|record| record.input.as_deref());
    let decided: Option<Decided> = input.and_then(|text| serde_json::from_str(text).ok());
    let by = decided.and_then(|decided| decided.by).unwrap_or_else(Actor::person);
    Some(Denied { seq, at, by: by.as_str().to_owned(), reason: asked.reason.map(str::to_owned) })
}

/// The program that a socket would run, and the folder in the project.
fn command(run: &Run, node: &NodeId) -> (Vec<String>, Option<String>) {
    let node = run.created().and_then(|created| created.plan.nodes.get(node));
    match node.map(|node| (&node.behavior, &node.cwd)) {
        Some((Behavior::Utility { command, .. }, cwd)) => (command.clone(), cwd.clone()),
        Some((Behavior::Agent { .. }, _)) | None => (Vec::new(), None),
    }
}
