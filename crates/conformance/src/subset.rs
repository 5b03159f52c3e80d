//! Whether one JSON value holds another.
//!
//! A text such as `{hash}` stands for any value where it is met first, and for that same value
//! wherever it is met again in the case.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

/// Values that a case has given a name.
#[derive(Debug, Clone, Default)]
pub(super) struct Names(BTreeMap<String, Value>);

impl Names {
    /// The text with every known name in braces replaced by its value.
    pub(super) fn fill(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (name, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            text.replace(&format!("{{{name}}}"), &value)
        })
    }

    /// Binds a name, or compares with what it is bound to.
    fn meet(&mut self, name: &str, found: &Value) -> Option<String> {
        match self.0.get(name) {
            None => {
                self.0.insert(name.to_owned(), found.clone());
                None
            }
            Some(known) if known == found => None,
            Some(known) => Some(format!("`{name}` was {known} before, found {found}")),
        }
    }
}

/// The name in a text such as `{hash}`.
fn name(text: &str) -> Option<&str> {
    let name = text.strip_prefix('{')?.strip_suffix('}')?;
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric());
    plain.then_some(name)
}

/// The first difference, as a path and a sentence; `None` where all of `expected` is in `found`.
///
/// Objects may have more fields than expected; lists may not have more elements. Names are bound
/// only where nothing differs.
pub(super) fn difference(expected: &Value, found: &Value, names: &mut Names) -> Option<String> {
    let mut path = String::from("$");
    let mut bound = names.clone();
    let what = walk(expected, found, &mut path, &mut bound);
    if what.is_none() {
        *names = bound;
    }
    what.map(|what| format!("{path}: {what}"))
}

/// Whether all of `expected` is in `found`.
pub(super) fn holds(expected: &Value, found: &Value, names: &mut Names) -> bool {
    difference(expected, found, names).is_none()
}

fn walk(expected: &Value, found: &Value, path: &mut String, names: &mut Names) -> Option<String> {
    let length = path.len();
    match (expected, found) {
        (Value::String(text), _) if name(text).is_some() => {
            name(text).and_then(|name| names.meet(name, found))
        }
        (Value::Object(fields), Value::Object(object)) => {
            for (name, field) in fields {
                path.push('.');
                path.push_str(name);
                let different = match object.get(name) {
                    Some(value) => walk(field, value, path, names),
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
                if let Some(what) = walk(item, value, path, names) {
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

    fn holds(expected: &Value, found: &Value) -> bool {
        super::holds(expected, found, &mut Names::default())
    }

    fn difference(expected: &Value, found: &Value) -> Option<String> {
        super::difference(expected, found, &mut Names::default())
    }

    #[test]
    fn a_name_is_bound_once_and_then_compared() {
        let mut names = Names::default();
        let mut meet = |wanted: Value, found: Value| super::holds(&wanted, &found, &mut names);
        assert!(!meet(json!({ "a": "{x}", "b": 2 }), json!({ "a": 7, "b": 1 })), "nothing bound");
        assert!(meet(json!({ "a": "{x}", "b": 1 }), json!({ "a": 8, "b": 1 })));
        assert!(meet(json!(["{x}"]), json!([8])));
        assert!(!meet(json!(["{x}"]), json!(["8"])));
        assert!(!meet(json!("{\"x\": 1}"), json!(5)), "JSON in a text is no name");
        assert_eq!(names.fill("--at {x} {y}"), "--at 8 {y}");
    }

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
