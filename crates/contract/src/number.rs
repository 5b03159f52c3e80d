//! Integers that are too large for the JSON parser (D55).
//!
//! The parser keeps 64 bits, with or without a sign, and turns larger integers into floats: the last digits are lost
//! without an error. So the text of every input is checked.

use std::fmt;

/// How many digits of an integer a message shows.
const SHOWN_DIGITS_MAX: usize = 24;

/// An integer of more than 64 bits, as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooWide<'a> {
    /// Its digits, with the sign in front of them.
    pub digits: &'a str,
    /// Where it begins in the text, in bytes.
    pub offset: usize,
}

impl fmt::Display for TooWide<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Digits and a sign are one byte each.
        let shown = self.digits.get(..SHOWN_DIGITS_MAX).unwrap_or(self.digits);
        let more = if shown.len() < self.digits.len() { "…" } else { "" };
        write!(f, "the integer {shown}{more} has more than 64 bits")
    }
}

/// Whether a number as JSON writes it is an integer of more than 64 bits.
///
/// `1e30` is none: who writes an exponent or a point asks for a float.
#[must_use]
pub fn is_too_wide(literal: &str) -> bool {
    let digits = literal.strip_prefix('-').unwrap_or(literal);
    !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && literal.parse::<i64>().is_err()
        && literal.parse::<u64>().is_err()
}

/// The first integer of more than 64 bits in a JSON text. What stands in strings is no number.
#[must_use]
pub fn too_wide(json: &str) -> Option<TooWide<'_>> {
    let bytes = json.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = behind_string(bytes, at),
            b'-' | b'0'..=b'9' => {
                let length = bytes[at..].iter().take_while(|byte| in_number(**byte)).count();
                let digits = &json[at..at + length];
                if is_too_wide(digits) {
                    return Some(TooWide { digits, offset: at });
                }
                at += length;
            }
            _ => at += 1,
        }
    }
    None
}

/// The place behind the string that begins at `start`; the end, if it is never closed.
fn behind_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn in_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn floats_read_back_as_they_were_written() {
        let sum = 0.1 + 0.2;
        for float in [4.964_670_416_023_219e-8, sum, 0.7, 1e-7, 5e-324, f64::MAX, 1.0 / 3.0] {
            let text = Value::from(float).to_string();
            let read: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(read, Value::from(float), "{text}");
        }
    }

    #[test]
    fn only_integers_of_more_than_64_bits_are_too_wide() {
        for held in [
            "{}",
            "[18446744073709551615, -9223372036854775808, 0, -0]",
            r#"{"18446744073709551616": "18446744073709551616 \" 99999999999999999999"}"#,
            "[1e30, 99999999999999999999.0, 99999999999999999999E1, 1e-99999999999999999999]",
            r#""\\", "99999999999999999999"#,
        ] {
            assert_eq!(too_wide(held), None, "{held}");
        }
        for (text, digits) in [
            ("[18446744073709551616]", "18446744073709551616"),
            (r#"{"a\\": -9223372036854775809}"#, "-9223372036854775809"),
            (r#"{"ü": [1, 2.5, 99999999999999999999], "b": 0}"#, "99999999999999999999"),
        ] {
            let found = too_wide(text).unwrap();
            assert_eq!(found.digits, digits);
            assert!(text[found.offset..].starts_with(digits), "{text}");
        }
    }

    #[test]
    fn a_message_shows_the_digits_and_no_more_than_a_line_of_them() {
        let told = |text: &str| too_wide(text).unwrap().to_string();
        assert_eq!(
            told("18446744073709551616"),
            "the integer 18446744073709551616 has more than 64 bits"
        );
        let long = "7".repeat(400);
        let short = format!("the integer {}… has more than 64 bits", "7".repeat(24));
        assert_eq!(told(&long), short);
    }
}
