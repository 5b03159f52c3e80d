//! What a run may spend (D24). Spending is folded from events, so it survives everything they do.

use materia_contract::{BudgetBound, BudgetWarned};

use crate::Run;
use crate::draft::Draft;

/// When a warning is due, if the author said nothing.
const WARN_AT_PERCENT_DEFAULT: u32 = 75;

/// Each bound that is set, with what was spent and what may be.
fn bounds(run: &Run) -> impl Iterator<Item = (BudgetBound, f64, f64)> {
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52, and only compared")]
    let count = |count: u64| count as f64;
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
    bounds(run).find(|(_, spent, limit)| spent >= limit).map(|(bound, spent, limit)| {
        let name = match bound {
            BudgetBound::Tokens => "tokens",
            BudgetBound::Cost => "cost",
            BudgetBound::Turns => "turns",
        };
        format!("{spent} of {limit} {name}")
    })
}

/// Warns once of each bound that spending has come near to.
pub(crate) fn warn(draft: &mut Draft<'_>) {
    let run = draft.run();
    let percent = f64::from(run.budget.warn_at_percent.unwrap_or(WARN_AT_PERCENT_DEFAULT));
    let near: Vec<BudgetWarned> = bounds(run)
        .filter(|(bound, spent, limit)| {
            !run.warned.contains(bound) && *spent * 100.0 >= *limit * percent
        })
        .map(|(bound, spent, limit)| BudgetWarned { bound, spent, limit })
        .collect();
    for warning in near {
        draft.emit(warning);
    }
}
