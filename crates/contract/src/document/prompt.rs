//! What an agent is asked, as its author writes it.

use crate::schema::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Extra;

/// What an agent is asked: the words, or the file that has them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PromptDoc {
    /// The words.
    Text(String),
    /// The file that has them.
    File(PromptFile),
}

impl PromptDoc {
    /// The words, where they stand in the configuration itself.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::File(_) => None,
        }
    }
}

/// A file with words for an agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptFile {
    /// Its path, from the folder of the configuration file that names it; it lies inside that folder.
    pub file: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A socket's own words: added to those of its materia, or in their place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SocketPromptDoc {
    /// Words that are added.
    Text(String),
    /// Words of a file that are added, or words that take the place of the materia's.
    Form(SocketPromptForm),
}

/// `{"file": PATH}` or `{"replace": …}`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SocketPromptForm {
    /// A file with words that are added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Words that take the place of the materia's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace: Option<PromptDoc>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
