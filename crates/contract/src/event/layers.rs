//! The layers of a prompt, and their stored form.
//!
//! An event stores a layer without `start`, because it begins where the one before it ends, and without the `origin`
//! that its name tells. `materia events --json` prints layers in full.

use std::borrow::Cow;

use crate::schema::JsonSchema;
use serde::{Deserialize, Serialize};

/// One part of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptLayer {
    /// Its kind: `materia`, `request`, `incoming`, `item`, `followUp`, `mode`, `output`, …
    pub name: Cow<'static, str>,
    /// Where it comes from: a place in the configuration, a payload, an event.
    pub origin: Cow<'static, str>,
    /// Its first byte.
    pub start: usize,
    /// The byte behind its last.
    pub end: usize,
}

/// One part of a prompt, as an event stores it.
#[derive(Debug, Serialize, Deserialize)]
struct StoredLayer<'a> {
    name: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<Cow<'a, str>>,
    end: usize,
}

/// The origin of a stored layer that has none, by its name.
fn usual_origin(name: &str) -> Option<&'static str> {
    match name {
        "request" => Some("event 1"),
        "mode" => Some("global mode"),
        "output" => Some("contract"),
        "tick" => Some("session"),
        _ => None,
    }
}

/// Writes and reads the layers of an event.
pub(super) mod stored_layers {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{Cow, PromptLayer, StoredLayer, usual_origin};

    pub(in super::super) fn serialize<S: Serializer>(
        layers: &[PromptLayer],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(layers.iter().map(|layer| {
            let origin = (usual_origin(&layer.name) != Some(&*layer.origin))
                .then_some(Cow::Borrowed(&*layer.origin));
            StoredLayer { name: Cow::Borrowed(&*layer.name), origin, end: layer.end }
        }))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<PromptLayer>, D::Error> {
        let mut start = 0;
        let whole = |layer: StoredLayer<'_>| {
            let StoredLayer { name, origin, end } = layer;
            let origin = match origin {
                Some(origin) => origin.into_owned().into(),
                None => usual_origin(&name)
                    .ok_or_else(|| D::Error::custom(format!("the layer `{name}` has no origin")))?
                    .into(),
            };
            let layer = PromptLayer { name: name.into_owned().into(), origin, start, end };
            start = end;
            Ok(layer)
        };
        Vec::<StoredLayer<'_>>::deserialize(deserializer)?.into_iter().map(whole).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Layers(#[serde(with = "stored_layers")] Vec<PromptLayer>);

    #[test]
    fn a_layer_is_stored_without_what_follows_from_the_rest() {
        let layer = |name: &str, origin: &str, start, end| PromptLayer {
            name: name.to_owned().into(),
            origin: origin.to_owned().into(),
            start,
            end,
        };
        let layers = Layers(vec![
            layer("materia", "materia.json#/materia/a/prompt", 0, 8),
            layer("request", "event 1", 8, 30),
            layer("request", "event 7", 30, 31),
            layer("mode", "global mode", 31, 40),
            layer("output", "contract", 40, 50),
        ]);
        let stored = json!([
            {"name": "materia", "origin": "materia.json#/materia/a/prompt", "end": 8},
            {"name": "request", "end": 30},
            {"name": "request", "origin": "event 7", "end": 31},
            {"name": "mode", "end": 40},
            {"name": "output", "end": 50},
        ]);
        assert_eq!(serde_json::to_value(&layers).unwrap(), stored);
        assert_eq!(serde_json::from_value::<Layers>(stored).unwrap(), layers);
        let nameless = json!([{"name": "materia", "end": 8}]);
        let error = serde_json::from_value::<Layers>(nameless).unwrap_err();
        assert!(error.to_string().contains("the layer `materia` has no origin"), "{error}");
    }
}
