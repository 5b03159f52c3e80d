//! The folders that are served.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};

use crate::RunId;
use crate::body::WorkerBody;

/// A folder that is served.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectItem {
    /// Id of the project in queries.
    pub id: String,
    /// The folder.
    pub dir: String,
    /// The last part of it.
    pub name: String,
    /// Why its casts cannot be read, where that is so.
    pub problem: Option<String>,
    /// The space of its casts, where they are on NATS.
    pub space: Option<String>,
}

/// The workers of each space that is served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Workers {
    /// One for each project whose casts are on NATS.
    pub items: Vec<SpaceItem>,
}

/// A space and its workers.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpaceItem {
    /// The project.
    pub project: String,
    /// The space.
    pub space: String,
    /// The words of the command that starts a worker of it, in the folder of the project.
    pub start: Vec<String>,
    /// Its workers, each as `workers --json` has it.
    pub workers: Vec<WorkerBody>,
    /// Casts that wait for a worker.
    pub waiting: Vec<RunId>,
    /// Why its workers are not known, where that is so.
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
