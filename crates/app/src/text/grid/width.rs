//! How wide text is on a terminal, and text made to fit.

use unicode_width::UnicodeWidthChar;

use crate::text::sanitize;

/// The columns that a character takes.
pub(super) fn of_char(character: char) -> usize {
    character.width().unwrap_or(0)
}

/// The columns that a text takes, without what takes none.
pub(super) fn of(text: &str) -> usize {
    text.chars().map(of_char).sum()
}

/// The text on one line, at most `columns` wide; `…` stands for what was cut off.
///
/// Characters without a width of their own are left out: how they join with others differs from
/// terminal to terminal, and a picture must not.
pub(super) fn fit(text: &str, columns: usize) -> String {
    let line = sanitize::clean(text.trim_end()).replace('\t', " ").replace('\n', "␊");
    let shown = || line.chars().filter(|&c| of_char(c) > 0);
    let whole: usize = shown().map(of_char).sum();
    if whole <= columns {
        return shown().collect();
    }
    let mut fitted = String::new();
    let mut left = columns.saturating_sub(1);
    for character in shown() {
        match left.checked_sub(of_char(character)) {
            Some(rest) => left = rest,
            None => break,
        }
        fitted.push(character);
    }
    fitted.push('…');
    fitted
}

/// Signs that ASCII has not, spelled out: they take more columns, so that is done before anything is placed.
pub(super) fn spelled(text: &str) -> String {
    text.replace('≤', "<=").replace('≠', "!=").replace('×', "x")
}

/// The same picture in ASCII, column for column.
pub(super) fn ascii(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '─' | '·' => plain.push('-'),
            '│' => plain.push('|'),
            '┌' | '┐' | '└' | '┘' | '├' | '┤' | '┬' | '┴' | '┼' => {
                plain.push('+');
            }
            '▼' => plain.push('v'),
            '▲' => plain.push('^'),
            '▶' | '→' => plain.push('>'),
            '↻' | '↺' => plain.push('@'),
            '…' => plain.push('~'),
            '≠' => plain.push('#'),
            '≤' => plain.push('<'),
            '×' => plain.push('x'),
            other if other.is_ascii() => plain.push(other),
            other => plain.extend(std::iter::repeat_n('?', of_char(other))),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_by_columns_not_by_characters() {
        assert_eq!(fit("abcdef", 6), "abcdef");
        assert_eq!(fit("abcdefg", 6), "abcde…");
        assert_eq!(fit("日本語です", 6), "日本…");
        assert_eq!(of(&fit("日本語です", 6)), 5);
        assert_eq!(fit("e\u{301}\u{1b}a\nb", 9), "e␛a␊b");
        assert_eq!(fit("", 0), "");
        assert_eq!(fit("ab", 0), "…");
    }

    #[test]
    fn ascii_keeps_the_columns() {
        assert_eq!(ascii("│日▼…"), "|??v~");
        for sign in "─│┌┐└┘├┤┬┴┼▼▲▶→↻↺·…≠≤×".chars() {
            assert_eq!((of_char(sign), ascii(&sign.to_string()).len()), (1, 1), "{sign}");
        }
    }
}
