//! What a turn used.

use materia_contract::{Amount, TurnUsage};
use serde::{Deserialize, Serialize};

/// What one turn used, as far as it is known. Absent means unknown, never zero.
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
    /// What goes into the journal; nothing where nothing is known.
    #[must_use]
    pub fn turn(&self) -> Option<TurnUsage> {
        let turn = TurnUsage {
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            // A number that is no amount tells nothing.
            cost: self.cost.and_then(|cost| Amount::try_from(cost).ok()),
        };
        (turn != TurnUsage::default()).then_some(turn)
    }
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
    /// What was used since `earlier`.
    ///
    /// A total that shrank is the total of another session (the program has begun anew): then it
    /// is itself what was used.
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
        let usage = Usage { cost: Some(1e300), ..Usage::default() };
        assert_eq!(usage.turn(), None, "a cost that cannot be counted is unknown");
    }
}
