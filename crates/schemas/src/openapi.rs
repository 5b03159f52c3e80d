//! The API description in the form of `OpenAPI` 3.1.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use materia_contract::api::{Access, Answer, ENDPOINTS, Endpoint, Method, Name, Problem};

/// The description.
pub fn openapi() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let problem = reference::<Problem>(&mut generator);
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in ENDPOINTS {
        let path = endpoint.path.replace("{*", "{");
        let entry = paths.entry(path).or_insert_with(|| json!({}));
        let method = endpoint.method.word().to_ascii_lowercase();
        entry[method] = operation(endpoint, &problem, &mut generator);
    }
    let schemas: Map<String, Value> = generator.take_definitions(true).into_iter().collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Materia",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The server of materia. docs/reference/server.md tells it by example."
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "page": { "type": "apiKey", "in": "header", "name": "X-Materia-Key" }
            }
        }
    })
}

fn reference<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().to_value()
}

fn operation(endpoint: &Endpoint, problem: &Value, generator: &mut SchemaGenerator) -> Value {
    let mut operation = json!({
        "operationId": format!("{:?}", endpoint.name),
        "summary": endpoint.says,
        "responses": {
            endpoint.status.to_string(): {
                "description": "It was done.",
                "content": content(endpoint.answer, generator),
            },
            "default": {
                "description": "It was refused, and why.",
                "content": { "application/problem+json": { "schema": problem } },
            },
        },
    });
    let parameters = parameters(endpoint);
    if !parameters.is_empty() {
        operation["parameters"] = Value::Array(parameters);
    }
    if let Some(body) = endpoint.body {
        let schema = body(generator).to_value();
        operation["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    }
    match endpoint.access {
        Access::Open => {}
        Access::Known => operation["security"] = json!([{ "token": [] }, { "page": [] }]),
        Access::Person => operation["security"] = json!([{ "page": [] }]),
    }
    operation
}

fn content(answer: Answer, generator: &mut SchemaGenerator) -> Value {
    match answer {
        Answer::Json(shape) => {
            json!({ "application/json": { "schema": shape(generator).to_value() } })
        }
        Answer::Bytes => {
            json!({ "application/octet-stream": {}, "text/plain; charset=utf-8": { "schema": { "type": "string" } } })
        }
        Answer::Text(kind) => json!({ kind: {} }),
        Answer::Events(shapes) => {
            let shapes = shapes.iter().map(|(name, shape)| (*name, shape(generator).to_value()));
            let shapes: Map<String, Value> =
                shapes.map(|(name, shape)| (name.to_owned(), shape)).collect();
            json!({ "text/event-stream": { "schema": { "type": "string" }, "x-events": shapes } })
        }
    }
}

fn parameters(endpoint: &Endpoint) -> Vec<Value> {
    let parts = endpoint.path.split('/').filter_map(|part| {
        part.strip_prefix('{')?.strip_suffix('}').map(|name| name.trim_start_matches('*'))
    });
    let text = json!({ "type": "string" });
    let mut all: Vec<Value> = parts
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": text }))
        .collect();
    all.extend(endpoint.query.iter().map(|param| {
        let kind = if param.number { "integer" } else { "string" };
        let (name, says) = (param.name, param.says);
        json!({ "name": name, "in": "query", "description": says, "schema": { "type": kind } })
    }));
    let header = |name: &str, says: &str| json!({ "name": name, "in": "header", "description": says, "schema": text });
    if matches!(endpoint.name, Name::Start | Name::Act) {
        let says = "the same key gives the same answer and acts once; without one, one is made";
        all.push(header("Idempotency-Key", says));
    }
    if endpoint.name == Name::SaveConfig && endpoint.method == Method::Put {
        all.push(header("If-Match", "the hash of the file as it was read"));
    }
    if endpoint.name == Name::Stream || endpoint.name == Name::Changes {
        all.push(header("Last-Event-ID", "the last event that was read"));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                if let Some(Value::String(reference)) = map.get("$ref") {
                    found.push(reference.clone());
                }
                map.values().for_each(|value| references(value, found));
            }
            Value::Array(list) => list.iter().for_each(|value| references(value, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let described = openapi();
        let mut found = Vec::new();
        references(&described, &mut found);
        assert!(found.len() > 30, "{}", found.len());
        for reference in found {
            let pointer = reference.strip_prefix('#').expect(&reference);
            assert!(described.pointer(pointer).is_some(), "{reference}");
        }
    }

    #[test]
    fn no_two_endpoints_are_one() {
        let mut seen = std::collections::BTreeSet::new();
        for endpoint in ENDPOINTS {
            assert!(seen.insert((endpoint.method.word(), endpoint.path)), "{}", endpoint.path);
            let named = ENDPOINTS.iter().filter(|other| other.name == endpoint.name).count();
            assert_eq!(named, 1, "{:?}", endpoint.name);
        }
    }
}
