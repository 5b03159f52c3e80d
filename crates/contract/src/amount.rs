//! Amounts that are compared with a limit, such as money (D55).
//!
//! Sums of floats drift: 0.7 and 0.1 are less than 0.8. So amounts are integers in millionths, and decimals only
//! where they are shown or serialized.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// How many millionths one unit has.
const UNIT: i128 = 1_000_000;

/// Up to here an amount keeps its millionths, beyond it is a whole number of units: a JSON number
/// could not carry both. It is a billion units.
const FINE_MAX: i128 = 1_000_000_000 * UNIT;

/// The largest and the least amount; every count of 64 bits is one.
const MOST: i128 = u64::MAX as i128 * UNIT;
const LEAST: i128 = i64::MIN as i128 * UNIT;

/// The largest bound that a document may set, in units.
pub const AMOUNT_MAX: u64 = 1_000_000_000_000_000_000;

/// An amount of money, or a count that stands beside one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount {
    millionths: i128,
}

/// A number that is no amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the number is too large for an amount")]
pub struct NoAmount;

impl Amount {
    /// An amount in millionths.
    #[must_use]
    pub fn from_millionths(millionths: i64) -> Self {
        Self::held(millionths.into())
    }

    /// How many millionths it is.
    #[must_use]
    pub const fn millionths(self) -> i128 {
        self.millionths
    }

    /// The sum, or the largest amount on overflow.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        Self::held(self.millionths + other.millionths)
    }

    /// The nearest amount that can be written down and read back.
    fn held(millionths: i128) -> Self {
        let millionths = if millionths.abs() > FINE_MAX {
            (millionths + millionths.signum() * (UNIT / 2)) / UNIT * UNIT
        } else {
            millionths
        };
        Self { millionths: millionths.clamp(LEAST, MOST) }
    }
}

impl From<u64> for Amount {
    fn from(units: u64) -> Self {
        Self { millionths: i128::from(units) * UNIT }
    }
}

impl From<i64> for Amount {
    fn from(units: i64) -> Self {
        Self { millionths: i128::from(units) * UNIT }
    }
}

/// The nearest amount to a number that a provider or an author wrote.
impl TryFrom<f64> for Amount {
    type Error = NoAmount;

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "the float is finite, rounded and within the bounds when it is made an integer"
    )]
    fn try_from(number: f64) -> Result<Self, NoAmount> {
        if !(i64::MIN as f64..u64::MAX as f64).contains(&number) {
            return Err(NoAmount);
        }
        // A whole number is not multiplied as a float, for that could change its last digits.
        if number.fract() == 0.0 {
            return Ok(Self::held(number as i128 * UNIT));
        }
        Ok(Self::held((number * UNIT as f64).round() as i128))
    }
}

/// A plain decimal without zeros at its end.
impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.millionths < 0 { "-" } else { "" };
        let all = self.millionths.unsigned_abs();
        let (units, rest) = (all / UNIT.unsigned_abs(), all % UNIT.unsigned_abs());
        let decimals = if rest == 0 { String::new() } else { format!(".{rest:06}") };
        f.pad(&format!("{sign}{units}{}", decimals.trim_end_matches('0')))
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let units = self.millionths / UNIT;
        if self.millionths % UNIT != 0 {
            // Below a billion units the nearest float leads back to the same millionth.
            #[expect(clippy::cast_precision_loss, reason = "less than 2^51")]
            return serializer.serialize_f64(self.millionths as f64 / UNIT as f64);
        }
        match (u64::try_from(units), i64::try_from(units)) {
            (Ok(units), _) => serializer.serialize_u64(units),
            (Err(_), Ok(units)) => serializer.serialize_i64(units),
            (Err(error), Err(_)) => Err(serde::ser::Error::custom(error)),
        }
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_f64(Reader)
    }
}

/// Takes every kind of number: a field that passed through a flattened or untagged type comes as
/// the one it was written as.
struct Reader;

