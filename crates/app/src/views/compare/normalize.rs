//! Words of a cast that differ between any two casts and say nothing: its id, its folders, ids of payloads, times.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::Side;

/// Fields of a utility's input that are a cast's own.
const FIELDS: [&str; 4] = ["castId", "runDir", "artifactDir", "cwd"];
/// Fields of a payload that are a cast's own.
const PAYLOAD_FIELDS: [&str; 2] = ["payloadId", "ts"];
/// The form of an id of a payload: `0` stands for a hexadecimal digit.
const ID: &str = "00000000-0000-0000-0000-000000000000";
/// The form of a time: `9` stands for a digit. Parts of a second and the zone belong to it.
const TIME: &str = "9999-99-99T99:99:99";

/// Texts that are a cast's own, each with the name that takes its place.
pub(super) struct Own<'a> {
    names: Vec<(&'a str, &'static str)>,
}

impl<'a> Own<'a> {
    pub(super) fn of(side: &'a Side<'_>) -> Self {
        let folders = &side.folders;
        let mut names = vec![
            (folders.run_dir.as_str(), "(folder of the cast)"),
            (folders.workspace.as_str(), "(work folder)"),
            (folders.project.as_str(), "(project folder)"),
            (side.id.as_str(), "(cast)"),
        ];
        // An id without a digit could be a word of the text.
        names.retain(|(text, _)| text.len() >= 4 && (text.contains('/') || has_digit(text)));
        Self { names }
    }

    /// A text without them.
    pub(super) fn left_out(&self, text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        for (own, name) in &self.names {
            if text.contains(own) {
                text = Cow::Owned(text.replace(own, name));
            }
        }
        without(&text)
    }

    /// A utility's input without them, as text.
    pub(super) fn left_out_of_input(&self, input: &Value) -> String {
        let mut input = input.clone();
        if let Value::Object(fields) = &mut input {
            fields.retain(|name, _| !FIELDS.contains(&name.as_str()));
            for payload in
                fields.get_mut("inputs").and_then(Value::as_array_mut).into_iter().flatten()
            {
                if let Value::Object(fields) = payload {
                    fields.retain(|name, _| !PAYLOAD_FIELDS.contains(&name.as_str()));
                }
            }
        }
        self.left_out(&serde_json::to_string_pretty(&input).unwrap_or_default())
    }

    /// Variables without them.
    pub(super) fn left_out_of(&self, fields: Map<String, Value>) -> Map<String, Value> {
        fields.into_iter().map(|(name, value)| (name, self.of_value(value))).collect()
    }

    fn of_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.left_out(&text)),
            Value::Array(list) => list.into_iter().map(|one| self.of_value(one)).collect(),
            Value::Object(fields) => Value::Object(self.left_out_of(fields)),
            value @ (Value::Null | Value::Bool(_) | Value::Number(_)) => value,
        }
    }
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// A text with a name in place of each id and each time.
fn without(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut inside) = (text, false);
    while let Some(letter) = rest.chars().next() {
        let found = if inside { None } else { id(rest).or_else(|| time(rest)) };
        let (taken, name) = found.unwrap_or((letter.len_utf8(), &rest[..letter.len_utf8()]));
        out.push_str(name);
        inside = letter.is_ascii_alphanumeric();
        rest = &rest[taken..];
    }
    out
}

fn id(text: &str) -> Option<(usize, &'static str)> {
    has_form(text, ID).then_some((ID.len(), "(id)"))
}

fn time(text: &str) -> Option<(usize, &'static str)> {
    if !has_form(text, TIME) {
        return None;
    }
    let rest = &text[TIME.len()..];
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let parts = rest.strip_prefix('.').map_or(0, |parts| 1 + digits(parts));
    let zone = match rest.as_bytes().get(parts) {
        Some(b'Z') => 1,
        Some(b'+' | b'-') if has_form(&rest[parts + 1..], "99:99") => 6,
        _ => 0,
    };
    Some((TIME.len() + parts + zone, "(time)"))
}

fn has_form(text: &str, form: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= form.len()
        && form.bytes().zip(bytes).all(|(form, byte)| match form {
            b'0' => byte.is_ascii_hexdigit(),
            b'9' => byte.is_ascii_digit(),
            form => form == *byte,
        })
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn ids_and_times_are_named_and_other_words_stay() {
        let one =
            "at 2026-11-17T20:03:47.125Z: payload 0191e0a0-1111-7222-8333-444455556666, 3 of 7";
        let other =
            "at 2026-11-18T01:00:00+01:00: payload 0191e0a0-9999-7222-8333-444455556667, 3 of 7";
        assert_eq!(without(one), "at (time): payload (id), 3 of 7");
        assert_eq!(without(one), without(other));
        for word in ["v2026-11-17", "2026-11-17", "abc-def", "ünter 12:30", ""] {
            assert_eq!(without(word), word);
        }
    }
}
