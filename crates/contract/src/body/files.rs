use crate::schema::JsonSchema;
use serde::{Deserialize, Serialize};

/// A configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigFile {
    /// Where it comes from: `shipped`, `profile`, `project`, `environment` or `option`.
    pub layer: String,
    /// Its path; relative to the project if it is inside.
    pub file: String,
    /// Its text; empty where it could not be read.
    pub text: String,
    /// The hash of its bytes, which names this content of it.
    pub hash: String,
    /// Whether it can be changed; what is shipped cannot.
    pub editable: bool,
}
