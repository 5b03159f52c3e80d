//! When a limit ends, as far as a complaint says so.

use std::time::Duration;

/// The longest wait that is believed.
const WAIT_SECONDS_MAX: f64 = 60.0 * 60.0 * 24.0 * 31.0;

/// How long a complaint asks to wait: `try again in 1h 20m`, `retry after 30 seconds`,
/// `"retryDelay": "12.5s"`.
pub(super) fn wait_in(text: &str) -> Option<Duration> {
    const SIGNS: [&str; 6] =
        ["again in", "retry after", "retry-after", "retry in", "retrydelay", "reset after"];
    let text = text.to_lowercase();
    let start = SIGNS.iter().find_map(|sign| text.find(sign).map(|at| at + sign.len()))?;
    let seconds = duration(&text[start..])?;
    (seconds <= WAIT_SECONDS_MAX).then(|| Duration::from_secs_f64(seconds))
}

/// When a complaint says that the limit ends, in seconds since 1970: `limit reached|1790000000`.
pub(super) fn end_in(text: &str) -> Option<i64> {
    let words = text.split(|c: char| !c.is_ascii_digit());
    let moments = words.filter(|word| word.len() == 10).filter_map(|word| word.parse().ok());
    moments.into_iter().find(|moment| (1_600_000_000..4_000_000_000).contains(moment))
}

/// The length of time that a text begins with, in seconds. A number without a unit is seconds.
fn duration(text: &str) -> Option<f64> {
    let mut rest = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    // A number far behind the keyword is unrelated.
    if text.len() - rest.len() > 12 {
        return None;
    }
    let mut sum = None;
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let Ok(number) = rest[..digits].trim_end_matches('.').parse::<f64>() else { return sum };
        let unit = rest[digits..].trim_start();
        let word_end = unit.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(unit.len());
        let scale = match &unit[..word_end] {
            "ms" | "milliseconds" => 0.001,
            "" | "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3_600.0,
            "d" | "day" | "days" => 86_400.0,
            _ => return sum.or(Some(number)),
        };
        sum = Some(sum.unwrap_or(0.0) + number * scale);
        let next = unit[word_end..].trim_start_matches([' ', ',']);
        let next = next.strip_prefix("and ").unwrap_or(next);
        if !next.starts_with(|c: char| c.is_ascii_digit()) {
            return sum;
        }
        rest = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_read_from_prose() {
        for (text, seconds) in [
            ("Please try again in 1.5s.", 1.5),
            ("try again in 3 days 4 hours and 2 minutes", 273_720.0),
            ("Retry after 30 seconds", 30.0),
            ("retry-after: 7", 7.0),
            (r#"{"retryDelay":"12s"}"#, 12.0),
            ("Try again in 250 ms", 0.25),
        ] {
            let wait = wait_in(text).map(|wait| wait.as_secs_f64());
            assert_eq!(wait, Some(seconds), "{text}");
        }
        for text in ["no time named", "try again in a while", "again in 9999999999 days"] {
            assert_eq!(wait_in(text), None, "{text}");
        }
    }

    #[test]
    fn an_end_is_a_moment_of_this_age() {
        assert_eq!(end_in("usage limit reached|1794800000"), Some(1_794_800_000));
        assert_eq!(end_in("request 9999999999 failed, 12345"), None);
    }
}
