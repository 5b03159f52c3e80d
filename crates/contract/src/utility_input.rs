//! Input of a utility, stored as its parts (D58).
//!
//! Nearly all of the object is in the journal already: the variables in the events that set them, the item in its
//! list, the request in the first event. So the event stores each field as a value or as a reference to its source,
//! and the hash of the whole. The size of a stored step does not grow with the variables.

use std::sync::Arc;

use crate::schema::{JsonSchema, omit_none};
use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// A utility's input, whole or as its parts.
#[derive(Debug, Clone)]
pub struct UtilityInput {
    kept: Kept,
    /// The object itself, where it is at hand. It follows from the parts and is not kept.
    whole: Option<Arc<Value>>,
}

#[cfg(feature = "schemas")]
impl JsonSchema for UtilityInput {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "UtilityInput".into()
    }

    /// The object that `materia events --json` prints.
    fn json_schema(generator: &mut crate::schema::SchemaGenerator) -> crate::schema::Schema {
        serde_json::Map::<String, Value>::json_schema(generator)
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Kept {
    /// As journals before version 3 have it.
    Whole,
    Parts(Box<InputParts>),
}

/// The parts of a utility's input.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InputParts {
    /// The BLAKE3 hash of the exact text that the utility reads, in hexadecimal.
    pub hash: String,
    /// The fields of the object, in order; empty where `same_as` is set.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub fields: IndexMap<String, InputPart>,
    /// The attempt whose input it is once more.
    pub same_as: Option<u64>,
}

/// One field of a utility's input: `[value]`, or the name of the place it is taken from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum InputPart {
    /// This value.
    Value([Value; 1]),
    /// The value of that source.
    From(InputSource),
    /// The variables, with the item among them under this name.
    StateWith {
        /// The name.
        state: String,
    },
}

/// Where the value of a field is, as of the event that keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum InputSource {
    /// The project folder: `run.created`, or the newest `run.resumed`.
    Cwd,
    /// The folder of the cast, from the same events.
    RunDir,
    /// The request: `run.created`.
    Request,
    /// The node's parameters: the plan in `run.created`.
    Params,
    /// The variables: `run.created` and every `state.patched`.
    State,
    /// The item at the cursor of the innermost list around the node.
    Item,
    /// The payloads that the turn consumes, as envelopes.
    Inputs,
}

impl InputPart {
    /// A value that stands for itself.
    pub fn value(value: impl Into<Value>) -> Self {
        Self::Value([value.into()])
    }
}

impl UtilityInput {
    /// An input that is kept by its parts.
    pub fn in_parts(parts: InputParts, whole: Arc<Value>) -> Self {
        Self { kept: Kept::Parts(Box::new(parts)), whole: Some(whole) }
    }

    /// An input as it is.
    pub fn whole(value: impl Into<Arc<Value>>) -> Self {
        Self { kept: Kept::Whole, whole: Some(value.into()) }
    }

    /// The parts that it is kept as.
    pub fn parts(&self) -> Option<&InputParts> {
        match &self.kept {
            Kept::Whole => None,
            Kept::Parts(parts) => Some(parts),
        }
    }

    /// The object itself, where it is at hand.
    pub fn at_hand(&self) -> Option<&Arc<Value>> {
        self.whole.as_ref()
    }

    /// The value of a field, where it is at hand or stands for itself.
    pub fn field(&self, name: &str) -> Option<&Value> {
        if let Some(whole) = &self.whole {
            return whole.get(name);
        }
        match self.parts()?.fields.get(name)? {
            InputPart::Value([value]) => Some(value),
            InputPart::From(_) | InputPart::StateWith { .. } => None,
        }
    }

    /// The exact text that a utility reads.
    pub fn text_of(value: &Value) -> String {
        serde_json::to_string(value).expect("a value always renders")
    }
}

impl PartialEq for UtilityInput {
    fn eq(&self, other: &Self) -> bool {
        match (&self.kept, &other.kept) {
            (Kept::Parts(one), Kept::Parts(other)) => one == other,
            (Kept::Whole, Kept::Whole) => self.whole == other.whole,
            (Kept::Whole, Kept::Parts(_)) | (Kept::Parts(_), Kept::Whole) => false,
        }
    }
}

impl Serialize for UtilityInput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.kept {
            Kept::Parts(parts) => parts.serialize(serializer),
            Kept::Whole => self.whole.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for UtilityInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        // No input of an earlier version has a field `hash`: its fields were always the same.
        if value.get("hash").is_some() && value.get("socketId").is_none() {
            let parts = serde_json::from_value(value).map_err(serde::de::Error::custom)?;
            return Ok(Self { kept: Kept::Parts(parts), whole: None });
        }
        Ok(Self::whole(value))
    }
}
