//! The object that a utility reads (U6), as the fields that an event keeps.

use std::sync::Arc;

use indexmap::IndexMap;
use materia_contract::{InputPart, InputParts, InputSource, UtilityInput, text_hash};
use serde_json::{Value, json};

use crate::ask::{items, utility_input};
use crate::state::{Payload, Run};

/// The input of a new turn at `seq`.
pub(super) fn assemble(run: &Run, index: usize, seq: u64, payloads: &[Payload]) -> UtilityInput {
    let fields = fields(run, index, seq);
    let whole = Arc::new(utility_input::whole(run, index, &fields, payloads));
    let hash = text_hash(&UtilityInput::text_of(&whole));
    UtilityInput::in_parts(InputParts { hash, fields, same_as: None }, whole)
}

/// The input of a retry: the same as in the attempt before.
pub(crate) fn again(whole: Arc<Value>, before: u64) -> UtilityInput {
    let hash = text_hash(&UtilityInput::text_of(&whole));
    let parts = InputParts { hash, fields: IndexMap::new(), same_as: Some(before) };
    UtilityInput::in_parts(parts, whole)
}

fn fields(run: &Run, index: usize, seq: u64) -> IndexMap<String, InputPart> {
    let from = InputPart::From;
    let item = items::current(run, index);
    let text = |text: Option<&str>| InputPart::value(text.map_or(Value::Null, Value::from));
    let cursor = item.as_ref().map_or(
        Value::Null,
        |item| json!({"name": item.cursor, "index": item.id.index, "count": item.count}),
    );
    // The alias is how the item appears among the variables, for this turn only.
    let state = item.as_ref().map_or(from(InputSource::State), |item| InputPart::StateWith {
        state: item.alias.to_owned(),
    });
    let fields = [
        ("cwd", from(InputSource::Cwd)),
        ("runDir", from(InputSource::RunDir)),
        ("request", from(InputSource::Request)),
        ("castId", InputPart::value(run.writer(seq).as_str())),
        ("socketId", InputPart::value(run.node(index).0.as_str())),
        ("params", from(InputSource::Params)),
        ("state", state),
        ("item", if item.is_some() { from(InputSource::Item) } else { text(None) }),
        ("itemKey", text(item.as_ref().map(|item| item.key.as_str()))),
        ("itemLabel", text(item.as_ref().map(|item| item.label.as_str()))),
        ("cursor", InputPart::value(cursor)),
        ("cursors", InputPart::value(items::cursors(run, index))),
        ("globalMode", InputPart::value(json!(run.global_mode()))),
        ("inputs", from(InputSource::Inputs)),
    ];
    fields.into_iter().map(|(name, part)| (name.to_owned(), part)).collect()
}
