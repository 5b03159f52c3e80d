//! Settings of agents: how they are started, and prices of tokens.

use crate::schema::{JsonSchema, omit_none};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::{Amount, Extra};

/// Settings of one agent.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentDoc {
    /// `acp` for a program that speaks the Agent Client Protocol. Leave it out for a known agent.
    #[schemars(extend("examples" = ["acp"]))]
    pub protocol: Option<AgentProtocol>,
    /// The program and its first arguments. A known agent is found on `PATH` by its usual name.
    #[schemars(extend("examples" = [["opencode", "acp"]]))]
    pub command: Option<Vec<String>>,
    /// More arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [["--verbose"]]))]
    pub args: Vec<String>,
    /// Names of more environment variables that the agent may see. `*` at the end matches any rest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [["OPENCODE_*"]]))]
    pub env: Vec<String>,
    /// The model for materia that name none.
    #[schemars(extend("examples" = ["sonnet"]))]
    pub model: Option<String>,
    /// How often the agent itself may repeat a failed request, if it has such a setting.
    #[schemars(extend("default" = 2, "examples" = [0]))]
    pub retries: Option<u32>,
    /// How long the agent may be silent before it is stopped, in milliseconds.
    #[schemars(range(min = 1, max = crate::time::DURATION_MS_MAX))]
    #[schemars(extend("default" = 900_000, "examples" = [600_000]))]
    pub idle_ms: Option<u64>,
    /// The most that one turn may cost, if the agent has such a setting.
    #[schemars(range(min = 0, max = crate::AMOUNT_MAX))]
    #[schemars(extend("examples" = [1.5]))]
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

/// Prices of tokens, for agents that report no cost.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PricesDoc {
    /// The day on which you looked up the prices.
    #[schemars(extend("examples" = ["2026-11-01"]))]
    pub date: Option<String>,
    /// The prices, by model.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(extend("examples" = [{"gpt-5": {"input": 1.25, "output": 10, "cached": 0.125}}]))]
    pub models: IndexMap<String, PriceDoc>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Prices of a million tokens of one model.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PriceDoc {
    /// The price of a million input tokens.
    #[schemars(range(min = 0))]
    #[schemars(extend("examples" = [1.25]))]
    pub input: f64,
    /// The price of a million output tokens.
    #[schemars(range(min = 0))]
    #[schemars(extend("examples" = [10]))]
    pub output: f64,
    /// The price of a million input tokens that were read from a cache. By default the price of `input`.
    #[schemars(range(min = 0))]
    #[schemars(extend("examples" = [0.125]))]
    pub cached: Option<f64>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
