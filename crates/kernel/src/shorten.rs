//! Short excerpts of long texts.

/// The longest preview of a payload, in characters.
const PREVIEW_CHARS_MAX: usize = 120;

/// The beginning of a text, with an ellipsis where something was left out.
pub(crate) fn preview(text: &str) -> String {
    let trimmed = text.trim();
    match trimmed.char_indices().nth(PREVIEW_CHARS_MAX) {
        None => trimmed.to_owned(),
        Some((cut, _)) => format!("{}…", &trimmed[..cut]),
    }
}

/// A name for an item, for people: its title, itself if it is text, else its key.
pub(crate) fn item_label(item: &serde_json::Value, key: &str) -> String {
    item.get("title")
        .and_then(serde_json::Value::as_str)
        .or_else(|| item.as_str())
        .map_or_else(|| key.to_owned(), preview)
}

/// The JSON type of a value, with its article.
pub(crate) fn kind_of(value: &serde_json::Value) -> &'static str {
    match value {
        serde_json::Value::Null => "null",
        serde_json::Value::Bool(_) => "a boolean",
        serde_json::Value::Number(_) => "a number",
        serde_json::Value::String(_) => "a string",
        serde_json::Value::Array(_) => "an array",
        serde_json::Value::Object(_) => "an object",
    }
}
