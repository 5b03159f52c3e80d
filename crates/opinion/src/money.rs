//! Money, in one place: what was spent, and how it stands to what may be.

use materia_contract::TurnUsage;

/// An amount of money.
pub(crate) type Money = f64;

/// What was spent so far; nothing known is not nothing spent (D24).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost(Option<Money>);

impl Cost {
    /// Adds what a turn says it cost.
    pub(crate) fn add(&mut self, usage: &TurnUsage) {
        if let Some(cost) = usage.cost {
            self.0 = Some(self.0.unwrap_or_default() + cost);
        }
    }

    /// Whether as much as the limit was spent.
    pub(crate) fn reaches(self, limit: Option<Money>) -> bool {
        self.0.zip(limit).is_some_and(|(spent, limit)| spent >= limit)
    }

    /// What was spent and what may be, where both are known, as a warning shows them.
    pub(crate) fn against(self, limit: Option<Money>) -> Option<(f64, f64)> {
        self.0.zip(limit)
    }
}
