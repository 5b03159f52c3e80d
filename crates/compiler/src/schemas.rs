//! The published schemas, generated from the types of the contract.

use materia_contract::body::{BudgetBody, Grid, Health, ReplayBody, Told, Why};
use materia_contract::case::Case;
use materia_contract::script::Script;
use materia_contract::{CastReport, Command, Config, Envelope, EventLine, Receipt};
use schemars::{JsonSchema, schema_for};

/// Every schema: the name of its file under `schemas/`, and its text.
#[must_use]
pub fn schemas() -> Vec<(&'static str, String)> {
    vec![
        ("config.schema.json", text::<Config>("Materia configuration")),
        ("event.schema.json", text::<EventLine>("Materia event")),
        ("envelope.schema.json", text::<Envelope>("Materia envelope")),
        ("script.schema.json", text::<Script>("Materia script for the scripted provider")),
        ("case.schema.json", text::<Case>("Materia conformance case")),
        ("report.schema.json", text::<CastReport>("Materia cast report")),
        ("told.schema.json", text::<Told>("Materia command that was told to another process")),
        ("budget.schema.json", text::<BudgetBody>("Materia budget of a cast")),
        ("doctor.schema.json", text::<Health>("Materia health of a machine")),
        ("grid.schema.json", text::<Grid>("Materia graph of a plan")),
        ("why.schema.json", text::<Why>("Materia answer why a socket runs or does not")),
        ("replay.schema.json", text::<ReplayBody>("Materia verification of a cast")),
        ("command.schema.json", text::<Command>("Materia command")),
        ("receipt.schema.json", text::<Receipt>("Materia receipt of a command")),
        ("openapi.json", pretty(&materia_contract::api::openapi())),
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
