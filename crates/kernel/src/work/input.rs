//! The object that a utility reads (U6).

use serde_json::{Map, Value, json};

use crate::payload::Payload;
use crate::{Run, items};

pub(super) fn assemble(
    run: &Run,
    index: usize,
    params: &Map<String, Value>,
    payloads: &[Payload],
) -> Value {
    let mut state = run.variables.clone();
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
    put("cwd", run.cwd.as_str().into());
    put("runDir", run.run_dir.as_str().into());
    put("request", run.created().map_or("", |created| created.request.as_str()).into());
    put("castId", run.id.as_str().into());
    put("socketId", run.node(index).0.as_str().into());
    put("params", Value::Object(params.clone()));
    let item = items::current(run, index);
    if let Some(item) = &item {
        // The alias is how the item appears among the variables, for this turn only.
        state.insert(item.alias.to_owned(), item.value.clone());
    }
    put("state", Value::Object(state));
    put("item", item.as_ref().map_or(Value::Null, |item| item.value.clone()));
    put("itemKey", item.as_ref().map_or(Value::Null, |item| item.key.as_str().into()));
    put("itemLabel", item.as_ref().map_or(Value::Null, |item| item.label.as_str().into()));
    put(
        "cursor",
        item.map_or(
            Value::Null,
            |item| json!({"name": item.cursor, "index": item.id.index, "count": item.count}),
        ),
    );
    put("cursors", Value::Object(items::cursors(run, index)));
    put("globalMode", json!(run.global_mode()));
    put("inputs", Value::Array(payloads.iter().map(|payload| json!(payload.envelope())).collect()));
    object.into()
}
