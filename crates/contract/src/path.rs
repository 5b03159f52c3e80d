//! The path grammar of `assign`, `where` and `foreach.items`: dots only, no expressions.

use crate::schema::JsonSchema;
use serde::{Deserialize, Serialize};

/// A place to read a value from: `$`, `$.a.0.b`, `state.a`, `item.title`, `lastJson.a`, `lastOutput`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Path {
    /// Where reading begins.
    pub root: Root,
    /// The steps from there: object keys, or indices where the value is an array.
    pub steps: Vec<String>,
}

/// The value that the first word of a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// `$`: the parsed output of this turn. In a `transform` it is the payload.
    Output,
    /// `state`: the variables of the run.
    State,
    /// `item`: the current work item.
    Item,
    /// `lastJson`: the last parsed output of the run.
    LastJson,
    /// `lastOutput`: the last output of the run as text.
    LastOutput,
}

impl Root {
    fn word(self) -> &'static str {
        match self {
            Self::Output => "$",
            Self::State => "state",
            Self::Item => "item",
            Self::LastJson => "lastJson",
            Self::LastOutput => "lastOutput",
        }
    }
}

/// Why a path was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The first word names nothing.
    #[error("`{0}` is not a path: it starts with none of $, state, item, lastJson, lastOutput")]
    UnknownRoot(String),
    /// Two dots in a row, or one at an end.
    #[error("`{0}` is not a path: a step between its dots is empty")]
    EmptyStep(String),
    /// `lastOutput` is text, and text has no parts.
    #[error("`{0}` is not a path: lastOutput is text and has no parts")]
    StepsIntoText(String),
}

impl std::str::FromStr for Path {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let mut parts = text.split('.');
        let root = match parts.next().unwrap_or_default() {
            "$" => Root::Output,
            "state" => Root::State,
            "item" => Root::Item,
            "lastJson" => Root::LastJson,
            "lastOutput" => Root::LastOutput,
            _ => return Err(PathError::UnknownRoot(text.to_owned())),
        };
        let steps: Vec<String> = parts.map(str::to_owned).collect();
        if steps.iter().any(String::is_empty) {
            return Err(PathError::EmptyStep(text.to_owned()));
        }
        if root == Root::LastOutput && !steps.is_empty() {
            return Err(PathError::StepsIntoText(text.to_owned()));
        }
        Ok(Self { root, steps })
    }
}

impl TryFrom<String> for Path {
    type Error = PathError;

    fn try_from(text: String) -> Result<Self, PathError> {
        text.parse()
    }
}

impl From<Path> for String {
    fn from(path: Path) -> Self {
        path.to_string()
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.root.word())?;
        self.steps.iter().try_for_each(|step| write!(f, ".{step}"))
    }
}

/// Splits the target of an assignment into its steps, or says that it has an empty one.
pub fn target_steps(target: &str) -> Result<Vec<&str>, PathError> {
    let steps: Vec<&str> = target.split('.').collect();
    if steps.iter().any(|step| step.is_empty()) {
        return Err(PathError::EmptyStep(target.to_owned()));
    }
    Ok(steps)
}
