//! Size limits on texts, and the notices about cuts.
//!
//! Sizes count the encoded JSON, so that a text full of quotes counts with its escapes.

use serde_json::Value;

/// How many notes about cuts are kept; the rest is counted.
const NOTES_MAX: usize = 24;
/// How long a note is.
const NOTE_BYTES_MAX: usize = 160;

/// Bytes that are left for a part.
pub(super) struct TextLimits {
    left: usize,
}

impl TextLimits {
    pub(super) fn new(bytes: usize) -> Self {
        Self { left: bytes }
    }

    /// Takes the room of a value in a list; says whether there was enough.
    pub(super) fn take(&mut self, value: &Value) -> bool {
        self.take_bytes(encoded_len(value) + 1)
    }

    /// Takes the room of a field whose value is `bytes` long.
    pub(super) fn take_named(&mut self, name: &str, bytes: usize) -> bool {
        let colon_and_comma = 2;
        self.take_bytes(encoded_len(&Value::from(name)) + bytes + colon_and_comma)
    }

    fn take_bytes(&mut self, bytes: usize) -> bool {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }
}

/// How long a value is as JSON.
pub(super) fn encoded_len(value: &Value) -> usize {
    value.to_string().len()
}

/// Notices about parts that were cut or left out.
#[derive(Default)]
pub(super) struct Truncations {
    /// Of which parts something is missing altogether.
    parts: Vec<String>,
    notes: Vec<String>,
    more: usize,
}

impl Truncations {
    pub(super) fn any(&self) -> bool {
        !self.notes.is_empty() || !self.parts.is_empty()
    }

    pub(super) fn note(&mut self, words: &str) {
        if self.notes.len() < NOTES_MAX {
            self.notes.push(cut(words, NOTE_BYTES_MAX));
        } else {
            self.more += 1;
        }
    }

    /// The text as far as it fits; a cut is noted, and shown at the end of the text.
    pub(super) fn text(&mut self, name: &str, text: &str, bytes_max: usize) -> String {
        let kept = cut(text, bytes_max);
        if kept.len() != text.len() {
            self.note(&format!("{name}: {} bytes, only the beginning", text.len()));
        }
        kept
    }

    /// Notes what a list lacks.
    pub(super) fn left_out(&mut self, name: &str, count: usize) {
        if count > 0 {
            self.note(&format!("{name}: {count} further left out"));
        }
    }

    /// Records how many entries of a part were left out; these come first in the list of truncations.
    pub(super) fn part(&mut self, name: &str, count: usize, which: &str) {
        if count > 0 {
            self.parts.push(format!("{name}: {count} {which} left out"));
        }
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.more += other.more;
        self.parts.extend(other.parts);
        other.notes.into_iter().for_each(|note| self.note(&note));
    }

    pub(super) fn into_value(self) -> Value {
        let mut notes = self.parts;
        notes.extend(self.notes);
        if self.more > 0 {
            notes.push(format!("and {} more cuts", self.more));
        }
        notes.into()
    }
}

/// At most so many bytes of JSON, with a mark where something was left out.
pub(super) fn cut(text: &str, bytes_max: usize) -> String {
    let mark = format!("… [truncated: {} bytes in all]", text.len());
    let room = bytes_max.saturating_sub(mark.len());
    let (mut used, mut end) = (0, None);
    for (place, character) in text.char_indices() {
        if used + encoded(character) > room && end.is_none() {
            end = Some(place);
        }
        used += encoded(character);
        if used > bytes_max {
            return format!("{}{mark}", &text[..end.unwrap_or(0)]);
        }
    }
    text.to_owned()
}

/// How many bytes a character takes in a JSON string.
fn encoded(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        other => other.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_fits_and_says_so() {
        for text in ["x".repeat(500), "\"\u{1}é".repeat(90), "日本".repeat(60)] {
            let cut = cut(&text, 100);
            assert!(encoded_len(&Value::from(cut.as_str())) <= 102, "{cut}");
            assert!(cut.ends_with(&format!("… [truncated: {} bytes in all]", text.len())), "{cut}");
        }
        assert_eq!(cut("short", 100), "short");
        assert_eq!(cut(&"x".repeat(100), 100), "x".repeat(100));
    }

    #[test]
    fn notes_are_bounded() {
        let mut cuts = Truncations::default();
        for place in 0..100 {
            cuts.left_out(&format!("list {place}"), 1);
        }
        cuts.part("handoffs", 3, "older");
        let notes = cuts.into_value();
        assert_eq!(notes.as_array().unwrap().len(), NOTES_MAX + 2);
        assert_eq!(notes[0], "handoffs: 3 older left out");
        assert_eq!(notes[NOTES_MAX + 1], "and 76 more cuts");
    }
}
