//! Makes text from files, programs and models safe for a terminal.
//!
//! A control character can move the cursor, change the title or hide text; an invisible character can hide anything.
//! None reaches the terminal: each is shown as a visible symbol or as its code.

mod invisible;

use std::borrow::Cow;
use std::fmt::Write as _;

use invisible::{is_shapeless, joins};

/// Visible symbol for a control character.
fn sign(character: char) -> Option<char> {
    match character {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)),
        '\u{7f}' => Some('\u{2421}'),
        _ => None,
    }
}

/// Whether a character can be shown as it is, wherever it stands.
fn is_plain(character: char) -> bool {
    sign(character).is_none() && !is_shapeless(character)
}

/// Adds a character as it is shown between these two.
fn push(shown: &mut String, before: Option<char>, character: char, after: Option<char>) {
    if let Some(sign) = sign(character) {
        shown.push(sign);
    } else if is_shapeless(character) && !joins(before, character, after) {
        let _ = write!(shown, "<U+{:04X}>", u32::from(character));
    } else {
        shown.push(character);
    }
}

/// The text without anything but letters, line ends and tabs.
pub fn clean(text: &str) -> Cow<'_, str> {
    clean_after(None, text)
}

/// The same for a text that goes on behind another one, which ended with this character.
pub fn clean_after(mut before: Option<char>, text: &str) -> Cow<'_, str> {
    let kept = |c: char| c == '\n' || c == '\t';
    if text.chars().all(|c| kept(c) || is_plain(c)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if kept(character) {
            shown.push(character);
        } else {
            push(&mut shown, before, character, characters.peek().copied());
        }
        before = Some(character);
    }
    Cow::Owned(shown)
}

/// JSON text that says the same without anything a terminal would obey or not show.
pub fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        if is_plain(character) {
            text.push(character);
        } else {
            // Outside of strings JSON as we write it has no such character.
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(text, "\\u{unit:04x}");
            }
        }
    }
    text
}

/// The text on one line, at most `chars_max` characters long.
pub fn one_line(text: &str, chars_max: usize) -> String {
    let mut line = String::new();
    let mut left = chars_max;
    let (mut before, mut characters) = (None, text.trim().chars().peekable());
    while let Some(character) = characters.next() {
        let from = line.len();
        match character {
            '\n' | '\t' | '\r' => line.push(' '),
            other => push(&mut line, before, other, characters.peek().copied()),
        }
        before = Some(character);
        let Some(rest) = left.checked_sub(line[from..].chars().count()) else {
            line.truncate(from);
            if left == 0 {
                line.pop();
            }
            line.push('…');
            break;
        };
        left = rest;
    }
    line
}

/// One character of a source line as it is shown by itself; a blank for a tab.
pub fn one(character: char) -> String {
    let mut shown = String::new();
    match character {
        '\t' => shown.push(' '),
        other => push(&mut shown, None, other, None),
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_signs() {
        assert_eq!(clean("a\x1b[31m\r\nb\tc\x7f"), "a␛[31m␍\nb\tc␡");
        assert_eq!(clean("\u{9b}x\u{202e}y"), "<U+009B>x<U+202E>y");
        assert!(matches!(clean("plain ü\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn what_has_no_shape_is_shown_as_its_code_and_joiners_only_inside_emoji_are_not() {
        assert_eq!(clean("rm\u{200b} -rf\u{e0041}\u{e007f}"), "rm<U+200B> -rf<U+E0041><U+E007F>");
        assert_eq!(clean("a\u{200d}b\u{fe0f}c\u{3164}"), "a<U+200D>b<U+FE0F>c<U+3164>");
        for emoji in [
            "👩\u{200d}💻",
            "❤\u{fe0f}\u{200d}🔥",
            "👩🏽\u{200d}🚀",
            "1\u{fe0f}\u{20e3}",
            "✔\u{fe0f}",
        ] {
            assert_eq!(clean(emoji), emoji);
            assert_eq!(one_line(emoji, 9), emoji);
        }
        // Only where they do something, and once.
        assert_eq!(clean("👩\u{200d}"), "👩<U+200D>");
        assert_eq!(clean("👩\u{200d}\u{200d}💻"), "👩<U+200D><U+200D>💻");
        assert_eq!(clean("✔\u{fe0f}\u{fe0f}"), "✔\u{fe0f}<U+FE0F>");
        assert_eq!(clean("1\u{fe0f}2"), "1<U+FE0F>2");
        assert_eq!(clean_after(Some('👩'), "\u{200d}💻"), "\u{200d}💻");
        assert_eq!(one_line("ab\u{200b}c", 12), "ab<U+200B>c");
        assert_eq!(one_line("ab\u{200b}c", 10), "ab<U+200B…");
    }

    #[test]
    fn json_for_a_terminal_says_the_same() {
        let value =
            serde_json::json!({ "a\u{9b}": "\x1b[2J\x7f\u{202e}\u{85}ü\n\u{e0041}👩\u{200d}💻" });
        let text = escaped(&value.to_string());
        assert!(text.chars().all(is_plain), "{text:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).ok(), Some(value));
    }

    #[test]
    fn a_line_is_one_line_and_no_longer_than_asked() {
        assert_eq!(one_line("  a\nb\x07 ", 10), "a b␇");
        assert_eq!(one_line("abcdef", 4), "abc…");
        assert_eq!(one_line("abcd", 4), "abcd");
    }
}
