//! The document format of configuration files.
//!
//! Every field is optional here and unknown ones are kept, so that reading and writing a document loses nothing. The
//! JSON Schema under `schemas/` is generated from these types; the compiler checks documents against the same schema
//! before it interprets them.

mod agents;
mod edge;
mod keywords;
mod limits;
mod loops;
mod materia;
mod prompt;
mod socket;

use crate::schema::{JsonSchema, omit_none};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use agents::*;
pub use edge::*;
pub use keywords::*;
pub use limits::*;
pub use loops::*;
pub use materia::*;
pub use prompt::*;
pub use socket::*;

/// Fields this version does not know. They are kept, and reported.
pub type Extra = IndexMap<String, Value>;

/// A configuration file.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The JSON Schema that an editor uses to complete and check this file. `materia schemas .materia` writes it.
    #[serde(rename = "$schema")]
    #[schemars(extend("examples" = [".materia/config.schema.json"]))]
    pub schema: Option<String>,
    /// The folder in which casts are stored. A path in a project's own file must stay inside the project.
    #[schemars(extend("default" = ".materia", "examples" = [".materia"]))]
    pub artifact_dir: Option<String>,
    /// The loadout that `materia cast` runs without `--loadout`. If it is missing, your only loadout runs, or
    /// `Full-Auto` if you have none.
    #[schemars(extend("examples" = ["Test-And-Fix"]))]
    pub active_loadout: Option<String>,
    /// Your graphs, by name. A loadout replaces a shipped one with the same name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(extend("examples" = [{"Hello": {"entry": "hello", "sockets": {"hello": {"materia": "Say-Hello"}}}}]))]
    pub loadouts: IndexMap<String, Loadout>,
    /// Your agents and utilities, by name. A materia replaces a shipped one with the same name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(extend("examples" = [{"Test": {"type": "utility", "command": ["npm", "test"]}}]))]
    pub materia: IndexMap<String, Materia>,
    /// Limits on repetition, retries, parallel turns and storage.
    #[schemars(extend("examples" = [{"maxRetries": 2}]))]
    pub limits: Option<LimitsDoc>,
    /// The most that one cast may spend. A cast that reaches it waits for you.
    #[schemars(extend("examples" = [{"maxCost": 5, "maxTurns": 40}]))]
    pub budget: Option<BudgetDoc>,
    /// The only folder that turns may write to in Planning mode.
    #[schemars(extend("default" = "docs", "examples" = ["docs"]))]
    pub doc_root: Option<String>,
    /// The folder that turns work in: the project itself, or a copy of the git repository for each cast.
    #[schemars(extend("default" = "project", "examples" = ["own"]))]
    pub workspace: Option<WorkspaceKind>,
    /// The agent for every materia that names none. If it is missing, the first installed agent is used.
    #[schemars(extend("examples" = ["codex"]))]
    pub provider: Option<String>,
    /// Settings for agents, by name. Add a new name with `"protocol": "acp"` to use another program.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(extend("examples" = [{"claude": {"model": "sonnet"}}]))]
    pub agents: IndexMap<String, AgentDoc>,
    /// Prices of tokens, for agents that report tokens but no cost.
    #[schemars(extend("examples" = [{"date": "2026-11-01", "models": {"gpt-5": {"input": 1.25, "output": 10}}}]))]
    pub prices: Option<PricesDoc>,
    /// The command that runs when a cast begins to wait. The message is its last argument. Only the value in your
    /// profile is used.
    #[schemars(extend("examples" = [["notify-send", "Materia"]]))]
    pub notify: Option<Vec<String>>,
    /// The journal that casts are kept in: `sqlite`, a file in the project, or the address of NATS servers. Only the
    /// value in your profile is used.
    #[schemars(extend("default" = "sqlite", "examples" = ["nats://127.0.0.1:4222"]))]
    pub journal: Option<String>,
    /// The name that keeps the casts of this project apart from others on the same NATS servers: a-z, 0-9 and `-`.
    /// If it is missing, the name and path of the folder make one. Only the value in your profile is used.
    #[schemars(extend("examples" = ["shop"]))]
    pub space: Option<String>,
    /// How many NATS servers keep each event, when a space is made. Only the value in your profile is used.
    #[schemars(extend("default" = 1, "examples" = [3]), range(min = 1, max = 5))]
    pub replicas: Option<u8>,
    /// The time after which a cast on NATS can be taken over from a machine that is gone, when a space is made. Only
    /// the value in your profile is used.
    #[schemars(extend("default" = 15, "examples" = [30]), range(min = 3, max = 3600))]
    pub lease_seconds: Option<u32>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A graph of sockets.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Loadout {
    /// The socket that runs first.
    #[schemars(extend("examples" = ["plan"]))]
    pub entry: Option<String>,
    /// A sentence about the loadout, shown in lists.
    #[schemars(extend("examples" = ["Runs the tests and lets an agent fix what fails."]))]
    pub description: Option<String>,
    /// The folder that turns of this loadout work in. It overrides `workspace` of the configuration.
    #[schemars(extend("examples" = ["own"]))]
    pub workspace: Option<WorkspaceKind>,
    /// The sockets, by id. An id has 1 to 64 of `A-Z a-z 0-9 . _ -`, starts with a letter or digit, and is not
    /// `end` or `fail`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(extend("examples" = [{"test": {"materia": "Test"}}]))]
    pub sockets: IndexMap<String, Socket>,
    /// Loops, by id. The sockets in a loop run once for each work item.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(extend("examples" = [{"items": {"sockets": ["build"], "consumes": {"from": "plan", "output": "workItems"}}}]))]
    pub loops: IndexMap<String, LoopDoc>,
    /// Properties that must hold in every history of the loadout; `check --prove` checks them. They are not part of
    /// the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [["always eval before ship", "never-drops"]]))]
    pub properties: Vec<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
