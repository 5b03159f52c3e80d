//! The object that a utility reads, put together from the parts that an event keeps (D58).

use indexmap::IndexMap;
use materia_contract::{Behavior, InputPart, InputSource};
use serde_json::{Map, Value, json};

use crate::ask::items;
use crate::state::{Payload, Run};

/// The object with these fields, for a turn of a node that takes these payloads now.
pub(crate) fn whole(
    run: &Run,
    index: usize,
    fields: &IndexMap<String, InputPart>,
    payloads: &[Payload],
) -> Value {
    let of = |part: &InputPart| match part {
        InputPart::Value([value]) => value.clone(),
        InputPart::From(source) => found(run, index, *source, payloads),
        InputPart::StateWith { state } => {
            let mut variables = run.variables.clone();
            variables.insert(state.clone(), item(run, index));
            Value::Object(variables)
        }
    };
    let fields = fields.iter().map(|(name, part)| (name.clone(), of(part)));
    Value::Object(fields.collect::<Map<String, Value>>())
}

fn found(run: &Run, index: usize, source: InputSource, payloads: &[Payload]) -> Value {
    match source {
        InputSource::Cwd => run.cwd.as_str().into(),
        InputSource::RunDir => run.run_dir.as_str().into(),
        InputSource::Request => run.created().map_or("", |created| created.request.as_str()).into(),
        InputSource::Params => match &run.node(index).1.behavior {
            Behavior::Utility { params, .. } => Value::Object(params.clone()),
            Behavior::Agent { .. } => Value::Null,
        },
        InputSource::State => Value::Object(run.variables.clone()),
        InputSource::Item => item(run, index),
        InputSource::Inputs => payloads.iter().map(|payload| json!(payload.envelope())).collect(),
    }
}

fn item(run: &Run, index: usize) -> Value {
    items::current(run, index).map_or(Value::Null, |item| item.value.clone())
}
