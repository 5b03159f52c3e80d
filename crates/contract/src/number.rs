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
pub fn is_too_wide(literal: &str) -> bool {
    let digits = literal.strip_prefix('-').unwrap_or(literal);
    !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && literal.parse::<i64>().is_err()
        && literal.parse::<u64>().is_err()
}

/// The first integer of more than 64 bits in a JSON text. What stands in strings is no number.
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
