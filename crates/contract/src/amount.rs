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
    pub fn from_millionths(millionths: i64) -> Self {
        Self::held(millionths.into())
    }

    /// How many millionths it is.
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
