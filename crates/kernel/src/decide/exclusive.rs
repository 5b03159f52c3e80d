//! Acts that are decided alone and not together with others at one instant: resume, say, budget, stop, abort and the
//! like.

use materia_contract::{Budget, BudgetChanged, Do, NodeBudgets, NodeId, RunPlace};

use crate::ask::{insight, skipping};
use crate::decide::agenda::Due;
use crate::decide::draft::Draft;
use crate::decide::rejection::Rejection;
use crate::decide::{halt, skip};
use crate::state::{Phase, Run, Why};

/// Whether the run takes this in its present phase.
pub(crate) fn accept(run: &Run, act: &Do) -> Result<(), Rejection> {
    match (&run.phase, act) {
        (Phase::Failed(failed), Do::Revive) if failed.edge_id.is_some() => return Ok(()),
        (_, Do::Revive) => return Err(Rejection::NothingExhausted),
        (Phase::Failed(_), Do::Recast) if run.held.iter().any(|h| h.why == Why::Failed) => {
            return Ok(());
        }
        (_, Do::Recast) => return Err(Rejection::NothingFailed),
        (Phase::Running | Phase::Waiting(_) | Phase::Failed(_), Do::Skip { region, .. }) => {
            return skipping::meant(run, region.as_deref()).map(drop).map_err(Rejection::NoSkip);
        }
        (Phase::Completed | Phase::Failed(_) | Phase::Aborted, _) => {
            return Err(Rejection::Ended(run.phase.status()));
        }
        (Phase::Waiting(_), Do::Stop { .. }) => return Err(Rejection::NotRunning),
        (Phase::New | Phase::Running | Phase::Waiting(_), _) => {}
    }
    let known = |id: NodeId| {
        if run.plan().nodes.contains_key(&id) { Ok(id) } else { Err(Rejection::UnknownNode(id)) }
    };
    match act {
        Do::NodeBudget { node, .. } => known(node.clone()).map(|_| ()),
        Do::Say { node, .. } => {
            let id = halt::addressed(run, node.clone()).ok_or(Rejection::NobodyAddressed)?;
            known(id).map(|_| ())
        }
        Do::Continue { node } => {
            let id = halt::addressed(run, node.clone()).ok_or(Rejection::NothingPaused)?;
            let index = run.index_of(&known(id)?);
            if run.paused.contains_key(&index) { Ok(()) } else { Err(Rejection::NothingPaused) }
        }
        Do::Budget { .. }
        | Do::Resume { .. }
        | Do::Recast
        | Do::Revive
        | Do::Skip { .. }
        | Do::Stop { .. }
        | Do::Abort { .. } => Ok(()),
        Do::Offer { .. }
        | Do::Trigger { .. }
        | Do::Approve { .. }
        | Do::Deny { .. }
        | Do::Mode { .. }
        | Do::Pause
        | Do::GlobalMode { .. }
        | Do::Crash => unreachable!("it belongs to an instant"),
    }
}

/// Does it.
pub(crate) fn perform(draft: &mut Draft<'_>, act: Do, place: Option<RunPlace>) {
    match act {
        Do::Say { node, text } => halt::say(draft, node, text),
        Do::Continue { node } => halt::finish(draft, node),
        Do::Budget { budget } => {
            let budget = Some(filled(budget, draft.run().budget));
            draft.emit(BudgetChanged { budget, node_budgets: None });
            draft.then(Due::Start);
        }
        Do::NodeBudget { node, budgets } => {
            let index = draft.run().index_of(&node);
            let kept = insight::budgets_of(draft.run(), index).unwrap_or_default();
            let node_budgets = Some(filled_node(budgets, kept));
            draft.emit_at(&node, BudgetChanged { budget: None, node_budgets });
            draft.then(Due::Start);
        }
        Do::Resume { pace } => match place {
            Some(place) => halt::take_up(draft, place, pace),
            None => halt::resume(draft, pace),
        },
        Do::Recast => halt::recast(draft, place),
        Do::Revive => halt::revive(draft),
        Do::Skip { region, reason } => skip::skip(draft, region.as_deref(), reason),
        Do::Stop { .. } => halt::stop(draft),
        Do::Abort { reason } => {
            halt::abort(draft, reason.unwrap_or_else(|| "a person ended it".to_owned()));
        }
        Do::Offer { .. }
        | Do::Trigger { .. }
        | Do::Approve { .. }
        | Do::Deny { .. }
        | Do::Mode { .. }
        | Do::Pause
        | Do::GlobalMode { .. }
        | Do::Crash => unreachable!("it belongs to an instant"),
    }
}

/// Bounds that are left out stay as they are.
fn filled(given: Budget, kept: Budget) -> Budget {
    Budget {
        max_tokens: given.max_tokens.or(kept.max_tokens),
        max_cost: given.max_cost.or(kept.max_cost),
        max_turns: given.max_turns.or(kept.max_turns),
        warn_at_percent: given.warn_at_percent.or(kept.warn_at_percent),
        max_storage_mb: given.max_storage_mb.or(kept.max_storage_mb),
    }
}

fn filled_node(given: NodeBudgets, kept: NodeBudgets) -> NodeBudgets {
    NodeBudgets {
        turns: given.turns.or(kept.turns),
        time_ms: given.time_ms.or(kept.time_ms),
        cost: given.cost.or(kept.cost),
    }
}
