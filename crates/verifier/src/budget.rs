//! Budgets of a run and its nodes (D24).

use materia_contract::{
    Amount, BudgetBound, BudgetWarned, Event, NodeBudgets, StorageMeasured, TurnOutput,
};

use crate::state::Life;
use crate::state::Verifier;
use crate::wiring::Wiring;
use crate::{Checked, hold};

/// When a warning is due, if the author said nothing.
const WARN_AT_PERCENT: u32 = 75;

const BOUNDS: [BudgetBound; 3] = [BudgetBound::Tokens, BudgetBound::Cost, BudgetBound::Turns];

impl Verifier {
    /// Usage and limit, where there is a limit and both are known.
    fn against(&self, bound: BudgetBound) -> Option<(Amount, Amount)> {
        let counts = |spent: u64, limit: u64| (Amount::from(spent), Amount::from(limit));
        let (budget, spent) = (&self.budget, &self.spent);
        match bound {
            BudgetBound::Tokens => budget.max_tokens.map(|most| counts(spent.tokens, most)),
            BudgetBound::Turns => budget.max_turns.map(|most| counts(spent.turns, most)),
            BudgetBound::Cost => spent.cost.against(budget.max_cost),
        }
    }

    /// Whether the run may start nothing more.
    pub(crate) fn run_is_spent(&self) -> bool {
        let (budget, spent) = (&self.budget, &self.spent);
        budget.max_turns.is_some_and(|most| spent.turns >= most)
            || budget.max_tokens.is_some_and(|most| spent.tokens >= most)
            || spent.cost.reaches(budget.max_cost)
            || self.is_crowded()
    }

    /// Whether the run keeps as much as it may, or its disk is nearly full.
    fn is_crowded(&self) -> bool {
        let (Some(storage), Some(chart)) = (&self.storage, &self.chart) else { return false };
        let most = self.budget.max_storage_mb.unwrap_or(chart.plan.limits.max_storage_mb);
        let full = match &storage.disk {
            Some(disk) => disk.free < disk.floor,
            None => storage.free_mb < storage.floor_mb,
        };
        storage.used_mb >= most || full
    }

    /// Its storage was measured: something else than before.
    pub(crate) fn measured(&mut self, data: &StorageMeasured) -> Checked {
        hold!(self, self.storage.as_ref() != Some(data), "the same measure as before");
        self.storage = Some(*data);
        if self.life != Life::Running {
            // Nothing follows in a run that waits.
            self.decision.part = crate::state::Part::Rest;
        }
        Ok(())
    }

    /// Whether a node may start nothing more. A further attempt is no further turn.
    pub(crate) fn is_spent(&self, chart: &Wiring, node: usize, new_turn: bool) -> bool {
        let (spent, plan) = (&self.nodes[node].spent, chart.node(node).budgets);
        let Some(budgets) = self.nodes[node].budgets.or(plan) else { return false };
        let NodeBudgets { turns, time_ms, cost } = budgets;
        let millis = u64::try_from(spent.micros / 1_000).unwrap_or(0);
        (new_turn && turns.is_some_and(|most| spent.turns >= most))
            || time_ms.is_some_and(|most| millis >= most)
            || spent.cost.reaches(cost)
    }

    /// A turn says what it cost.
    pub(crate) fn spend(&mut self, node: usize, report: &TurnOutput) {
        let Some(usage) = report.usage else { return };
        let tokens =
            usage.input_tokens.unwrap_or(0).saturating_add(usage.output_tokens.unwrap_or(0));
        self.spent.tokens = self.spent.tokens.saturating_add(tokens);
        self.spent.cost.add(&usage);
        self.nodes[node].spent.cost.add(&usage);
    }

    fn is_near(&self, bound: BudgetBound) -> bool {
        let percent = i128::from(self.budget.warn_at_percent.unwrap_or(WARN_AT_PERCENT));
        let reached = |(spent, limit): (Amount, Amount)| {
            spent.millionths().saturating_mul(100) >= limit.millionths().saturating_mul(percent)
        };
        self.against(bound).is_some_and(reached)
    }

    /// A warning is given once for each bound that spending came near to, with the right numbers.
    pub(crate) fn warned(&mut self, data: &BudgetWarned) -> Checked {
        let place = BOUNDS.iter().position(|bound| *bound == data.bound).unwrap_or(0);
        hold!(self, !self.warned[place], "that bound was warned about already");
        hold!(self, self.is_near(data.bound), "spending has not come near that bound");
        let known = self.against(data.bound) == Some((data.spent, data.limit));
        hold!(self, known, "what was spent, or what may be, is another number");
        self.warned[place] = true;
        Ok(())
    }

    /// A bound that should have been warned about.
    pub(crate) fn unwarned(&self) -> Option<BudgetBound> {
        let mut open = BOUNDS.iter().zip(self.warned);
        open.find(|(bound, warned)| !warned && self.is_near(**bound)).map(|(bound, _)| *bound)
    }

    /// A node is blocked that has something to do and has spent its budget.
    pub(crate) fn blocked(&mut self, event: &Event) -> Checked {
        let chart = self.chart()?;
        let node = self.here(&chart, event)?;
        let name = chart.name(node);
        hold!(self, !self.nodes[node].blocked, "`{name}` is blocked already");
        hold!(self, self.is_spent(&chart, node, true), "`{name}` has not spent its budget");
        let at = &self.nodes[node];
        let asked = self.requests.iter().any(|(asked, _)| *asked == node);
        let wants = asked
            || at.foreach.is_some()
            || at.held > 0
            || self.oldest_input(&chart, node).is_some();
        hold!(self, wants, "`{name}` has nothing to do");
        self.nodes[node].blocked = true;
        Ok(())
    }
}
