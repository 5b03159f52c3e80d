//! Reads the schema that schemars generates for documents.
//!
//! Deliberately absent: parts of JSON Schema that those types do not need.

use std::collections::HashMap;
use std::sync::OnceLock;

use serde_json::Value;
use serde_json::value::RawValue;

/// A schema with the definitions that it refers to. A definition is read when it is asked for first: most documents
/// need a few of many.
pub(crate) struct Root {
    top: Value,
    named: HashMap<String, (&'static RawValue, OnceLock<Value>)>,
}

impl Root {
    /// Reads the text of a schema; `None` if it is none.
    pub(crate) fn read(text: &'static str) -> Option<Self> {
        let mut parts: HashMap<String, &'static RawValue> = serde_json::from_str(text).ok()?;
        let named: HashMap<String, &'static RawValue> = match parts.remove("$defs") {
            Some(named) => serde_json::from_str(named.get()).ok()?,
            None => HashMap::new(),
        };
        let named = named.into_iter().map(|(name, text)| (name, (text, OnceLock::new()))).collect();
        let read = |(name, text): (String, &RawValue)| {
            Some((name, serde_json::from_str::<Value>(text.get()).ok()?))
        };
        let top = parts.into_iter().map(read).collect::<Option<serde_json::Map<_, _>>>()?;
        Some(Self { top: top.into(), named })
    }

    /// The schema itself.
    pub(crate) fn top(&self) -> &Value {
        &self.top
    }

    fn definition(&self, name: &str) -> Option<&Value> {
        let (text, read) = self.named.get(name)?;
        Some(read.get_or_init(|| serde_json::from_str(text.get()).unwrap_or(Value::Bool(true))))
    }
}

/// Follows references to the schema they mean and the name it bears.
pub(crate) fn resolve<'a>(root: &'a Root, schema: &'a Value) -> (&'a Value, &'a str) {
    let Some(name) = schema.get("$ref").and_then(Value::as_str) else { return (schema, "") };
    let name = name.rsplit('/').next().unwrap_or_default();
    (root.definition(name).unwrap_or(&Value::Bool(true)), name)
}

/// The words of an enumeration, if the schema is one.
pub(crate) fn words<'a>(root: &'a Root, schema: &'a Value) -> Option<Vec<&'a str>> {
    let (schema, _) = resolve(root, schema);
    if let Some(list) = schema.get("enum").and_then(Value::as_array) {
        return list.iter().map(Value::as_str).collect();
    }
    if let Some(word) = schema.get("const").and_then(Value::as_str) {
        return Some(vec![word]);
    }
    let alternatives = schema.get("oneOf")?.as_array()?;
    let words: Option<Vec<_>> = alternatives.iter().map(|one| words(root, one)).collect();
    Some(words?.into_iter().flatten().collect())
}

pub(crate) fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

pub(crate) fn nullable(schema: &Value) -> bool {
    types(schema).contains(&"null")
        || schema
            .get("anyOf")
            .and_then(Value::as_array)
            .is_some_and(|alternatives| alternatives.iter().any(nullable))
}

/// Whether the value is of a kind that the schema takes; its parts are not looked at.
pub(crate) fn fits(root: &Root, value: &Value, schema: &Value) -> bool {
    let (schema, _) = resolve(root, schema);
    if words(root, schema).is_some() {
        return value.is_string();
    }
    if let Some(alternatives) = schema.get("anyOf").and_then(Value::as_array) {
        return alternatives.iter().any(|one| fits(root, value, one));
    }
    let types = types(schema);
    types.is_empty()
        || types.iter().any(|kind| match *kind {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_u64() || value.is_i64(),
            "number" => value.is_number(),
            "null" => value.is_null(),
            _ => true,
        })
}

/// The smallest value that fits.
pub(crate) fn minimal(root: &Root, schema: &Value) -> Value {
    let (schema, _) = resolve(root, schema);
    if nullable(schema) {
        return Value::Null;
    }
    if let Some(word) = words(root, schema).and_then(|words| words.first().copied()) {
        return Value::from(word);
    }
    if let Some(first) = schema.get("anyOf").and_then(|list| list.get(0)) {
        return minimal(root, first);
    }
    match types(schema).first().copied() {
        Some("object") => {
            let required = schema.get("required").and_then(Value::as_array);
            let names = required.into_iter().flatten().filter_map(Value::as_str);
            let fill = |name: &str| (name.to_owned(), minimal(root, &schema["properties"][name]));
            Value::Object(names.map(fill).collect())
        }
        Some("array") => Value::Array(Vec::new()),
        Some("string") => Value::from(""),
        Some("boolean") => Value::from(false),
        Some("integer" | "number") => {
            schema.get("minimum").filter(|least| least.is_u64()).cloned().unwrap_or(Value::from(0))
        }
        Some(_) | None => Value::Null,
    }
}

/// Values that a schema accepts, in words.
pub(crate) fn describe(root: &Root, schema: &Value) -> String {
    let (schema, _) = resolve(root, schema);
    if let Some(words) = words(root, schema) {
        return format!("one of {}", words.join(", "));
    }
    if let Some(alternatives) = schema.get("anyOf").and_then(Value::as_array) {
        let some = alternatives.iter().filter(|one| !nullable(one));
        return some.map(|one| describe(root, one)).collect::<Vec<_>>().join(", or ");
    }
    let item = || schema.get("items").map(|items| resolve(root, items).0);
    let kind = match types(schema).first().copied().unwrap_or_default() {
        "object" => "an object",
        "array" if item().is_some_and(|item| types(item) == ["string"]) => "a list of strings",
        "array" => "a list",
        "string" => "a string",
        "boolean" => "true or false",
        "integer" => "a whole number",
        "number" => "a number",
        _ => "something else",
    };
    kind.to_owned()
}

pub(crate) fn description(schema: &Value) -> Option<&str> {
    schema.get("description").and_then(Value::as_str)
}

pub(crate) fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(boolean) => boolean.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// A JSON reader no longer distinguishes whole numbers beyond this.
pub(crate) fn is_huge(number: f64) -> bool {
    number.abs() >= 9_007_199_254_740_992.0
}
