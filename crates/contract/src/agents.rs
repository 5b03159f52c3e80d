//! What a configuration says about the agents themselves: how they are started and what they cost.

use crate::schema::JsonSchema;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::{Amount, Extra};

/// How one agent is started.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentDoc {
    /// `acp` for a program that speaks the Agent Client Protocol; left out for a known agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<AgentProtocol>,
    /// The program and its first arguments; its usual name on the path if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// Further arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Further environment variables it may see, by name; a final `*` stands for any rest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// The model it runs on where a materia names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How often it may try a failed request again by itself; 2 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<u32>,
    /// How long it may say nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = crate::time::DURATION_MS_MAX))]
    pub idle_ms: Option<u64>,
    /// The most one turn may cost, where the agent can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = crate::AMOUNT_MAX))]
    pub max_turn_cost: Option<Amount>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A protocol that any program may speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AgentProtocol {
    /// The Agent Client Protocol, version 1.
    Acp,
}

/// What tokens cost, for agents that report tokens only.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PricesDoc {
    /// The day on which the prices were looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The prices, by the name of the model.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub models: IndexMap<String, PriceDoc>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a million tokens of one model cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PriceDoc {
    /// Tokens read.
    #[schemars(range(min = 0))]
    pub input: f64,
    /// Tokens written.
    #[schemars(range(min = 0))]
    pub output: f64,
    /// Tokens read from a cache; as `input` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub cached: Option<f64>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
