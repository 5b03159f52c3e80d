//! Formulas in the lengths of lists: sums of products with whole numbers.

use std::collections::BTreeMap;
use std::fmt;

/// The length of a list that a run iterates.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Symbol {
    /// The number of items of a list.
    Length(String),
    /// One if the list has items, else nothing.
    Any(String),
    /// The number of items, but at least one.
    Least(String),
}

impl Symbol {
    fn value(&self, items: u64) -> u64 {
        match self {
            Self::Length(_) => items,
            Self::Any(_) => items.min(1),
            Self::Least(_) => items.max(1),
        }
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(list) => out.write_str(list),
            Self::Any(list) => write!(out, "min(1, {list})"),
            Self::Least(list) => write!(out, "max(1, {list})"),
        }
    }
}

/// A sum of products of [`Symbol`]s, each with a factor. Sums and products that no `u64` holds stay at its largest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Poly(BTreeMap<Vec<Symbol>, u64>);

impl Poly {
    /// A number.
    pub fn number(number: u64) -> Self {
        Self((number > 0).then(|| (Vec::new(), number)).into_iter().collect())
    }

    /// One symbol.
    pub fn symbol(symbol: Symbol) -> Self {
        Self(BTreeMap::from([(vec![symbol], 1)]))
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        for (symbols, factor) in &other.0 {
            let place = sum.0.entry(symbols.clone()).or_default();
            *place = place.saturating_add(*factor);
        }
        sum
    }

    /// Both multiplied.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        let mut product = Self::default();
        for (symbols, factor) in &self.0 {
            for (others, by) in &other.0 {
                let mut all = [symbols.as_slice(), others.as_slice()].concat();
                all.sort();
                let place = product.0.entry(all).or_default();
                *place = place.saturating_add(factor.saturating_mul(*by));
            }
        }
        product
    }

    /// A multiple of it.
    #[must_use]
    pub fn by(&self, factor: u64) -> Self {
        self.times(&Self::number(factor))
    }

    /// Whether it is nothing, whatever the lists are.
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The number, where it depends on no list.
    pub fn constant(&self) -> Option<u64> {
        match self.0.iter().next() {
            None => Some(0),
            Some((symbols, number)) if self.0.len() == 1 && symbols.is_empty() => Some(*number),
            Some(_) => None,
        }
    }

    /// Its value where every list has this many items.
    pub fn value(&self, items: u64) -> u64 {
        self.0.iter().fold(0, |sum, (symbols, factor)| {
            let product =
                symbols.iter().fold(*factor, |all, one| all.saturating_mul(one.value(items)));
            sum.saturating_add(product)
        })
    }

    /// The one of two that is smaller for lists of some length; both are valid wherever this is asked.
    pub fn smaller<'a>(&'a self, other: &'a Self) -> &'a Self {
        if other.value(3) < self.value(3) { other } else { self }
    }
}

impl fmt::Display for Poly {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return out.write_str("0");
        }
        // Products before plain numbers: `4·n(Plan) + 1`.
        for (place, (symbols, factor)) in self.0.iter().rev().enumerate() {
            if place > 0 {
                out.write_str(" + ")?;
            }
            let mut parts: Vec<String> = symbols.iter().map(ToString::to_string).collect();
            if *factor != 1 || parts.is_empty() {
                parts.insert(0, factor.to_string());
            }
            out.write_str(&parts.join("·"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_told_as_people_write_them() {
        let n = Poly::symbol(Symbol::Length("n(Plan)".into()));
        let told = n.by(4).plus(&Poly::number(1));
        assert_eq!(told.to_string(), "4·n(Plan) + 1");
        assert_eq!(told.value(3), 13);
        assert_eq!(n.times(&n).by(2).to_string(), "2·n(Plan)·n(Plan)");
        assert_eq!(Poly::number(0).to_string(), "0");
        assert_eq!(Poly::number(7).constant(), Some(7));
        assert_eq!(told.constant(), None);
        let any = Poly::symbol(Symbol::Any("|state.x|".into()));
        assert_eq!((any.value(0), any.value(5)), (0, 1));
        assert_eq!(n.by(u64::MAX).value(9), u64::MAX, "it stays at the largest number");
    }
}
