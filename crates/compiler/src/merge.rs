//! Lays one document over another, and remembers where everything came from.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::fault::{Fault, Faults};
use crate::files::LayerKind;
use crate::locate::pointer;

/// The objects whose entries replace each other whole.
const NAMED: [&str; 2] = ["materia", "loadouts"];

/// Which layer gave a value, by the JSON Pointer of the value: `/materia/x`, `/activeLoadout`,
/// `/limits/maxRepairs`.
#[derive(Debug, Default, Clone)]
pub(crate) struct Origins(HashMap<String, usize>);

impl Origins {
    pub(crate) fn of(&self, pointer: &str) -> Option<usize> {
        self.0.get(pointer).copied()
    }

    /// Every value with the layer that gave it, in the order of their places.
    pub(crate) fn all(&self) -> Vec<(&str, usize)> {
        let mut all: Vec<_> =
            self.0.iter().map(|(place, layer)| (place.as_str(), *layer)).collect();
        all.sort_unstable();
        all
    }
}

/// The layers so far as one document.
#[derive(Debug, Default, Clone)]
pub(crate) struct Merge {
    pub(crate) document: Map<String, Value>,
    pub(crate) origins: Origins,
    kinds: Vec<(usize, LayerKind)>,
}

impl Merge {
    /// Lays the next stronger layer on top.
    pub(crate) fn add(
        &mut self,
        layer: usize,
        kind: LayerKind,
        document: Map<String, Value>,
        faults: &mut Faults,
    ) {
        self.kinds.push((layer, kind));
        for (name, value) in document {
            match value {
                // Each file names its own schema, and nothing is said by null.
                _ if name == "$schema" => {}
                Value::Null => {}
                Value::Object(entries) => {
                    let named = NAMED.contains(&name.as_str());
                    self.object(&name);
                    for (key, entry) in entries {
                        if named {
                            self.report(layer, &name, &key, faults);
                        }
                        self.entry(layer, &name, key, entry);
                    }
                }
                Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                    self.origins.0.insert(pointer([name.as_str()]), layer);
                    self.document.insert(name, value);
                }
            }
        }
    }

    fn entry(&mut self, layer: usize, name: &str, key: String, entry: Value) {
        if entry.is_null() {
            return;
        }
        self.origins.0.insert(pointer([name]), layer);
        self.origins.0.insert(pointer([name, key.as_str()]), layer);
        if let Value::Object(entries) = self.object(name) {
            entries.insert(key, entry);
        }
    }

    /// The object of that name, which takes the place of anything else.
    fn object(&mut self, name: &str) -> &mut Value {
        let slot = self.document.entry(name).or_insert_with(|| Value::Object(Map::new()));
        if !slot.is_object() {
            *slot = Value::Object(Map::new());
        }
        slot
    }

    fn report(&self, layer: usize, name: &str, key: &str, faults: &mut Faults) {
        let place = pointer([name, key]);
        let Some(before) = self.origins.of(&place) else { return };
        if !self.kinds.contains(&(before, LayerKind::Shipped)) {
            return;
        }
        let thing = name.strip_suffix('s').unwrap_or(name);
        let message = format!("this replaces the shipped {thing} `{key}` whole");
        let fault = Fault::info("config::replaces-shipped", message).at(layer, &place);
        faults.push(fault.help("give it another name to keep both"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn merge(layers: [(LayerKind, Value); 2]) -> (Merge, usize) {
        let mut merge = Merge::default();
        let mut faults = Faults::default();
        for (index, (kind, value)) in layers.into_iter().enumerate() {
            merge.add(index, kind, value.as_object().unwrap().clone(), &mut faults);
        }
        let found = faults.placeless();
        assert!(found.iter().all(|finding| finding.code == "config::replaces-shipped"));
        (merge, found.len())
    }

    #[test]
    fn named_things_replace_each_other_whole_and_other_objects_field_by_field() {
        let lower = json!({
            "materia": {"a": {"label": "old", "prompt": "p"}, "b": {}},
            "limits": {"maxRepairs": 2, "maxConcurrentTurns": 8},
            "activeLoadout": "x",
        });
        let upper = json!({
            "materia": {"a": {"label": "new"}},
            "limits": {"maxRepairs": 5},
            "activeLoadout": null,
        });
        let (merge, replaced) = merge([(LayerKind::Shipped, lower), (LayerKind::Project, upper)]);
        assert_eq!(
            Value::Object(merge.document),
            json!({
                "materia": {"a": {"label": "new"}, "b": {}},
                "limits": {"maxRepairs": 5, "maxConcurrentTurns": 8},
                "activeLoadout": "x",
            })
        );
        assert_eq!(replaced, 1, "a replaced shipped materia is mentioned");
        assert_eq!(merge.origins.of("/materia/a"), Some(1));
        assert_eq!(merge.origins.of("/materia/b"), Some(0));
        assert_eq!(merge.origins.of("/limits/maxConcurrentTurns"), Some(0));
        assert_eq!(merge.origins.of("/activeLoadout"), Some(0));
    }

    #[test]
    fn replacing_what_is_not_shipped_is_not_mentioned() {
        let document = json!({"loadouts": {"l": {}}});
        let layers = [(LayerKind::Profile, document.clone()), (LayerKind::Project, document)];
        assert_eq!(merge(layers).1, 0);
    }
}
