//! The document format: what an author writes in a configuration file.
//!
//! Every field is optional here and unknown ones are kept, so that a document survives being
//! read and written by this version. The JSON Schema under `schemas/` is generated from these
//! types; the compiler checks documents against the same schema and then gives them meaning.

mod edge;
mod limits;
mod loops;
mod materia;
mod prompt;
mod socket;
mod words;

use crate::schema::JsonSchema;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{AgentDoc, PricesDoc};

pub use edge::*;
pub use limits::*;
pub use loops::*;
pub use materia::*;
pub use prompt::*;
pub use socket::*;
pub use words::*;

/// Fields this version does not know. They are kept, and reported.
pub type Extra = IndexMap<String, Value>;

/// A configuration file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The schema that editors use to complete this file.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Where casts are kept, relative to the project; `.materia` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_dir: Option<String>,
    /// The loadout that `materia cast` takes when none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_loadout: Option<String>,
    /// The graphs, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub loadouts: IndexMap<String, Loadout>,
    /// The reusable behaviours, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub materia: IndexMap<String, Materia>,
    /// Bounds that keep a cast from going on for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<LimitsDoc>,
    /// What a cast may spend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetDoc>,
    /// The only folder that turns may write to in Planning mode; `docs` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc_root: Option<String>,
    /// Where turns work: `project`, the default, or `own`, a copy of the git repository for each cast.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceKind>,
    /// The agent of every materia that names none; the first installed one if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// How agents are started, by name: a known one, or one that speaks a known protocol.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub agents: IndexMap<String, AgentDoc>,
    /// What tokens cost, for agents that report tokens only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<PricesDoc>,
    /// The command that calls you where a cast waits, as a list; the message is its last argument. It counts in
    /// your profile only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notify: Option<Vec<String>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A graph of sockets.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Loadout {
    /// The socket that a cast begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// What the loadout is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where its turns work; it wins over the configuration's `workspace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceKind>,
    /// The placed nodes, by id.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub sockets: IndexMap<String, Socket>,
    /// Regions that run once for each work item, by id.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub loops: IndexMap<String, LoopDoc>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
