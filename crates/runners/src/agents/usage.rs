//! Usage of a turn.

use materia_contract::{Amount, TurnUsage};
use serde::{Deserialize, Serialize};

/// Usage of one turn, as far as it is known. Absent means unknown, never zero.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    /// The model that answered.
    pub model: Option<String>,
    /// Tokens read, those from a cache included.
    pub input_tokens: Option<u64>,
    /// How many of those came from a cache.
    pub cached_tokens: Option<u64>,
    /// Tokens written, thoughts included.
    pub output_tokens: Option<u64>,
    /// Cost, as the program reports it.
    pub cost: Option<f64>,
    /// The date of the price table, where the cost was computed and not reported.
    pub priced: Option<String>,
}

impl Usage {
    /// Usage for the journal; `None` if nothing is known.
    pub fn turn(&self) -> Option<TurnUsage> {
        let turn = TurnUsage {
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            cost: self.cost.map(amount),
        };
        (turn != TurnUsage::default()).then_some(turn)
    }
}

/// The amount of a reported cost. A number that is none becomes the largest or the least one, so
/// that the turn fails for it (see `spending`) and it does not count as unknown.
fn amount(cost: f64) -> Amount {
    let beyond = if cost < 0.0 { Amount::from(i64::MIN) } else { Amount::from(u64::MAX) };
    Amount::try_from(cost).unwrap_or(beyond)
}

/// Two reported costs together. One below zero must not make up for another: the sum is then no number.
pub(crate) fn added(sum: f64, cost: f64) -> f64 {
    if cost < 0.0 { f64::NAN } else { sum + cost }
}

/// The total of a session, as its program reports it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Totals {
    /// Tokens read, those from a cache included.
    pub input_tokens: u64,
    /// How many of those came from a cache.
    pub cached_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Cost, where the program reports one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Totals {
    /// Usage since `earlier`.
    ///
    /// A smaller total belongs to a new session of the program: then the total itself is the usage.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let shrank =
            self.input_tokens < earlier.input_tokens || self.output_tokens < earlier.output_tokens;
        if shrank {
            return *self;
        }
        Self {
            input_tokens: self.input_tokens - earlier.input_tokens,
            cached_tokens: self.cached_tokens.saturating_sub(earlier.cached_tokens),
            output_tokens: self.output_tokens - earlier.output_tokens,
            cost: match (self.cost, earlier.cost) {
                // A total below zero is no total; a turn that reports one fails.
                (Some(now), _) if now < 0.0 || now.is_nan() => Some(now),
                (Some(now), Some(before)) => Some((now - before).max(0.0)),
                (Some(_) | None, _) => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(input: u64, output: u64, cost: Option<f64>) -> Totals {
        Totals { input_tokens: input, cached_tokens: 0, output_tokens: output, cost }
    }

    #[test]
    fn a_turn_is_the_difference_of_two_totals() {
        let turn = totals(3_600, 60, Some(0.5)).since(&totals(2_400, 40, Some(0.25)));
        assert_eq!(turn, totals(1_200, 20, Some(0.25)));
    }

    #[test]
    fn a_total_that_shrank_is_a_new_session() {
        let turn = totals(1_200, 20, None).since(&totals(2_400, 40, None));
        assert_eq!(turn, totals(1_200, 20, None));
    }

    #[test]
    fn a_cost_without_an_earlier_one_is_unknown() {
        assert_eq!(totals(5, 5, Some(1.0)).since(&totals(1, 1, None)).cost, None);
    }

    #[test]
    fn nothing_known_is_nothing_recorded() {
        assert_eq!(Usage::default().turn(), None);
        let usage = Usage { output_tokens: Some(0), ..Usage::default() };
        assert_eq!(usage.turn().and_then(|turn| turn.output_tokens), Some(0));
    }

    #[test]
    fn a_cost_that_cannot_be_counted_is_the_largest_and_not_unknown() {
        let cost = |cost| Usage { cost: Some(cost), ..Usage::default() }.turn().unwrap().cost;
        for beyond in [1e300, f64::INFINITY, f64::NAN, added(added(0.0, 5.0), -5.0)] {
            assert_eq!(cost(beyond), Some(Amount::from(u64::MAX)), "{beyond}");
        }
        for beyond in [-1e300, f64::NEG_INFINITY] {
            assert_eq!(cost(beyond), Some(Amount::from(i64::MIN)), "{beyond}");
        }
        assert_eq!(cost(added(0.25, 0.5)), Some(Amount::from_millionths(750_000)));
        let below = totals(5, 5, Some(-1.0)).since(&totals(1, 1, Some(0.5)));
        assert_eq!(below.cost, Some(-1.0), "no difference makes up for it");
    }
}
