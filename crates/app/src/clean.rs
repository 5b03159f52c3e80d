//! Text from files, programs and models, made fit for a terminal.
//!
//! A control character can move the cursor, change the title or hide what stands before it.
//! None reaches the terminal: each is shown as a sign that stands for it.

use std::borrow::Cow;
use std::fmt::Write as _;

/// What is shown in the place of a character that may not be.
fn sign(character: char) -> Option<char> {
    match character {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)),
        '\u{7f}' => Some('\u{2421}'),
        // C1 controls, and what turns the direction of writing around.
        '\u{80}'..='\u{9f}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => Some('\u{fffd}'),
        _ => None,
    }
}

/// The text without anything but letters, line ends and tabs.
#[must_use]
pub fn clean(text: &str) -> Cow<'_, str> {
    let kept = |c: char| c == '\n' || c == '\t' || sign(c).is_none();
    if text.chars().all(kept) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if kept(c) { c } else { sign(c).unwrap_or(c) }).collect())
}

/// JSON text that says the same without anything a terminal would obey.
#[must_use]
pub fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        if sign(character).is_some() {
            // Outside of strings JSON as we write it has no such character.
            let _ = write!(text, "\\u{:04x}", u32::from(character));
        } else {
            text.push(character);
        }
    }
    text
}

/// The text on one line, at most `chars_max` characters long.
#[must_use]
pub fn one_line(text: &str, chars_max: usize) -> String {
    let mut line = String::new();
    for (count, character) in text.trim().chars().enumerate() {
        if count == chars_max {
            line.pop();
            line.push('…');
            break;
        }
        line.push(match character {
            '\n' | '\t' | '\r' => ' ',
            other => sign(other).unwrap_or(other),
        });
    }
    line
}

/// One character of a source line: a sign where it may not be shown, a blank for a tab.
#[must_use]
pub fn one(character: char) -> char {
    if character == '\t' { ' ' } else { sign(character).unwrap_or(character) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_signs() {
        assert_eq!(clean("a\x1b[31m\r\nb\tc\x7f"), "a␛[31m␍\nb\tc␡");
        assert_eq!(clean("\u{9b}x\u{202e}y"), "\u{fffd}x\u{fffd}y");
        assert!(matches!(clean("plain ü\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_for_a_terminal_says_the_same() {
        let value = serde_json::json!({ "a\u{9b}": "\x1b[2J\x7f\u{202e}\u{85}ü\n" });
        let text = escaped(&value.to_string());
        assert!(text.chars().all(|c| sign(c).is_none()), "{text:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).ok(), Some(value));
    }

    #[test]
    fn a_line_is_one_line_and_no_longer_than_asked() {
        assert_eq!(one_line("  a\nb\x07 ", 10), "a b␇");
        assert_eq!(one_line("abcdef", 4), "abc…");
        assert_eq!(one_line("abcd", 4), "abcd");
    }
}
