//! Spans of time.

use materia_contract::time::Micros;

/// So many milliseconds; what is too long for that is very long.
pub(crate) fn micros(millis: u64) -> Micros {
    Micros::try_from(millis).unwrap_or(Micros::MAX / 4_000).saturating_mul(1_000)
}
