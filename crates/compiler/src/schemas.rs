//! The published schemas, as they are committed. `materia-schemas` generates them.

/// Every schema: the name of its file under `schemas/`, and its text.
pub const SCHEMAS: &[(&str, &str)] = &[
    ("config.schema.json", include_str!("../../../schemas/config.schema.json")),
    ("event.schema.json", include_str!("../../../schemas/event.schema.json")),
    ("envelope.schema.json", include_str!("../../../schemas/envelope.schema.json")),
    ("script.schema.json", include_str!("../../../schemas/script.schema.json")),
    ("case.schema.json", include_str!("../../../schemas/case.schema.json")),
    ("report.schema.json", include_str!("../../../schemas/report.schema.json")),
    ("told.schema.json", include_str!("../../../schemas/told.schema.json")),
    ("budget.schema.json", include_str!("../../../schemas/budget.schema.json")),
    ("doctor.schema.json", include_str!("../../../schemas/doctor.schema.json")),
    ("grid.schema.json", include_str!("../../../schemas/grid.schema.json")),
    ("why.schema.json", include_str!("../../../schemas/why.schema.json")),
    ("replay.schema.json", include_str!("../../../schemas/replay.schema.json")),
    ("case-made.schema.json", include_str!("../../../schemas/case-made.schema.json")),
    ("test.schema.json", include_str!("../../../schemas/test.schema.json")),
    ("crashtest.schema.json", include_str!("../../../schemas/crashtest.schema.json")),
    ("whatif.schema.json", include_str!("../../../schemas/whatif.schema.json")),
    ("blame.schema.json", include_str!("../../../schemas/blame.schema.json")),
    ("fuzz.schema.json", include_str!("../../../schemas/fuzz.schema.json")),
    ("command.schema.json", include_str!("../../../schemas/command.schema.json")),
    ("receipt.schema.json", include_str!("../../../schemas/receipt.schema.json")),
    ("openapi.json", include_str!("../../../schemas/openapi.json")),
];

/// The text of a schema.
pub fn schema(name: &str) -> Option<&'static str> {
    SCHEMAS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
