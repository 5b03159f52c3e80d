//! Token prices, for agents that report tokens only.
//!
//! The program ships a small, dated table of list prices in US dollars; the configuration replaces or adds models. A
//! model in neither has no price, and the cost of its turns stays unknown. Tiers, discounts and subscriptions are not
//! modelled.

use materia_contract::{PriceDoc, PricesDoc};

/// The table that ships with the program.
const SHIPPED: &str = include_str!("prices.json");

/// Prices by model.
#[derive(Debug, Clone, PartialEq)]
pub struct Prices {
    shipped: PricesDoc,
    own: PricesDoc,
}

impl Default for Prices {
    fn default() -> Self {
        Self::with(PricesDoc::default())
    }
}

impl Prices {
    /// The shipped prices under those of the configuration.
    pub fn with(own: PricesDoc) -> Self {
        let shipped = serde_json::from_str(SHIPPED).expect("the shipped prices are a price table");
        Self { shipped, own }
    }

    /// Cost of a model's tokens and the date of the price; `None` for an unknown model.
    ///
    /// `cached` is the part of `input` that came from a cache.
    pub fn cost(&self, model: &str, input: u64, cached: u64, output: u64) -> Option<(f64, String)> {
        let (price, date) = self.find(model)?;
        let cached = cached.min(input);
        #[expect(
            clippy::cast_precision_loss,
            reason = "no turn has more tokens than a float counts"
        )]
        let million = |tokens: u64, price: f64| tokens as f64 * price / 1_000_000.0;
        let cost = million(input - cached, price.input)
            + million(cached, price.cached.unwrap_or(price.input))
            + million(output, price.output);
        Some((cost, date.to_owned()))
    }

    fn find(&self, model: &str) -> Option<(&PriceDoc, &str)> {
        let names = [model, undated(model)];
        [&self.own, &self.shipped].into_iter().find_map(|table| {
            let price = names.iter().find_map(|name| table.models.get(*name))?;
            Some((price, table.date.as_deref().unwrap_or("undated")))
        })
    }
}

/// A model's name without its provider in front and the day of its release behind.
fn undated(model: &str) -> &str {
    let name = model.rsplit_once('/').map_or(model, |(_, name)| name);
    let digits = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let parts: Vec<&str> = name.rsplitn(4, '-').collect();
    match parts.as_slice() {
        [day, month, year, rest] if digits(day, 2) && digits(month, 2) && digits(year, 4) => rest,
        [day, _, ..] if digits(day, 8) => &name[..name.len() - 9],
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_priced_by_kind_and_the_date_is_named() {
        let (cost, date) = Prices::default().cost("gpt-5", 1_000_000, 500_000, 100_000).unwrap();
        assert!((cost - (0.625 + 0.0625 + 1.0)).abs() < 1e-9, "{cost}");
        assert_eq!(date, "2025-12-01");
    }

    #[test]
    fn the_configuration_wins_and_an_unknown_model_has_no_price() {
        let own = r#"{"date":"2026-11-01","models":{"gpt-5":{"input":2,"output":4}}}"#;
        let prices = Prices::with(serde_json::from_str(own).unwrap());
        let (cost, date) = prices.cost("gpt-5", 1_000_000, 1_000_000, 0).unwrap();
        assert_eq!((cost, date.as_str()), (2.0, "2026-11-01"));
        assert_eq!(prices.cost("gpt-5-nano", 0, 0, 1_000_000).unwrap().1, "2025-12-01");
        for unknown in ["gpt-6", "gpt-5-huge", "gpt", ""] {
            assert_eq!(prices.cost(unknown, 1, 0, 1), None, "{unknown}");
        }
    }

    #[test]
    fn a_dated_name_is_its_model() {
        for (name, model) in [
            ("gpt-5-2026-01-31", "gpt-5"),
            ("openai/gpt-5", "gpt-5"),
            ("some-model-20250929", "some-model"),
            ("gpt-5-mini", "gpt-5-mini"),
            ("20250929", "20250929"),
        ] {
            assert_eq!(undated(name), model, "{name}");
        }
    }
}
