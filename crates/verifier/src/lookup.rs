//! Reading and writing by path (D4).

use std::borrow::Cow;

use materia_contract::{Guard, Path, Root, Test};
use serde_json::{Map, Value};

/// The values that a path can read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) output: Option<&'a Value>,
    /// Variables that are about to change; they hide those of the run.
    pub(crate) pending: Option<&'a Map<String, Value>>,
    pub(crate) state: &'a Map<String, Value>,
    pub(crate) item: Option<&'a Value>,
    pub(crate) last_output: Option<&'a str>,
    pub(crate) last_json: Option<&'a Value>,
}

impl<'a> Scope<'a> {
    /// The value at a path; `null` is one.
    pub(crate) fn get(&self, path: &Path) -> Option<Cow<'a, Value>> {
        let steps = path.steps.as_slice();
        match path.root {
            Root::Output => descend(self.output?, steps).map(Cow::Borrowed),
            Root::Item => descend(self.item?, steps).map(Cow::Borrowed),
            Root::LastJson => descend(self.last_json?, steps).map(Cow::Borrowed),
            Root::LastOutput => Some(Cow::Owned(Value::from(self.last_output?))),
            Root::State => match steps.split_first() {
                None => {
                    let mut all = self.state.clone();
                    let changed = self.pending.into_iter().flatten();
                    all.extend(changed.map(|(name, value)| (name.clone(), value.clone())));
                    Some(Cow::Owned(Value::Object(all)))
                }
                Some((name, rest)) => {
                    let changed = self.pending.and_then(|pending| pending.get(name));
                    descend(changed.or_else(|| self.state.get(name))?, rest).map(Cow::Borrowed)
                }
            },
        }
    }

    /// Whether a comparison holds (D2).
    pub(crate) fn holds(&self, guard: &Guard) -> bool {
        let value = self.get(&guard.path);
        match &guard.test {
            Test::Equals(expected) => value.is_some_and(|value| *value == *expected),
            Test::NotEquals(other) => value.is_none_or(|value| *value != *other),
            Test::Exists(wanted) => value.is_some() == *wanted,
        }
    }
}

fn descend<'a>(start: &'a Value, steps: &[String]) -> Option<&'a Value> {
    let mut value = start;
    for step in steps {
        value = match value {
            Value::Object(object) => object.get(step)?,
            Value::Array(list) => list.get(step.parse::<usize>().ok()?)?,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
        };
    }
    Some(value)
}

/// Sets the value at a dotted target, making objects on the way.
pub(crate) fn assign(variables: &mut Map<String, Value>, target: &str, value: Value) {
    let mut object = variables;
    let mut left = target;
    while let Some((name, rest)) = left.split_once('.') {
        let slot = object.entry(name).or_insert(Value::Null);
        if !slot.is_object() {
            *slot = Value::Object(Map::new());
        }
        let Value::Object(inner) = slot else { return };
        (object, left) = (inner, rest);
    }
    object.insert(left.to_owned(), value);
}
