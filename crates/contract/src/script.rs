//! A script: answers for turns of agents without a model, and of utilities without a program.

use crate::schema::{JsonSchema, omit_none};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::time::optional_duration_ms;
use crate::{TimelineEntry, TurnUsage};

/// A script.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Script {
    /// Answers, by socket id or materia name; a socket id wins. Each list has one position,
    /// shared by all sockets that use its key.
    #[serde(default)]
    pub turns: IndexMap<String, Vec<Answer>>,
    /// Results of utilities, by socket id or materia name, like `turns`. Where there is a list, no program
    /// is started; other utilities run.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub utilities: IndexMap<String, Vec<UtilityAnswer>>,
    /// Whether the last answer of a list is given again when the list runs out.
    #[serde(default)]
    pub repeat_last: bool,
    /// Whether it answers only the sockets that it names and leaves the others to their agents.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only: bool,
    /// Ends the simulation at this instant of simulated time.
    #[serde(deserialize_with = "optional_duration_ms")]
    #[schemars(range(max = crate::time::DURATION_MS_MAX))]
    pub run_for_ms: Option<u64>,
    /// Things that happen at simulated instants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<TimelineEntry>,
}

/// One answer.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Answer {
    /// The final text.
    pub text: Option<String>,
    /// The final text, written as a JSON value.
    pub json: Option<Value>,
    /// Tokens and cost.
    pub usage: Option<TurnUsage>,
    /// How long it takes.
    #[serde(deserialize_with = "optional_duration_ms")]
    #[schemars(range(max = crate::time::DURATION_MS_MAX))]
    pub delay_ms: Option<u64>,
    /// The provider fails with this message.
    pub error: Option<String>,
    /// Class of the failure `error`; some classes are tried again.
    pub class: Option<crate::FailureClass>,
    /// How long the provider asks to wait before another try.
    #[serde(deserialize_with = "optional_duration_ms")]
    #[schemars(range(max = crate::time::DURATION_MS_MAX))]
    pub retry_after_ms: Option<u64>,
    /// Files it changes in the workspace: path to content.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub writes: IndexMap<String, String>,
    /// Artifacts it leaves: kind to content.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub artifacts: IndexMap<String, String>,
}

/// One result of a utility, as if its program had run.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UtilityAnswer {
    /// Its standard output.
    pub stdout: Option<String>,
    /// Its standard error.
    pub stderr: Option<String>,
    /// Its exit code; 0 where it is left out.
    pub exit_code: Option<i32>,
    /// How long it takes.
    #[serde(deserialize_with = "optional_duration_ms")]
    #[schemars(range(max = crate::time::DURATION_MS_MAX))]
    pub delay_ms: Option<u64>,
    /// The program cannot be run, for this reason.
    pub error: Option<String>,
}
