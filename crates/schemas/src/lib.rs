//! Generates the published schemas, the description of the server and the page's types from the types of `contract`.
//!
//! The program contains the committed files and does not depend on this crate. Its tests fail when a file differs;
//! with `MATERIA_BLESS=1` they rewrite it.

mod openapi;
mod typescript;

pub use openapi::openapi;
pub use typescript::typescript;

use materia_contract::body::{
    BlameBody, BoundsBody, BudgetBody, CaseBody, CrashtestBody, ExploreBody, FuzzBody, Grid,
    Health, ReplayBody, TestBody, Told, WhatIfBody, Why, WorkerBody,
};
use materia_contract::case::Case;
use materia_contract::script::Script;
use materia_contract::{CastReport, Command, Config, Envelope, EventLine, Receipt};
use schemars::{JsonSchema, schema_for};

/// Every schema: the name of its file under `schemas/`, and its text.
pub fn schemas() -> Vec<(&'static str, String)> {
    vec![
        ("config.schema.json", text::<Config>("Materia configuration")),
        ("event.schema.json", text::<EventLine>("Materia event")),
        ("envelope.schema.json", text::<Envelope>("Materia envelope")),
        ("script.schema.json", text::<Script>("Materia script for the scripted provider")),
        ("case.schema.json", text::<Case>("Materia conformance case")),
        ("report.schema.json", text::<CastReport>("Materia cast report")),
        ("worker.schema.json", text::<WorkerBody>("Materia worker")),
        ("told.schema.json", text::<Told>("Materia command that was told to another process")),
        ("bounds.schema.json", text::<BoundsBody>("Materia bounds of a loadout")),
        ("explore.schema.json", text::<ExploreBody>("Materia exploration of a loadout")),
        ("crashtest.schema.json", text::<CrashtestBody>("Materia crash test of a loadout")),
        ("fuzz.schema.json", text::<FuzzBody>("Materia histories of a loadout by chance")),
        ("budget.schema.json", text::<BudgetBody>("Materia budget of a cast")),
        ("doctor.schema.json", text::<Health>("Materia health of a machine")),
        ("grid.schema.json", text::<Grid>("Materia graph of a plan")),
        ("why.schema.json", text::<Why>("Materia answer why a socket runs or does not")),
        ("replay.schema.json", text::<ReplayBody>("Materia verification of a cast")),
        ("case-made.schema.json", text::<CaseBody>("Materia cast that was written as a case")),
        ("test.schema.json", text::<TestBody>("Materia line of a test of cases")),
        ("whatif.schema.json", text::<WhatIfBody>("Materia cast against another loadout")),
        ("blame.schema.json", text::<BlameBody>("Materia sources of a prompt")),
        ("command.schema.json", text::<Command>("Materia command")),
        ("receipt.schema.json", text::<Receipt>("Materia receipt of a command")),
        ("openapi.json", pretty(&openapi())),
    ]
}

fn text<T: JsonSchema>(title: &str) -> String {
    let mut schema = schema_for!(T);
    schema.insert("title".to_owned(), title.into());
    pretty(&schema)
}

fn pretty(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string_pretty(value).expect("a schema is data and always renders");
    text + "\n"
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use serde_json::Value;

    use super::*;

    /// Set `MATERIA_BLESS=1` to write the files anew.
    #[test]
    fn the_committed_schemas_have_not_drifted() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
        let bless = std::env::var_os("MATERIA_BLESS").is_some_and(|value| value == "1");
        let generated = schemas();
        for (name, text) in &generated {
            let path = folder.join(name);
            if bless {
                fs::write(&path, text).unwrap();
            }
            let committed = fs::read_to_string(&path).unwrap_or_default();
            assert!(
                committed == *text,
                "schemas/{name} is out of date; run this test with MATERIA_BLESS=1 and commit the file"
            );
        }
        let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
        for file in files.filter(|file| file.to_string_lossy().ends_with(".schema.json")) {
            assert!(generated.iter().any(|(name, _)| *name == file), "{file:?} belongs to no type");
        }
    }

    /// The page's types are those of the server.
    #[test]
    fn the_committed_types_of_the_page_have_not_drifted_from_the_schemas() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/api/generated.ts");
        let text = typescript();
        if std::env::var_os("MATERIA_BLESS").is_some_and(|value| value == "1") {
            fs::write(&path, &text).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        let says = "ui/src/api/generated.ts is out of date; run this test with MATERIA_BLESS=1 and commit the file";
        assert!(committed == text, "{says}");
    }

    #[test]
    fn schemas_name_their_dialect_and_leave_room_for_unknown_fields() {
        // The description of the server is no schema, but has some.
        let all = schemas().into_iter().filter(|(name, _)| *name != "openapi.json");
        for (name, text) in all {
            let schema: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
            assert!(schema["title"].as_str().unwrap().starts_with("Materia "), "{name}");
            assert!(schema.get("$id").is_none(), "{name}");
            if name == "config.schema.json" {
                assert_eq!(schema["additionalProperties"], true);
            }
        }
    }

    /// The names of the variants of an enumeration, as its schema has them.
    fn names(schema: &schemars::Schema) -> Vec<String> {
        let value = schema.as_value();
        let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        let name = |one: &serde_json::Value| {
            let named = one.get("const").or_else(|| one.pointer("/properties/do/const"));
            let only = || one.get("properties")?.as_object()?.keys().next().cloned();
            named.and_then(text).or_else(only)
        };
        let several = |one: &serde_json::Value| {
            let listed = one.get("enum").and_then(serde_json::Value::as_array);
            listed.map_or_else(
                || name(one).into_iter().collect(),
                |all| all.iter().filter_map(text).collect::<Vec<_>>(),
            )
        };
        value["oneOf"].as_array().expect("variants").iter().flat_map(several).collect()
    }

    #[test]
    fn the_documentation_names_all_that_can_be_decided_on() {
        let journal = include_str!("../../../docs/reference/journal.md");
        let inputs = names(&schemars::schema_for!(materia_contract::RecordedInput));
        let acts = names(&schemars::schema_for!(materia_contract::Do));
        assert!(
            inputs.contains(&"measured".to_owned()) && inputs.contains(&"idle".to_owned()),
            "{inputs:?}"
        );
        assert!(acts.contains(&"skip".to_owned()) && acts.len() > 12, "{acts:?}");
        for input in inputs {
            assert!(
                journal.contains(&format!("\"{input}\"")),
                "docs/reference/journal.md says nothing of `{input}`"
            );
        }
        for act in acts {
            assert!(
                journal.contains(&format!("`{act}`")),
                "docs/reference/journal.md says nothing of `{act}`"
            );
        }
    }
}
