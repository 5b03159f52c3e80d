//! The configuration: its files, loadouts and materia.

use std::collections::BTreeMap;

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::body::{ConfigFile, Grid};
use crate::{Finding, MateriaKind, Parse, Plan, RunId, WorkspaceKind};

/// A configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigBody {
    /// The files, the weakest first.
    pub items: Vec<ConfigFile>,
    /// The findings of a check of these files.
    pub findings: Vec<Finding>,
}

/// A file as it is to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SaveBody {
    /// All of it.
    pub text: String,
}

/// A file that was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Saved {
    /// The hash that it has now.
    pub hash: String,
}

/// Documents to check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CheckBody {
    /// The project whose other files they belong to.
    pub project: Option<String>,
    /// The documents by the name of their file.
    pub files: BTreeMap<String, String>,
    /// The loadout whose graph is wanted as well.
    pub loadout: Option<String>,
}

/// Result of a check.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Findings {
    /// Whether nothing among it is an error.
    pub ok: bool,
    /// All of it.
    pub findings: Vec<Finding>,
    /// The graph of the loadout that was named, where it has no error.
    pub graph: Option<Grid>,
    /// The plan of that loadout, where it has no error.
    pub plan: Option<Plan>,
}

/// Loadouts or materia.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Catalog {
    /// By name.
    pub items: Vec<CatalogItem>,
}

/// A loadout or a materia.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CatalogItem {
    /// Its name.
    pub name: String,
    /// The layer it comes from.
    pub layer: String,
    /// The file.
    pub file: String,
    /// Whether it is the loadout that is cast when none is named.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub active: bool,
    /// Of a materia: `agent` or `utility`.
    pub kind: Option<MateriaKind>,
    /// Of a materia: whether its output has work items.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub generator: bool,
    /// Of a materia: its name for people.
    pub label: Option<String>,
    /// Its purpose, in a sentence.
    pub description: Option<String>,
    /// Of a materia: where it is listed.
    pub group: Option<String>,
    /// Of a materia: its colour.
    pub color: Option<String>,
    /// Of a materia: how its output is read.
    pub parse: Option<Parse>,
    /// Its definition, with all layers merged.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub value: Value,
}

/// A loadout.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoadoutView {
    /// Its name.
    pub name: String,
    /// Its graph, where it has no error.
    pub graph: Option<Grid>,
    /// Its plan, where it has no error.
    pub plan: Option<Plan>,
    /// The findings of a check.
    pub findings: Vec<Finding>,
    /// Whether its turns may change files of the project, unless the cast is in Planning.
    pub may_write: bool,
    /// Where its turns work unless the cast says otherwise.
    pub workspace: WorkspaceKind,
    /// The casts that are driven in the project's folder now.
    pub beside: Vec<DrivenCast>,
}

/// A cast that is driven now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DrivenCast {
    /// Its id.
    pub cast_id: RunId,
    /// Whether its turns may change files of the project.
    pub may_write: bool,
}
