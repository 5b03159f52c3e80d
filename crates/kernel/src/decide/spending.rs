//! Events about budgets: warnings, and nodes whose own budget is exhausted (D24).

use materia_contract::{BudgetWarned, NodeBlocked, NodeId};

use crate::ask::{budget, waits};
use crate::decide::draft::Draft;

/// When a warning is due, if the author said nothing.
const WARN_AT_PERCENT_DEFAULT: u32 = 75;

/// Warns once of each bound that spending has come near to.
pub(crate) fn warn(draft: &mut Draft<'_>) {
    let run = draft.run();
    let percent = i128::from(run.budget.warn_at_percent.unwrap_or(WARN_AT_PERCENT_DEFAULT));
    let near: Vec<BudgetWarned> = budget::bounds(run)
        .filter(|(bound, spent, limit)| {
            !run.warned.contains(bound) && spent.millionths() * 100 >= limit.millionths() * percent
        })
        .map(|(bound, spent, limit)| BudgetWarned { bound, spent, limit })
        .collect();
    for warning in near {
        draft.emit(warning);
    }
}

/// Writes down which nodes are kept from running by their own budget.
pub(crate) fn block(draft: &mut Draft<'_>) {
    let run = draft.run();
    let over: Vec<(NodeId, String)> = run
        .overspent
        .iter()
        .filter(|index| !run.nodes[**index].blocked)
        .filter_map(|index| {
            let spent = waits::kept(run, *index)?;
            Some((run.node(*index).0.clone(), format!("it has spent its budget: {spent}")))
        })
        .collect();
    for (node, reason) in over {
        draft.emit_at(&node, NodeBlocked { reason });
    }
}
