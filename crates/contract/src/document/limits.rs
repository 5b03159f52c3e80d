//! Limits, budgets and permissions of a cast and its turns.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};

use crate::{Amount, Extra, ToolsDoc};

/// The most that may be said. An event has the whole text where JSON is read from it, and must stay readable.
pub const OUTPUT_MB_MAX: u64 = 128;

/// Limits of a cast.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LimitsDoc {
    /// How often an agent is asked again after an answer that breaks the contract.
    #[schemars(extend("default" = 1, "examples" = [2]))]
    pub max_repairs: Option<u32>,
    /// How many cycles may close without progress before the cast fails with `no_advance`.
    #[schemars(extend("default" = 3, "examples" = [5]))]
    pub max_no_advance_cycles: Option<u32>,
    /// How many turns of the cast may run at the same time.
    #[schemars(range(min = 1))]
    #[schemars(extend("default" = 64, "examples" = [4]))]
    pub max_concurrent_turns: Option<u32>,
    /// How many turns a socket with `routing: "all"` may take on a cycle without a bound. Then the cast waits for
    /// you.
    #[schemars(range(min = 1))]
    #[schemars(extend("default" = 50, "examples" = [20]))]
    pub max_cycle_turns: Option<u32>,
    /// How often a failed agent turn is tried again, if the error may pass (an overloaded server, a rate limit).
    /// The waits are 2, 4, 8 and 16 seconds.
    #[schemars(extend("default" = 4, "examples" = [2]))]
    pub max_retries: Option<u32>,
    /// How many megabytes a cast may store, journal and files together. Then it waits for you.
    #[schemars(range(min = 1))]
    #[schemars(extend("default" = 1024, "examples" = [4096]))]
    pub max_storage_mb: Option<u64>,
    /// How many megabytes of standard output and of standard error are kept for one command, each.
    #[schemars(range(min = 1, max = OUTPUT_MB_MAX))]
    #[schemars(extend("default" = 64, "examples" = [128]))]
    pub max_output_mb: Option<u64>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The budget of a cast.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetDoc {
    /// Tokens, input and output together.
    #[schemars(range(min = 1))]
    #[schemars(extend("examples" = [2_000_000]))]
    pub max_tokens: Option<u64>,
    /// Cost, in the currency that the agent reports.
    #[schemars(range(min = 0, max = crate::AMOUNT_MAX))]
    #[schemars(extend("examples" = [5]))]
    pub max_cost: Option<Amount>,
    /// Turns.
    #[schemars(range(min = 1))]
    #[schemars(extend("examples" = [40]))]
    pub max_turns: Option<u64>,
    /// The share of the budget at which the cast warns.
    #[schemars(range(min = 1, max = 100))]
    #[schemars(extend("default" = 75, "examples" = [90]))]
    pub warn_at_percent: Option<u32>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The budget of one socket.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeBudgetsDoc {
    /// Turns of this socket.
    #[schemars(extend("examples" = [12]))]
    pub turns: Option<u64>,
    /// Time that turns of this socket may take in total, in milliseconds.
    #[schemars(range(max = crate::time::DURATION_MS_MAX))]
    #[schemars(extend("examples" = [3_600_000]))]
    pub time_ms: Option<u64>,
    /// Cost of this socket, in the currency that the agent reports.
    #[schemars(range(max = crate::AMOUNT_MAX))]
    #[schemars(extend("examples" = [2]))]
    pub cost: Option<Amount>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Permissions of the turns of a socket.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyDoc {
    /// The tools that an agent may use here. It overrides `tools` of the socket and of the materia.
    #[schemars(extend("examples" = ["readOnly"]))]
    pub tools: Option<ToolsDoc>,
    /// The paths inside the project that turns may write to in Implementation mode. Without it, all of them.
    #[schemars(extend("examples" = [["src", "tests"]]))]
    pub write: Option<Vec<String>>,
    /// `false` keeps turns from the network: a utility gets unix sockets only, an agent's tools stay offline.
    #[schemars(extend("examples" = [false]))]
    pub network: Option<bool>,
    /// Whether turns may control casts: start, approve, resume and end them.
    #[schemars(extend("default" = false, "examples" = [true]))]
    pub steer: Option<bool>,
    /// Labels that a worker must have to run a cast with this socket: words of `a-z`, `0-9`, `-`, `_` and `.`. They
    /// count only for casts that workers run.
    #[schemars(extend("examples" = [["gpu"]]))]
    pub labels: Option<Vec<String>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
