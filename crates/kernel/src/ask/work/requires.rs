//! The values that a materia requires (D41) or reads, as its first prompt shows them.

use serde_json::Value;

use super::layered::Layered;
use crate::ask::scope::Scope;
use crate::ask::{items, output};
use crate::state::{Payload, Run};

/// The most of one such value that a prompt shows, in characters.
const VALUE_CHARS_SHOWN_MAX: usize = 32_000;

/// Shows each value under its path. What is long loses its end, and that is said. What a payload says
/// just the same is not said twice.
pub(super) fn render(layered: &mut Layered, run: &Run, index: usize, payloads: &[Payload]) {
    let item = items::current(run, index).map(|item| item.value);
    let scope = Scope { item, ..Scope::of(run) };
    let (_, node) = run.node(index);
    for path in node.requires.iter().chain(&node.reads) {
        let Some(value) = scope.get(path) else { continue };
        if is_said(&value, payloads) {
            continue;
        }
        let body = bounded(&text(&value));
        layered.section("required", path.to_string(), &path.to_string(), &body);
    }
}

/// Whether a payload brings this very text as its context.
fn is_said(value: &Value, payloads: &[Payload]) -> bool {
    let Some(text) = value.as_str() else { return false };
    let mut parsed = payloads.iter().filter_map(|payload| payload.json.as_deref());
    parsed.any(|json| output::context_in(json).as_deref() == Some(text))
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            serde_json::to_string_pretty(value).expect("a value is data and always renders")
        }
    }
}

fn bounded(text: &str) -> String {
    match text.char_indices().nth(VALUE_CHARS_SHOWN_MAX) {
        None => text.to_owned(),
        Some((end, _)) => {
            let left = text[end..].chars().count();
            format!("{}\n… ({left} more characters are left out here)", &text[..end])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_is_cut_between_characters_and_counted() {
        assert_eq!(bounded("äö"), "äö");
        let cut = bounded(&"ä".repeat(VALUE_CHARS_SHOWN_MAX + 7));
        assert!(cut.ends_with("ä\n… (7 more characters are left out here)"));
        assert_eq!(cut.chars().filter(|c| *c == 'ä').count(), VALUE_CHARS_SHOWN_MAX);
    }

    #[test]
    fn text_stands_as_it_is_and_data_as_json() {
        assert_eq!(text(&"a \"b\"".into()), "a \"b\"");
        assert_eq!(text(&serde_json::json!({"a": [1]})), "{\n  \"a\": [\n    1\n  ]\n}");
    }
}
