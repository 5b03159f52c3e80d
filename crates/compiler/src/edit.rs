//! Edits the text of a configuration and keeps everything else: comments, order, indentation, line ends.
//!
//! Deliberately absent: files. Input and output are text.

use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

use crate::fault::Faults;
use crate::read;
use crate::syntax;

/// Why a text was not changed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// It is no configuration, so nothing can be put into it.
    #[error("it is not a sound configuration; `materia check` says what is wrong with it")]
    NotADocument,
    /// The added name exists already.
    #[error("it has `{0}` already")]
    Taken(String),
    /// The result would not say what it should. A fault of this program.
    #[error("the change could not be made; please edit the file by hand")]
    Lost,
}

/// Sets one field of the configuration itself. An empty text becomes a new document.
pub fn set(text: &str, field: &str, value: &Value) -> Result<String, EditError> {
    change(text, &[field], value, |root| {
        match property(root, field) {
            Some(property) => property.set_value(input(value)),
            None => {
                // The first place is where a reader looks for it.
                root.insert(usize::from(property(root, "$schema").is_some()), field, input(value));
            }
        }
        Ok(())
    })
}

/// Adds an entry to one of the objects `loadouts` and `materia`, which is made if it is missing. An
/// empty text becomes a new document.
pub fn add(text: &str, field: &str, name: &str, value: &Value) -> Result<String, EditError> {
    change(text, &[field, name], value, |root| {
        let entries = match property(root, field) {
            Some(found) => match found.object_value() {
                Some(entries) => entries,
                None if found.value().is_some_and(|value| value.as_null_keyword().is_some()) => {
                    found.object_value_or_set()
                }
                None => return Err(EditError::NotADocument),
            },
            None => root.append(field, CstInputValue::Object(Vec::new())).object_value_or_set(),
        };
        if property(&entries, name).is_some() {
            return Err(EditError::Taken(name.to_owned()));
        }
        entries.append(name, input(value));
        Ok(())
    })
}

/// Makes a change, and looks whether the result says it.
fn change(
    text: &str,
    steps: &[&str],
    value: &Value,
    make: impl FnOnce(&CstObject) -> Result<(), EditError>,
) -> Result<String, EditError> {
    let fresh = text.trim().is_empty();
    let root = CstRootNode::parse(if fresh { "{}\n" } else { text }, &syntax::OPTIONS)
        .map_err(|_| EditError::NotADocument)?;
    let object = root.object_value().ok_or(EditError::NotADocument)?;
    make(&object)?;
    let changed = root.to_string();
    let document = read::document(&changed, 0, &mut Faults::default()).ok_or(EditError::Lost)?;
    let mut said = document.get(steps[0]);
    for step in &steps[1..] {
        said = said.and_then(|value| value.get(step));
    }
    if said == Some(value) { Ok(changed) } else { Err(EditError::Lost) }
}

/// The property that counts: of several with one name the last.
fn property(object: &CstObject, name: &str) -> Option<CstObjectProp> {
    let mut properties = object.properties().into_iter().rev();
    properties.find(|property| property.decoded_name().as_deref() == Some(name))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(list) => CstInputValue::Array(list.iter().map(input).collect()),
        Value::Object(map) => CstInputValue::Object(
            map.iter().map(|(name, value)| (name.clone(), input(value))).collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_is_replaced_or_put_first_and_nothing_else_changes() {
        let text =
            "{\n  // why this one\n  \"activeLoadout\": \"A\", // here\n  \"x\": [1,2],\n}\n";
        assert_eq!(
            set(text, "activeLoadout", &json!("B")).unwrap(),
            "{\n  // why this one\n  \"activeLoadout\": \"B\", // here\n  \"x\": [1,2],\n}\n"
        );
        let text = "{\r\n\t\"$schema\": \"s\",\r\n\t\"x\": 1 // one\r\n}\r\n";
        assert_eq!(
            set(text, "activeLoadout", &json!("B")).unwrap(),
            "{\r\n\t\"$schema\": \"s\",\r\n\t\"activeLoadout\": \"B\",\r\n\t\"x\": 1 // one\r\n}\r\n"
        );
        let twice = "{\"a\": 1, \"a\": 2}";
        assert_eq!(set(twice, "a", &json!(3)).unwrap(), "{\"a\": 1, \"a\": 3}");
        assert_eq!(set("", "a", &json!("ä\n\"")).unwrap(), "{\n  \"a\": \"ä\\n\\\"\"\n}\n");
    }

    #[test]
    fn an_entry_is_added_and_never_replaced() {
        let text = "{\n  \"loadouts\": {\n    // mine\n    \"A\": {}\n  }\n}\n";
        let value = json!({"entry": "a", "sockets": {"a": {"edges": []}}});
        let changed = add(text, "loadouts", "B", &value).unwrap();
        assert!(
            changed.starts_with("{\n  \"loadouts\": {\n    // mine\n    \"A\": {},\n    \"B\": {")
        );
        assert_eq!(add(&changed, "loadouts", "B", &value), Err(EditError::Taken("B".into())));
        let fresh = add("", "materia", "M", &json!({"prompt": "line\nnext\t\u{1}"})).unwrap();
        assert!(fresh.ends_with("}\n"), "{fresh}");
        let null = add("{\"materia\": null}", "materia", "M", &json!({})).unwrap();
        assert_eq!(
            read::document(&null, 0, &mut Faults::default()).unwrap()["materia"],
            json!({"M": {}})
        );
    }

    #[test]
    fn what_is_no_document_is_left_alone() {
        for text in ["[]", "{", "1", "{\"loadouts\": 3}"] {
            assert_eq!(
                add(text, "loadouts", "A", &json!({})),
                Err(EditError::NotADocument),
                "{text}"
            );
        }
        assert_eq!(set("nope", "a", &json!(1)), Err(EditError::NotADocument));
    }
}
