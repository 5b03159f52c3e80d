//! Canonical JSON: one text for one value, independent of the order of its fields.

use serde_json::Value;

/// The hash of a value: blake3 over its canonical JSON, in hexadecimal.
///
/// Two values have the same hash exactly if they are equal as JSON.
pub fn content_hash(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text_hash(&text)
}

/// The hash of a text: blake3, in hexadecimal.
pub fn text_hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(object) => {
            let mut fields: Vec<_> = object.iter().collect();
            fields.sort_by_key(|(name, _)| name.as_str());
            text.push('{');
            for (name, value) in fields {
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                write(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(list) => {
            text.push('[');
            for value in list {
                write(value, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            text.push_str(&value.to_string());
        }
    }
}
