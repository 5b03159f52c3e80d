//! Prompts, as an author writes them.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};

use crate::Extra;

/// The prompt of a materia: a string, or a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PromptDoc {
    /// The text.
    Text(String),
    /// A file with the text.
    File(PromptFile),
}

impl PromptDoc {
    /// The words, where they stand in the configuration itself.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::File(_) => None,
        }
    }
}

/// A file with a prompt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptFile {
    /// The path of the file, relative to the configuration file and inside its folder.
    #[schemars(extend("examples" = ["prompts/build.md"]))]
    pub file: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The prompt of a socket: added to the prompt of its materia, or instead of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SocketPromptDoc {
    /// Text that is added.
    Text(String),
    /// A file with text that is added, or text that replaces the prompt of the materia.
    Form(SocketPromptForm),
}

/// `{"file": PATH}` or `{"replace": …}`.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SocketPromptForm {
    /// A file with text that is added to the prompt of the materia.
    #[schemars(extend("examples" = ["prompts/build-here.md"]))]
    pub file: Option<String>,
    /// Text, or a file, that replaces the prompt of the materia.
    #[schemars(extend("examples" = ["Write the release notes."]))]
    pub replace: Option<PromptDoc>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
