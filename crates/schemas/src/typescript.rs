//! TypeScript types for the bodies of the endpoints, from the same description.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::openapi;

/// The header of the generated file.
const HEAD: &str = "\
// Generated from the table of endpoints in `contract::api`; `MATERIA_BLESS=1 cargo nextest run --workspace -E 'package(materia-schemas)'`
// writes it anew. Do not edit it.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
";

/// Every shape of the description, one type each.
pub fn typescript() -> String {
    let described = openapi();
    let mut text = HEAD.to_owned();
    let shapes = described.pointer("/components/schemas").and_then(Value::as_object);
    for (name, schema) in shapes.into_iter().flatten() {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "export type {} = {};", plain(name), of(schema));
    }
    text
}

/// A name that the language takes.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

fn of(schema: &Value) -> String {
    let Some(fields) = schema.as_object() else { return "Json".to_owned() };
    if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
        return plain(reference.rsplit('/').next().unwrap_or_default());
    }
    if let Some(value) = fields.get("const") {
        return value.to_string();
    }
    if let Some(values) = fields.get("enum").and_then(Value::as_array) {
        return union(values.iter().map(Value::to_string));
    }
    let own = fields.get("properties").and_then(Value::as_object).map(|it| object(it, fields));
    let several = |name: &str| fields.get(name).and_then(Value::as_array);
    let choice = several("oneOf").or(several("anyOf"));
    let choice = choice.map(|list| format!("({})", union(list.iter().map(of))));
    let all = several("allOf").into_iter().flatten().map(of);
    let parts: Vec<String> = own.into_iter().chain(choice).chain(all).collect();
    if !parts.is_empty() {
        return parts.join(" & ");
    }
    match fields.get("type") {
        Some(Value::Array(kinds)) => {
            union(kinds.iter().filter_map(Value::as_str).map(|kind| simple(kind, fields)))
        }
        Some(Value::String(kind)) => simple(kind, fields),
        Some(_) | None => "Json".to_owned(),
    }
}

fn union(parts: impl Iterator<Item = String>) -> String {
    let mut parts: Vec<String> = parts.collect();
    parts.dedup();
    if parts.is_empty() { "never".to_owned() } else { parts.join(" | ") }
}

fn simple(kind: &str, fields: &Map<String, Value>) -> String {
    match kind {
        "string" => "string".to_owned(),
        "integer" | "number" => "number".to_owned(),
        "boolean" => "boolean".to_owned(),
        "null" => "null".to_owned(),
        "array" => match fields.get("prefixItems").and_then(Value::as_array) {
            Some(items) => {
                let items: Vec<String> = items.iter().map(of).collect();
                format!("[{}]", items.join(", "))
            }
            None => format!("({})[]", fields.get("items").map_or_else(|| "Json".to_owned(), of)),
        },
        "object" => {
            let values = fields.get("additionalProperties").filter(|it| it.is_object());
            format!("{{ [key: string]: {} }}", values.map_or_else(|| "Json".to_owned(), of))
        }
        _ => "Json".to_owned(),
    }
}

fn object(properties: &Map<String, Value>, fields: &Map<String, Value>) -> String {
    let required = fields.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|list| list.iter().any(|it| it.as_str() == Some(name)));
    let field = |(name, schema): (&String, &Value)| {
        let mark = if is_required(name) { "" } else { "?" };
        format!("{}{mark}: {}", Value::String(name.clone()), of(schema))
    };
    format!("{{ {} }}", properties.iter().map(field).collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_becomes_a_type() {
        for (schema, expected) in [
            (json!({ "type": "string" }), "string"),
            (json!({ "type": ["integer", "null"] }), "number | null"),
            (json!({ "enum": ["a", "b"] }), "\"a\" | \"b\""),
            (json!({ "type": "array", "items": { "$ref": "#/components/schemas/Do" } }), "(Do)[]"),
            (json!(true), "Json"),
            (
                json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": {} }, "required": ["a"] }),
                "{ \"a\": string; \"b\"?: Json }",
            ),
            (
                json!({ "properties": { "a": { "const": 1 } }, "oneOf": [{ "type": "null" }, { "type": "boolean" }] }),
                "{ \"a\"?: 1 } & (null | boolean)",
            ),
        ] {
            assert_eq!(of(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn every_shape_has_a_type() {
        let text = typescript();
        for name in ["CastView", "CastSummary", "TurnView", "Problem", "InboxItem", "StartBody"] {
            assert!(text.contains(&format!("export type {name} = {{")), "{name}");
        }
    }
}
