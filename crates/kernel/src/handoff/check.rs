//! Checks an object against the handoff contract. Every fault names its path.

use serde_json::{Map, Value};

use crate::shorten::kind_of;

/// Fields that the graph reads from an output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// It must have `workItems`.
    pub(crate) work_items: bool,
    /// It must have `satisfied`.
    pub(crate) verdict: bool,
}

/// A checked handoff object.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Checked {
    pub(crate) verdict: Option<bool>,
    /// The items with `title` and `context` and nothing else.
    pub(crate) items: Option<Vec<Value>>,
    /// Extra fields of items, as paths.
    pub(crate) item_extras: Vec<String>,
}

/// Checks an object, or says every way in which it breaks the contract.
pub(crate) fn check(object: &Map<String, Value>, needs: Needs) -> Result<Checked, Vec<String>> {
    let mut faults = Vec::new();
    let mut checked = Checked::default();
    match object.get("satisfied") {
        Some(Value::Bool(verdict)) => checked.verdict = Some(*verdict),
        Some(other) => {
            faults.push(format!("$.satisfied must be true or false, not {}", kind_of(other)));
        }
        None if needs.verdict => {
            faults.push("$.satisfied is missing; routing here needs true or false".to_owned());
        }
        None => {}
    }
    match object.get("workItems") {
        Some(Value::Array(items)) => work_items(items, &mut checked, &mut faults),
        Some(other) => faults.push(format!("$.workItems must be an array, not {}", kind_of(other))),
        None if needs.work_items => {
            faults.push("$.workItems is missing; a generator must return it".to_owned());
        }
        None => {}
    }
    if let Some(other) = object.get("context").filter(|context| !context.is_string()) {
        faults.push(format!("$.context must be a string, not {}", kind_of(other)));
    }
    if faults.is_empty() { Ok(checked) } else { Err(faults) }
}

/// A work item is exactly `{title, context}`, both strings (H3).
fn work_items(items: &[Value], checked: &mut Checked, faults: &mut Vec<String>) {
    let mut kept = Vec::with_capacity(items.len());
    for (place, item) in items.iter().enumerate() {
        let Value::Object(fields) = item else {
            faults.push(format!("$.workItems.{place} must be an object, not {}", kind_of(item)));
            continue;
        };
        let mut slim = Map::new();
        for name in ["title", "context"] {
            match fields.get(name) {
                Some(text @ Value::String(_)) => {
                    slim.insert(name.to_owned(), text.clone());
                }
                Some(other) => faults.push(format!(
                    "$.workItems.{place}.{name} must be a string, not {}",
                    kind_of(other)
                )),
                None => faults.push(format!("$.workItems.{place}.{name} is missing")),
            }
        }
        let extras = fields.keys().filter(|name| !slim.contains_key(*name));
        let extras = extras.filter(|name| !["title", "context"].contains(&name.as_str()));
        checked.item_extras.extend(extras.map(|name| format!("$.workItems.{place}.{name}")));
        kept.push(Value::Object(slim));
    }
    checked.items = Some(kept);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn faults(value: &Value, needs: Needs) -> Vec<String> {
        check(value.as_object().unwrap(), needs).err().unwrap_or_default()
    }

    #[test]
    fn every_fault_is_named_by_its_path() {
        let value = json!({
            "satisfied": "true",
            "context": 3,
            "workItems": [{"title": "a"}, 7, {"title": 1, "context": null}],
        });
        let told = faults(&value, Needs::default()).join("\n");
        for path in [
            "$.satisfied must",
            "$.context must",
            "$.workItems.0.context is missing",
            "$.workItems.1 must",
            "$.workItems.2.title must",
            "$.workItems.2.context must",
        ] {
            assert!(told.contains(path), "{path} in {told}");
        }
    }

    #[test]
    fn what_the_graph_needs_must_be_there() {
        let needs = Needs { work_items: true, verdict: true };
        assert_eq!(faults(&json!({}), needs).len(), 2);
        assert!(faults(&json!({}), Needs::default()).is_empty());
        for verdict in [json!("true"), json!(1), json!(null)] {
            assert_eq!(faults(&json!({ "satisfied": verdict }), Needs::default()).len(), 1);
        }
    }

    #[test]
    fn extra_fields_of_items_are_removed_and_named() {
        let value = json!({"workItems": [{"title": "a", "context": "b", "id": 1}]});
        let checked = check(value.as_object().unwrap(), Needs::default()).unwrap();
        assert_eq!(checked.items, Some(vec![json!({"title": "a", "context": "b"})]));
        assert_eq!(checked.item_extras, ["$.workItems.0.id"]);
    }
}