impl de::Visitor<'_> for Reader {
    type Value = Amount;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_u64<E: de::Error>(self, units: u64) -> Result<Amount, E> {
        Ok(units.into())
    }

    fn visit_i64<E: de::Error>(self, units: i64) -> Result<Amount, E> {
        Ok(units.into())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Amount, E> {
        Amount::try_from(number).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn amount(number: f64) -> Amount {
        number.try_into().unwrap()
    }

    #[test]
    fn sums_do_not_drift() {
        assert_eq!(amount(0.7).saturating_add(amount(0.1)), amount(0.8));
        let tenths = (0..10).fold(Amount::default(), |sum, _| sum.saturating_add(amount(0.1)));
        assert_eq!(tenths, Amount::from(1_u64));
        let most = Amount::from(u64::MAX);
        assert_eq!(most.saturating_add(most), most);
        assert!(amount(0.1) < amount(0.100_001) && amount(-1.0) < Amount::default());
    }

    #[test]
    fn an_amount_is_shown_as_a_plain_decimal() {
        for (millionths, shown) in [
            (800_000, "0.8"),
            (75_000_000, "75"),
            (1, "0.000001"),
            (-1_500_000, "-1.5"),
            (-1, "-0.000001"),
            (0, "0"),
            (100_000_000, "100"),
            (10_000_010, "10.00001"),
        ] {
            assert_eq!(Amount::from_millionths(millionths).to_string(), shown);
        }
        assert_eq!(Amount::from(u64::MAX).to_string(), u64::MAX.to_string());
    }

    #[test]
    fn what_is_written_is_read_back() {
        let fine = [0, 1, -1, 3, 800_000, 1_234_567, 999_999_999_999_999, -999_999_999_999_997];
        let spread = (1..2_000).map(|step| step * 499_999_999_993);
        let counts = [u64::MAX, u64::MAX - 1, 1 << 53, (1 << 53) + 1].map(Amount::from);
        let least = [Amount::from(i64::MIN), Amount::from(-7_i64)];
        let amounts = fine.into_iter().chain(spread).map(Amount::from_millionths);
        for amount in amounts.chain(counts).chain(least) {
            let text = serde_json::to_string(&amount).unwrap();
            assert_eq!(serde_json::from_str::<Amount>(&text).unwrap(), amount, "{text}");
        }
        let wholes = [json!(5), json!(5.0), json!(-2), json!(0)];
        let read: Vec<Amount> =
            wholes.into_iter().map(|it| serde_json::from_value(it).unwrap()).collect();
        assert_eq!(serde_json::to_string(&read).unwrap(), "[5,5,-2,0]");
    }

    #[test]
    fn numbers_are_taken_to_the_nearest_millionth_or_refused() {
        let read = |value: Value| serde_json::from_value::<Amount>(value).ok();
        assert_eq!(read(json!(0.1 + 0.2)), Some(amount(0.3)));
        assert_eq!(read(json!(4.964_670_416e-8)), Some(Amount::default()));
        assert_eq!(read(json!(0.000_000_6)), Some(Amount::from_millionths(1)));
        for none in [json!(1e30), json!(-1e30), json!("1"), json!(null), json!([1])] {
            assert_eq!(read(none.clone()), None, "{none}");
        }
        for none in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(Amount::try_from(none), Err(NoAmount));
        }
    }

    #[test]
    fn it_is_read_inside_flattened_and_untagged_types() {
        #[derive(Debug, PartialEq, Deserialize)]
        struct Inner {
            cost: Option<Amount>,
        }
        #[derive(Debug, PartialEq, Deserialize)]
        struct Outer {
            #[serde(flatten)]
            inner: Inner,
        }
        #[derive(Debug, PartialEq, Deserialize)]
        #[serde(untagged)]
        enum Either {
            Amount(Amount),
            Text(String),
        }
        for (text, wanted) in [("1", 1.0), ("-1", -1.0), ("0.25", 0.25), ("2.0", 2.0)] {
            let outer: Outer = serde_json::from_str(&format!(r#"{{"cost":{text}}}"#)).unwrap();
            assert_eq!(outer.inner.cost, Some(amount(wanted)));
            let either: Either = serde_json::from_str(text).unwrap();
            assert_eq!(either, Either::Amount(amount(wanted)));
        }
        let text: Either = serde_json::from_str(r#""a""#).unwrap();
        assert_eq!(text, Either::Text("a".to_owned()));
    }
}
