//! An output stream that removes every terminal escape sequence except colours.
//!
//! Code that prints foreign text sanitizes it first, so that it is readable. This filter is the
//! second line of defence: for a name in a repository, a version that a program prints, an error
//! that quotes a path.

use std::io::{self, Write};

use materia_app::text::sanitize;

/// The longest part of a character that can be left over between two writes.
const CHARACTER_BYTES_MAX: usize = 4;
/// Joins two emoji into one, if there are two.
const JOINER: &str = "\u{200d}";
/// Asks for the coloured form of what is before it.
const COLOURED: &str = "\u{fe0f}";
/// The longest colour that is let through.
const COLOUR_BYTES_MAX: usize = 24;

/// Text on its way to a person.
pub(crate) struct Fit<W> {
    inner: W,
    /// Incomplete character or colour sequence at the end of the last write.
    left: Vec<u8>,
    /// The last character that was passed on, where nothing came in between.
    before: Option<char>,
}

impl<W: Write> Fit<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, left: Vec::new(), before: None }
    }

    /// Passes on what is whole; at the `end` everything is.
    fn pass_on(&mut self, end: bool) -> io::Result<()> {
        let whole = if end { self.left.len() } else { whole(&self.left) };
        let bytes: Vec<u8> = self.left.drain(..whole).collect();
        let text = String::from_utf8_lossy(&bytes);
        let mut rest: &str = &text;
        let mut fit = String::with_capacity(rest.len());
        while let Some(at) = rest.find('\u{1b}') {
            fit.push_str(&sanitize::clean_after(self.before, &rest[..at]));
            self.before = None;
            let colour = colour(&rest[at..]).unwrap_or(0);
            if colour > 0 {
                fit.push_str(&rest[at..at + colour]);
                rest = &rest[at + colour..];
            } else {
                fit.push_str(&sanitize::clean("\u{1b}"));
                rest = &rest[at + 1..];
            }
        }
        fit.push_str(&sanitize::clean_after(self.before, rest));
        self.before = rest.chars().next_back().or(self.before);
        self.inner.write_all(fit.as_bytes())
    }
}

impl<W: Write> Write for Fit<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left.extend_from_slice(bytes);
        self.pass_on(false)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // A flush also writes an incomplete character or sequence.
        self.pass_on(true)?;
        self.inner.flush()
    }
}

/// How many bytes a colour at the beginning has: `ESC [ digits m`.
fn colour(text: &str) -> Option<usize> {
    let inside = text.strip_prefix("\u{1b}[")?;
    let digits = inside.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    // What hides text is no colour.
    let hides = inside[..digits].split(';').any(|code| code == "8");
    let ends = inside[digits..].starts_with('m') && digits < COLOUR_BYTES_MAX;
    (ends && !hides).then_some(2 + digits + 1)
}

/// How many of these bytes are whole characters, without a colour that has only begun.
fn whole(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(COLOUR_BYTES_MAX);
    let begun = bytes[from..].iter().rposition(|byte| *byte == 0x1b).map(|at| from + at);
    if let Some(at) = begun {
        let rest = bytes[at..].get(1..).unwrap_or_default();
        let open = rest.is_empty()
            || rest[0] == b'['
                && rest[1..].iter().all(|byte| byte.is_ascii_digit() || *byte == b';');
        if open {
            return at;
        }
    }
    let mut end = whole_characters(bytes);
    // What joins two emoji, or not, shows by what follows.
    while let Some(before) =
        [JOINER, COLOURED].iter().find_map(|one| bytes[..end].strip_suffix(one.as_bytes()))
    {
        end = before.len();
    }
    end
}

/// How many of these bytes are whole characters.
fn whole_characters(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(CHARACTER_BYTES_MAX - 1);
    for at in (tail..bytes.len()).rev() {
        let length = match bytes[at] {
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf7 => 4,
            _ => continue,
        };
        return if at + length > bytes.len() { at } else { bytes.len() };
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(parts: &[&[u8]]) -> String {
        let mut said = Vec::new();
        let mut fit = Fit::new(&mut said);
        for part in parts {
            fit.write_all(part).unwrap();
        }
        fit.flush().unwrap();
        drop(fit);
        String::from_utf8(said).unwrap()
    }

    #[test]
    fn colours_pass_and_nothing_else_does() {
        assert_eq!(through(&[b"\x1b[1;31mred\x1b[0m\n\tx"]), "\u{1b}[1;31mred\u{1b}[0m\n\tx");
        let nasty =
            "\u{1b}]0;t\u{7}\u{1b}[2J\u{9b}31m\u{202e}\r\u{1b}[8mhidden\u{1b}[0m".as_bytes();
        let shown = through(&[nasty]);
        assert_eq!(shown, "␛]0;t␇␛[2J<U+009B>31m<U+202E>␍␛[8mhidden\u{1b}[0m");
    }

    #[test]
    fn it_does_not_matter_how_text_is_cut() {
        let text = "a\u{1b}[31mü\u{1b}[0m\u{9b}2J→\u{1b}]x\u{7}🦀👩\u{200d}💻✔\u{fe0f}1\u{fe0f}\u{20e3}\u{200b}\n".as_bytes();
        let whole = through(&[text]);
        for cut in 0..text.len() {
            assert_eq!(through(&[&text[..cut], &text[cut..]]), whole, "{cut}");
        }
        let single: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(through(&single), whole);
    }
}
