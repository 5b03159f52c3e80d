//! Cost, and its comparison with a limit.

use materia_contract::{Amount, TurnUsage};

/// Cost so far; an unknown cost is not zero (D24).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost(Option<Amount>);

impl Cost {
    /// Adds what a turn says it cost.
    pub(crate) fn add(&mut self, usage: &TurnUsage) {
        if let Some(cost) = usage.cost {
            self.0 = Some(self.0.unwrap_or_default().saturating_add(cost));
        }
    }

    /// Whether as much as the limit was spent.
    pub(crate) fn reaches(self, limit: Option<Amount>) -> bool {
        self.0.zip(limit).is_some_and(|(spent, limit)| spent >= limit)
    }

    /// Cost and limit, where both are known, as a warning shows them.
    pub(crate) fn against(self, limit: Option<Amount>) -> Option<(Amount, Amount)> {
        self.0.zip(limit)
    }
}
