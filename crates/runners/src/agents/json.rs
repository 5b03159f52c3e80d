//! Reads events of foreign programs.
//!
//! A missing field and a field of another type are both absent: events gain and lose fields with every release of the
//! program.

use serde_json::Value;

/// The longest piece of foreign text that is shown in a message, in characters.
const SHOWN_CHARS_MAX: usize = 400;

/// The event of a line, if the line is one whole JSON object.
pub(crate) fn event(line: &[u8]) -> Option<Value> {
    let first = line.iter().find(|byte| !byte.is_ascii_whitespace())?;
    if *first != b'{' {
        return None;
    }
    serde_json::from_slice(line).ok().filter(Value::is_object)
}

/// The text at a place, if there is text.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str()
}

/// The whole number at a place, if there is one.
pub(crate) fn count(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer)?.as_u64()
}

/// The number at a place, if there is one.
pub(crate) fn number(value: &Value, pointer: &str) -> Option<f64> {
    value.pointer(pointer)?.as_f64()
}

/// The elements of the list at a place; none where there is no list.
pub(crate) fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Subject of a tool call in a few words: its command, path or pattern.
pub(crate) fn about(input: &Value) -> String {
    const NAMES: [&str; 8] =
        ["command", "file_path", "path", "absolute_path", "pattern", "query", "url", "description"];
    let Some(fields) = input.as_object() else { return String::new() };
    let named = NAMES.iter().find_map(|name| fields.get(*name)?.as_str());
    shortened(named.unwrap_or_default())
}

/// The first line of a text, bounded.
pub(crate) fn shortened(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
