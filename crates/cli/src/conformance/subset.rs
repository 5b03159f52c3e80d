//! Whether one JSON value holds another.

use std::fmt::Write as _;

use serde_json::Value;

/// The first difference, as a path and a sentence; `None` where all of `expected` is in `found`.
///
/// Objects may have more fields than expected; lists may not have more elements.
pub(super) fn difference(expected: &Value, found: &Value) -> Option<String> {
    let mut path = String::from("$");
    let what = walk(expected, found, &mut path)?;
    Some(format!("{path}: {what}"))
}

/// Whether all of `expected` is in `found`.
pub(super) fn holds(expected: &Value, found: &Value) -> bool {
    difference(expected, found).is_none()
}

fn walk(expected: &Value, found: &Value, path: &mut String) -> Option<String> {
    let length = path.len();
    match (expected, found) {
        (Value::Object(fields), Value::Object(object)) => {
            for (name, field) in fields {
                path.push('.');
                path.push_str(name);
                let different = match object.get(name) {
                    Some(value) => walk(field, value, path),
                    None => Some(format!("expected {field}, and it is missing")),
                };
                if different.is_some() {
                    return different;
                }
                path.truncate(length);
            }
            None
        }
        (Value::Array(items), Value::Array(list)) if items.len() == list.len() => {
            for (index, (item, value)) in items.iter().zip(list).enumerate() {
                let _ = write!(path, ".{index}");
                if let Some(what) = walk(item, value, path) {
                    return Some(what);
                }
                path.truncate(length);
            }
            None
        }
        // 1 and 1.0 are one number in JSON.
        (Value::Number(one), Value::Number(other)) if one.as_f64() == other.as_f64() => None,
        _ if expected == found => None,
        _ => Some(format!("expected {expected}, found {found}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn more_fields_are_fine_and_more_elements_are_not() {
        let found = json!({ "a": { "b": [1, { "c": null, "d": 2.0 }] }, "e": true });
        assert!(holds(&json!({ "a": { "b": [1, { "c": null, "d": 2 }] } }), &found));
        assert!(holds(&json!({}), &found));
        for (wrong, at) in [
            (json!({ "a": { "b": [1] } }), "$.a.b"),
            (json!({ "a": { "b": [1, { "d": 3 }] } }), "$.a.b.1.d"),
            (json!({ "x": null }), "$.x"),
            (json!({ "e": "true" }), "$.e"),
            (json!([]), "$"),
        ] {
            let different = difference(&wrong, &found).unwrap();
            assert!(different.starts_with(&format!("{at}:")), "{different}");
        }
    }
}
