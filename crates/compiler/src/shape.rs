//! Reads the schema that schemars generates for documents.
//!
//! Deliberately absent: parts of JSON Schema that those types do not need.

use std::collections::HashMap;
use std::sync::OnceLock;

use memchr::memmem;
use serde::Deserialize as _;
use serde_json::{Deserializer, Value};

/// How the definitions begin in the text of a schema, and how each of them does.
const DEFINITIONS: &[u8] = b",\n  \"$defs\": {";
const DEFINITION: &[u8] = b"\n    \"";

/// A schema with the definitions that it refers to. A definition is read when it is asked for first: most documents
/// need a few of many.
pub(crate) struct Root {
    top: Value,
    named: HashMap<&'static str, (&'static str, OnceLock<Value>)>,
}

impl Root {
    /// Reads the text of a committed schema; `None` if it is none. Each level of it is indented by two spaces, so the
    /// beginnings of lines show where the definitions are.
    pub(crate) fn read(text: &'static str) -> Option<Self> {
        let (top, definitions) = text.split_at(memmem::find(text.as_bytes(), DEFINITIONS)?);
        let top = serde_json::from_str(&format!("{top}}}")).ok()?;
        let mut named = HashMap::new();
        for at in memmem::find_iter(definitions.as_bytes(), DEFINITION) {
            let (name, text) = definitions[at + DEFINITION.len()..].split_once("\": ")?;
            named.insert(name, (text, OnceLock::new()));
        }
        Some(Self { top, named })
    }

    /// The schema itself.
    pub(crate) fn top(&self) -> &Value {
        &self.top
    }

    fn definition(&self, name: &str) -> Option<&Value> {
        let (text, read) = self.named.get(name)?;
        // The text goes on behind the value, which does not matter.
        let value = || Value::deserialize(&mut Deserializer::from_str(text));
        Some(read.get_or_init(|| value().unwrap_or(Value::Bool(true))))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_definition_is_found_and_read_as_it_is() {
        let text = crate::schemas::schema("config.schema.json").unwrap();
        let mut schema: Value = serde_json::from_str(text).unwrap();
        let named = schema.as_object_mut().unwrap().shift_remove("$defs").unwrap();
        let root = Root::read(text).unwrap();
        assert_eq!(*root.top(), schema);
        assert_eq!(root.named.len(), named.as_object().unwrap().len());
        for (name, definition) in named.as_object().unwrap() {
            assert_eq!(root.definition(name), Some(definition), "{name}");
        }
    }
}
