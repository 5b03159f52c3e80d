//! Shortened texts, as events contain them.

/// The longest preview of a payload, in characters.
const PREVIEW_CHARS_MAX: usize = 120;

/// The longest reason for sending work back, in characters (D25).
const REASON_CHARS_MAX: usize = 900;

/// As much of a text as any preview of it needs.
pub(crate) fn beginning(text: &str) -> String {
    text.trim().chars().take(PREVIEW_CHARS_MAX + 1).collect()
}

/// Whether a preview is the beginning of a text.
pub(crate) fn is_preview(preview: &str, of: &str) -> bool {
    let trimmed = of.trim();
    match trimmed.char_indices().nth(PREVIEW_CHARS_MAX) {
        None => preview == trimmed,
        Some((cut, _)) => preview.strip_suffix('…') == Some(&trimmed[..cut]),
    }
}

/// Whether a reason is a text, or its beginning; its end where the exit code of a command counts (D69).
pub(crate) fn is_reason_of(reason: &str, of: &str, by_exit_code: bool) -> bool {
    if by_exit_code { is_end(reason, of) } else { is_beginning(reason, of) }
}

fn is_beginning(reason: &str, of: &str) -> bool {
    let trimmed = of.trim();
    if trimmed.char_indices().nth(REASON_CHARS_MAX).is_none() {
        return reason == trimmed;
    }
    let cut = trimmed.char_indices().nth(REASON_CHARS_MAX - 1).map_or(0, |(cut, _)| cut);
    reason.strip_suffix('…') == Some(&trimmed[..cut])
}

fn is_end(reason: &str, of: &str) -> bool {
    let trimmed = of.trim();
    let mut ends = trimmed.char_indices().rev();
    match (ends.nth(REASON_CHARS_MAX - 2), ends.nth(1)) {
        (Some((at, _)), Some(_)) => reason.strip_prefix('…') == Some(&trimmed[at..]),
        _ => reason == trimmed,
    }
}

/// The key of an item, from its position (H4).
pub(crate) fn item_key(index: u32) -> String {
    format!("WI-{}", u64::from(index) + 1)
}
