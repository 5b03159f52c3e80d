//! Labels of workers.

/// The most characters of a label.
const LABEL_CHARS_MAX: usize = 40;

/// The form of a label, for messages.
pub const LABEL_RULE: &str = "a label is 1 to 40 characters of a-z 0-9 - _ and .";

/// Whether a word can be a label of a worker.
pub fn is_label(word: &str) -> bool {
    let allowed = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.')
    };
    (1..=LABEL_CHARS_MAX).contains(&word.len()) && word.bytes().all(allowed)
}
