//! Budgets of a run (D24). Usage is folded from events, so it survives a restart.

use materia_contract::{Amount, Behavior, BudgetBound, DiskMeasured, StorageMeasured};

use crate::state::{Held, Run, Why};

/// Each bound that is set, with what was spent and what may be.
pub(crate) fn bounds(run: &Run) -> impl Iterator<Item = (BudgetBound, Amount, Amount)> {
    let count = Amount::from;
    let (budget, usage) = (run.budget, run.usage);
    // Unknown cost is unknown: it can neither pass a bound nor keep below it.
    let cost = budget.max_cost.zip(usage.cost);
    [
        budget.max_tokens.map(|limit| (BudgetBound::Tokens, count(usage.tokens), count(limit))),
        cost.map(|(limit, spent)| (BudgetBound::Cost, spent, limit)),
        budget.max_turns.map(|limit| (BudgetBound::Turns, count(usage.turns), count(limit))),
    ]
    .into_iter()
    .flatten()
}

/// The bound that the next turn would pass, in words.
pub(crate) fn exhausted(run: &Run) -> Option<String> {
    let spent =
        bounds(run).find(|(_, spent, limit)| spent >= limit).map(|(bound, spent, limit)| {
            let name = match bound {
                BudgetBound::Tokens => "tokens",
                BudgetBound::Cost => "cost",
                BudgetBound::Turns => "turns",
            };
            format!("{spent} of {limit} {name}")
        });
    spent.or_else(|| crowded(run))
}

/// That there is no room for what another turn would leave, in words.
fn crowded(run: &Run) -> Option<String> {
    let most = run.max_storage_mb();
    let StorageMeasured { used_mb, free_mb, floor_mb, disk } =
        run.storage.filter(|storage| !storage.leaves_room(most))?;
    Some(if used_mb >= most {
        format!("{used_mb} of {most} MB of storage")
    } else if let Some(DiskMeasured { free, floor }) = disk.filter(|_| floor_mb == 0) {
        format!("{free} bytes are free on its disk, and {floor} bytes have to stay free")
    } else {
        format!("{free_mb} MB are free on its disk, and {floor_mb} MB have to stay free")
    })
}

/// Kind of a start: budgets count only new turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asks {
    /// A new turn.
    Turn,
    /// A further attempt at a turn, which counts as begun.
    Attempt,
}

/// Kind of a further attempt at a held turn. A retry that the author of a utility asked for counts as a turn (D62).
pub(crate) fn asks(run: &Run, held: &Held) -> Asks {
    let utility = matches!(run.node(held.turn.node).1.behavior, Behavior::Utility { .. });
    if utility && held.why == Why::Passing { Asks::Turn } else { Asks::Attempt }
}

/// The bound of its own that a node has passed, in words (D24).
pub(crate) fn node_exhausted(run: &Run, index: usize, asks: Asks) -> Option<String> {
    let state = &run.nodes[index];
    let budgets = state.budgets.or(run.node(index).1.budgets)?;
    let spent = state.spent;
    let time_ms = u64::try_from(spent.micros / 1_000).unwrap_or(0);
    if asks == Asks::Turn && budgets.turns.is_some_and(|limit| spent.turns >= limit) {
        return Some(format!("{} turns", spent.turns));
    }
    if budgets.time_ms.is_some_and(|limit| time_ms >= limit) {
        return Some(format!("{time_ms} ms"));
    }
    let cost = budgets.cost.zip(spent.cost).filter(|(limit, cost)| cost >= limit);
    cost.map(|(_, cost)| format!("cost {cost}"))
}
