//! Instants, as microseconds since 1970 in UTC.

use jiff::Timestamp;

/// An instant in microseconds since 1970-01-01T00:00:00Z.
pub type Micros = i64;

/// Where simulated time begins: 2000-01-01T00:00:00Z.
pub const VIRTUAL_EPOCH: Micros = 946_684_800_000_000;

/// The longest duration in a document, in milliseconds: ten years.
pub const DURATION_MS_MAX: u64 = 10 * 365 * 24 * 60 * 60 * 1_000;

/// Reads a duration in milliseconds, and refuses one that is too long.
pub(crate) fn duration_ms<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<u64, D::Error> {
    let millis: u64 = serde::Deserialize::deserialize(deserializer)?;
    if millis <= DURATION_MS_MAX {
        return Ok(millis);
    }
    Err(serde::de::Error::custom(format!(
        "{millis} ms is too long: a duration is at most {DURATION_MS_MAX} ms, which is ten years"
    )))
}

/// Reads an optional duration.
pub(crate) fn optional_duration_ms<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u64>, D::Error> {
    #[derive(serde::Deserialize)]
    struct Held(#[serde(deserialize_with = "duration_ms")] u64);
    let held: Option<Held> = serde::Deserialize::deserialize(deserializer)?;
    Ok(held.map(|Held(millis)| millis))
}

/// Renders an instant as RFC 3339 in UTC with three decimals, as `wallTime` shows it.
pub fn wall_time(instant: Micros) -> String {
    let timestamp = Timestamp::from_microsecond(instant).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{timestamp:.3}")
}

/// The milliseconds between two instants; none where a clock was set back between them.
pub fn millis_between(began: Micros, ended: Micros) -> u64 {
    u64::try_from(ended.saturating_sub(began) / 1_000).unwrap_or(0)
}
