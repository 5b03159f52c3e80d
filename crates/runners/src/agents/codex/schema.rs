//! Schemas as the provider behind Codex takes them.
//!
//! In its strict form an object has no other than its named fields and must have all of them. A
//! field that may be left out is therefore asked for as "this or null", and nulls that stand for a
//! field left out are removed from the answer.

use serde_json::{Map, Value, json};

/// The same schema in strict form.
pub fn strict(schema: &Value) -> Value {
    let Some(fields) = schema.as_object() else { return schema.clone() };
    let mut strict: Map<String, Value> = fields
        .iter()
        .map(|(name, part)| {
            let part = match (name.as_str(), part) {
                ("items", part) => self::strict(part),
                ("anyOf" | "oneOf" | "allOf", Value::Array(parts)) => {
                    Value::Array(parts.iter().map(self::strict).collect())
                }
                _ => part.clone(),
            };
            (name.clone(), part)
        })
        .collect();
    if let Some(properties) = fields.get("properties").and_then(Value::as_object) {
        let required = required(fields);
        let named = properties.iter().map(|(name, part)| {
            let part = self::strict(part);
            let part = if required.contains(&name.as_str()) { part } else { or_null(&part) };
            (name.clone(), part)
        });
        strict.insert("properties".to_owned(), Value::Object(named.collect()));
        let all = properties.keys().cloned().map(Value::String).collect();
        strict.insert("required".to_owned(), Value::Array(all));
        strict.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    Value::Object(strict)
}

/// Whether every part says of which type it is, without which the strict form is refused.
pub(super) fn is_typed(schema: &Value) -> bool {
    let parts = |name: &str| schema.get(name).and_then(Value::as_array).into_iter().flatten();
    let fields = schema.get("properties").and_then(Value::as_object);
    let known = ["type", "enum", "const", "anyOf"].iter().any(|name| schema.get(name).is_some());
    known
        && fields.into_iter().flat_map(Map::values).all(is_typed)
        && schema.get("items").is_none_or(is_typed)
        && parts("anyOf").all(is_typed)
}

fn or_null(part: &Value) -> Value {
    json!({ "anyOf": [part, { "type": "null" }] })
}

fn required(fields: &Map<String, Value>) -> Vec<&str> {
    let names = fields.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The answer without the nulls that stand for fields left out.
pub fn without_nulls(schema: &Value, answer: Value) -> Value {
    match answer {
        Value::Object(fields) => {
            let known = schema.as_object();
            let required = known.map(required).unwrap_or_default();
            let part = |name: &str| schema.pointer("/properties")?.get(name);
            let kept = fields.into_iter().filter_map(|(name, value)| {
                let optional = part(&name).is_some() && !required.contains(&name.as_str());
                if value.is_null() && optional {
                    return None;
                }
                let value = without_nulls(part(&name).unwrap_or(&Value::Null), value);
                Some((name, value))
            });
            Value::Object(kept.collect())
        }
        Value::Array(items) => {
            let part = schema.get("items").unwrap_or(&Value::Null);
            Value::Array(items.into_iter().map(|item| without_nulls(part, item)).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => answer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handoff() -> Value {
        json!({
            "type": "object",
            "properties": {
                "satisfied": { "type": "boolean" },
                "context": { "type": "string" },
                "workItems": { "type": "array", "items": {
                    "type": "object",
                    "properties": { "title": { "type": "string" } },
                    "required": ["title"]
                } }
            },
            "required": ["satisfied"]
        })
    }

    #[test]
    fn every_field_is_required_and_optional_ones_may_be_null() {
        let strict = strict(&handoff());
        assert_eq!(strict["required"], json!(["satisfied", "context", "workItems"]));
        assert_eq!(strict["additionalProperties"], json!(false));
        assert_eq!(strict["properties"]["satisfied"], json!({ "type": "boolean" }));
        assert_eq!(strict["properties"]["context"]["anyOf"][1], json!({ "type": "null" }));
        let item = &strict["properties"]["workItems"]["anyOf"][0]["items"];
        assert_eq!(item["additionalProperties"], json!(false));
    }

    #[test]
    fn a_field_of_unknown_type_has_no_strict_form() {
        assert!(is_typed(&handoff()));
        let mut loose = handoff();
        loose["properties"]["plan"] = json!({});
        assert!(!is_typed(&loose));
    }

    #[test]
    fn a_null_for_a_field_left_out_is_removed_and_no_other() {
        let answer = json!({ "satisfied": null, "context": null, "other": null,
            "workItems": [{ "title": "a" }] });
        let kept = without_nulls(&handoff(), answer);
        let expected = json!({ "satisfied": null, "other": null, "workItems": [{ "title": "a" }] });
        assert_eq!(kept, expected);
    }
}
