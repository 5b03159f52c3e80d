//! The committed schemas are those of the types.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Set `MATERIA_BLESS=1` to write the files anew.
#[test]
fn the_committed_schemas_have_not_drifted() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    let bless = std::env::var_os("MATERIA_BLESS").is_some_and(|value| value == "1");
    let schemas = materia_compiler::schemas();
    for (name, text) in &schemas {
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
        assert!(schemas.iter().any(|(name, _)| *name == file), "{file:?} belongs to no type");
    }
}

/// The page's types are those of the server.
#[test]
fn the_committed_types_of_the_page_have_not_drifted_from_the_schemas() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/api/generated.ts");
    let text = materia_contract::api::typescript();
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
    let all = materia_compiler::schemas().into_iter().filter(|(name, _)| *name != "openapi.json");
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
