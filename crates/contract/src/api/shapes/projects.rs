//! The folders that are served.

use crate::schema::JsonSchema;
use serde::{Deserialize, Serialize};

/// A folder that is served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectItem {
    /// Id of the project in queries.
    pub id: String,
    /// The folder.
    pub dir: String,
    /// The last part of it.
    pub name: String,
    /// Why its casts cannot be read, where that is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The folders that are served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Projects {
    /// In the order in which they were named.
    pub items: Vec<ProjectItem>,
}

/// A folder to be served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddProject {
    /// The folder, as an absolute path.
    pub dir: String,
}
