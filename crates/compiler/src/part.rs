//! Parts of a project's own files, as data.

use serde_json::{Map, Value};

/// Kind of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PartKind {
    /// A materia.
    Materia,
    /// A graph.
    Loadout,
    /// How an agent is started.
    Agent,
    /// Anything else: a limit, a budget, a folder, a choice.
    Setting,
}

/// A program that a part would start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Who starts it: a materia, an agent, a socket of a loadout.
    pub by: String,
    /// The program and its arguments, as they would run.
    pub command: Vec<String>,
    /// Its `params`.
    pub params: Map<String, Value>,
    /// Variables of its environment.
    pub env: Vec<(String, String)>,
    /// The folder it runs in, relative to the project.
    pub cwd: Option<String>,
}

/// One part of what a project's own files say.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Kind of the part.
    pub kind: PartKind,
    /// Its name.
    pub name: String,
    /// The file that it stands in, as a path for people.
    pub file: String,
    /// Content that needs approval.
    pub content: Value,
    /// Programs that it would start.
    pub programs: Vec<Program>,
    /// Whether it takes the place of something that is shipped.
    pub replaces_shipped: bool,
}
