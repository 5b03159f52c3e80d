//! Labels of workers.

/// The most characters of a label.
const LABEL_CHARS_MAX: usize = 40;

/// The form of a label, for messages.
pub const LABEL_RULE: &str = "a label is 1 to 40 characters of a-z 0-9 - _ and .";

/// Whether a word can be a label of a worker.
#[must_use]
pub fn is_label(word: &str) -> bool {
    let allowed = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.')
    };
    (1..=LABEL_CHARS_MAX).contains(&word.len()) && word.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::is_label;

    #[test]
    fn a_label_is_a_short_word() {
        for good in ["gpu", "os.linux-6", "a_b", &"x".repeat(40)] {
            assert!(is_label(good), "{good}");
        }
        for bad in ["", "GPU", "a b", "a,b", "ü", &"x".repeat(41)] {
            assert!(!is_label(bad), "{bad}");
        }
    }
}
