//! Conformance cases: expected behaviour as data, readable without the code.

use crate::schema::{JsonSchema, omit_none};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One case.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Case {
    /// The behaviour that it shows, as a sentence.
    pub name: String,
    /// The requirements and decisions it shows; an author's own cases need none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<String>,
    /// The project's configuration: an object, or a string for text that is no JSON.
    pub config: Option<Value>,
    /// Answers for agent turns.
    pub script: Option<Value>,
    /// Files that lie in the project: path to content.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub files: IndexMap<String, Value>,
    /// Whether the project is a git repository with one commit that has all of its files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub git: bool,
    /// The arguments of `materia`.
    pub args: Vec<String>,
    /// Standard input of the command.
    pub input: Option<Value>,
    /// The expected result.
    pub expect: Value,
    /// Further commands in the same project, each with what must come out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<Step>,
}

/// A further command of a case.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Step {
    /// The arguments of `materia`.
    pub args: Vec<String>,
    /// Standard input of the command.
    pub input: Option<Value>,
    /// The expected result.
    pub expect: Value,
}
