//! Reading and writing by path (D4).

use std::borrow::Cow;

use materia_contract::{Path, Root};
use serde_json::{Map, Value};

use crate::state::Run;

/// The values that a path can read.
pub(crate) struct Scope<'a> {
    /// `$`: the output of the turn that is being settled.
    pub(crate) output: Option<&'a Value>,
    /// `state`: variables that are about to change; they hide those of the run.
    pub(crate) pending: Option<&'a Map<String, Value>>,
    pub(crate) state: &'a Map<String, Value>,
    pub(crate) item: Option<&'a Value>,
    /// `lastOutput`.
    pub(crate) last_output: Option<&'a str>,
    /// The text whose value is `lastJson`; parsed only when asked for.
    pub(crate) last_json: Option<&'a str>,
}

impl<'a> Scope<'a> {
    /// The scope between turns.
    pub(crate) fn of(run: &'a Run) -> Self {
        Self {
            output: None,
            pending: None,
            state: &run.variables,
            item: None,
            last_output: run.last.text.as_deref(),
            last_json: run.last.json.as_deref(),
        }
    }

    /// A scope with one value, as `$`.
    pub(crate) fn of_output(output: &'a Value) -> Self {
        static NOTHING: std::sync::LazyLock<Map<String, Value>> =
            std::sync::LazyLock::new(Map::new);
        Self {
            output: Some(output),
            pending: None,
            state: &NOTHING,
            item: None,
            last_output: None,
            last_json: None,
        }
    }

    /// The value at `path`, or `None` where there is none. `null` is a value.
    pub(crate) fn get(&self, path: &Path) -> Option<Cow<'a, Value>> {
        match path.root {
            Root::Output => borrowed(descend(self.output?, &path.steps)),
            Root::Item => borrowed(descend(self.item?, &path.steps)),
            Root::LastOutput => Some(Cow::Owned(Value::from(self.last_output?))),
            Root::LastJson => {
                let value: Value = serde_json::from_str(self.last_json?.trim()).ok()?;
                descend(&value, &path.steps).cloned().map(Cow::Owned)
            }
            Root::State => self.variable(&path.steps),
        }
    }

    /// The list at a path, or `None` where there is none or something else.
    pub(crate) fn list(&self, path: &Path) -> Option<Vec<Value>> {
        match self.get(path)?.into_owned() {
            Value::Array(list) => Some(list),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_) => None,
        }
    }

    fn variable(&self, steps: &[String]) -> Option<Cow<'a, Value>> {
        let Some((name, rest)) = steps.split_first() else {
            let mut all = self.state.clone();
            all.extend(self.pending.into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())));
            return Some(Cow::Owned(Value::Object(all)));
        };
        let pending = self.pending.and_then(|pending| pending.get(name));
        borrowed(descend(pending.or_else(|| self.state.get(name))?, rest))
    }
}

fn borrowed(value: Option<&Value>) -> Option<Cow<'_, Value>> {
    value.map(Cow::Borrowed)
}

fn descend<'a>(start: &'a Value, steps: &[String]) -> Option<&'a Value> {
    steps.iter().try_fold(start, |value, step| match value {
        Value::Object(object) => object.get(step),
        Value::Array(list) => list.get(step.parse::<usize>().ok()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

/// Sets the value at a dotted target, creating objects on the way. Other values on the way are replaced by objects.
pub(crate) fn assign(variables: &mut Map<String, Value>, target: &str, value: Value) {
    let mut steps = target.split('.').peekable();
    let mut object = variables;
    while let Some(step) = steps.next() {
        if steps.peek().is_none() {
            object.insert(step.to_owned(), value);
            return;
        }
        let slot = object.entry(step).or_insert_with(|| Value::Object(Map::new()));
        if !slot.is_object() {
            *slot = Value::Object(Map::new());
        }
        object = slot.as_object_mut().expect("it was just made one");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn scope<'a>(output: &'a Value, state: &'a Map<String, Value>) -> Scope<'a> {
        Scope {
            output: Some(output),
            pending: None,
            state,
            item: None,
            last_output: Some("text"),
            last_json: Some(" {\"a\": 1} "),
        }
    }

    #[test]
    fn paths_walk_objects_and_arrays() {
        let output = json!({"a": [{"b": null}], "0": "key"});
        let state = json!({"v": {"kind": "git"}}).as_object().unwrap().clone();
        let scope = scope(&output, &state);
        let get = |path: &str| scope.get(&path.parse().unwrap()).map(Cow::into_owned);
        assert_eq!(get("$.a.0.b"), Some(Value::Null), "null is a value");
        assert_eq!(get("$.a.1.b"), None);
        assert_eq!(get("$.0"), Some(json!("key")));
        assert_eq!(get("state.v.kind"), Some(json!("git")));
        assert_eq!(get("state"), Some(json!({"v": {"kind": "git"}})));
        assert_eq!(get("lastOutput"), Some(json!("text")));
        assert_eq!(get("lastJson.a"), Some(json!(1)));
        assert_eq!(get("item"), None);
    }

    #[test]
    fn assigning_makes_objects_on_the_way() {
        let mut state = json!({"a": 1, "b": {"c": 2}}).as_object().unwrap().clone();
        assign(&mut state, "a.x.y", json!(true));
        assign(&mut state, "b.d", json!(3));
        assert_eq!(Value::Object(state), json!({"a": {"x": {"y": true}}, "b": {"c": 2, "d": 3}}));
    }
}
