//! The last line of what a turn says while it runs.

use crate::text::sanitize::one_line;

/// How much of a line is kept: more than any terminal is wide.
const LINE_CHARS_MAX: usize = 400;

/// Text that comes in pieces, of which the last line with something on it is shown.
#[derive(Debug, Default)]
pub struct LiveLine {
    /// The line that is being written.
    open: String,
    /// The last whole line that had something on it.
    whole: String,
}

impl LiveLine {
    /// Takes a further piece, however the text was cut into pieces.
    pub fn hear(&mut self, piece: &str) {
        let mut lines = piece.split('\n');
        self.add(lines.next().unwrap_or_default());
        for line in lines {
            if !self.open.trim().is_empty() {
                self.whole = std::mem::take(&mut self.open);
            }
            self.open.clear();
            self.add(line);
        }
    }

    fn add(&mut self, text: &str) {
        let room = LINE_CHARS_MAX.saturating_sub(self.open.chars().count());
        self.open.extend(text.chars().take(room));
    }

    /// Forgets everything: another turn begins.
    pub fn clear(&mut self) {
        self.open.clear();
        self.whole.clear();
    }

    /// The last line, fit for a terminal; nothing where nothing was said.
    pub fn line(&self) -> Option<String> {
        let line = if self.open.trim().is_empty() { &self.whole } else { &self.open };
        let line = one_line(line, LINE_CHARS_MAX);
        (!line.is_empty()).then_some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(pieces: &[&str]) -> Option<String> {
        let mut speech = LiveLine::default();
        for piece in pieces {
            speech.hear(piece);
        }
        speech.line()
    }

    #[test]
    fn the_last_line_with_words_counts_however_it_was_cut() {
        assert_eq!(heard(&[]), None);
        assert_eq!(heard(&["\n \n"]), None);
        assert_eq!(heard(&["one\ntw", "o"]).unwrap(), "two");
        assert_eq!(heard(&["one\ntwo\n\n  "]).unwrap(), "two");
        assert_eq!(heard(&["a", "b", "\n", "c\n", "\n"]).unwrap(), "c");
        assert_eq!(heard(&["\x1b[2J\x07x"]).unwrap(), "␛[2J␇x");
    }

    #[test]
    fn a_line_without_end_does_not_grow() {
        let mut speech = LiveLine::default();
        for _ in 0..1_000 {
            speech.hear("xxxxxxxxxx");
        }
        assert_eq!(speech.open.len(), LINE_CHARS_MAX);
        speech.clear();
        assert_eq!(speech.line(), None);
    }
}
