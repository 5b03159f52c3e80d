//! Limits and budgets of a run and its nodes.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};

use crate::Amount;
use crate::time::DURATION_MS_MAX;

/// Megabytes of each stream of a command that are kept where nothing else is said (D69).
pub const OUTPUT_MB_DEFAULT: u64 = 64;

/// Budget of one node. An absent bound is no bound.
#[omit_none]
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeBudgets {
    /// Turns.
    pub turns: Option<u64>,
    /// Time spent in turns.
    pub time_ms: Option<u64>,
    /// Cost.
    pub cost: Option<Amount>,
}

/// Budget of a run. An absent bound is no bound.
#[omit_none]
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// Tokens, in and out together.
    pub max_tokens: Option<u64>,
    /// Cost.
    pub max_cost: Option<Amount>,
    /// Turns.
    pub max_turns: Option<u64>,
    /// When to warn; 75 where absent.
    pub warn_at_percent: Option<u32>,
    /// Megabytes that the cast may keep, where a person has changed what its limits say.
    pub max_storage_mb: Option<u64>,
}

impl NodeBudgets {
    /// A bound that no node can have, as a sentence.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        let long = self.time_ms.filter(|millis| *millis > DURATION_MS_MAX).map(|millis| {
            format!("`timeMs` is {millis}, and a duration is at most {DURATION_MS_MAX} ms, which is ten years")
        });
        long.or_else(|| negative("cost", self.cost))
    }
}

impl Budget {
    /// A bound that no run can have, as a sentence.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        let percent = self.warn_at_percent.filter(|percent| !(1..=100).contains(percent));
        let percent = percent.map(|it| format!("`warnAtPercent` is {it}, and must be 1 to 100"));
        negative("maxCost", self.max_cost).or(percent)
    }

    /// The same for a run that begins, which cannot have been given nothing at all.
    #[must_use]
    pub fn fault_at_start(&self) -> Option<String> {
        let bounds = [("maxTokens", self.max_tokens), ("maxTurns", self.max_turns)];
        let none = bounds.into_iter().find(|(_, most)| *most == Some(0));
        self.fault()
            .or_else(|| none.map(|(name, _)| format!("`{name}` is 0, and must be at least 1")))
    }
}

fn negative(name: &str, cost: Option<Amount>) -> Option<String> {
    let cost = cost.filter(|cost| cost.millionths() < 0)?;
    Some(format!("`{name}` is {cost}, and must not be negative"))
}

/// Bounds of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Further tries after an output that breaks the contract.
    pub max_repairs: u32,
    /// Cycles that may close before the item moves.
    pub max_no_advance_cycles: u32,
    /// Turns that may run at once.
    pub max_concurrent_turns: u32,
    /// Turns of a dataflow node on a cycle without a bound, before a person is asked (D23).
    #[serde(default = "cycle_turns_default", skip_serializing_if = "is_cycle_turns_default")]
    pub max_cycle_turns: u32,
    /// Further tries after a provider failed in a way that may pass.
    #[serde(default = "retries_default")]
    pub max_retries: u32,
    /// Megabytes that the cast may keep, journal and files together.
    #[serde(default = "storage_default", skip_serializing_if = "is_storage_default")]
    pub max_storage_mb: u64,
    /// Megabytes of each stream of a command that are kept (D69).
    #[serde(default = "output_default", skip_serializing_if = "is_output_default")]
    pub max_output_mb: u64,
}

fn output_default() -> u64 {
    OUTPUT_MB_DEFAULT
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_output_default(megabytes: &u64) -> bool {
    *megabytes == OUTPUT_MB_DEFAULT
}

fn storage_default() -> u64 {
    1_024
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_storage_default(megabytes: &u64) -> bool {
    *megabytes == storage_default()
}

fn retries_default() -> u32 {
    4
}

fn cycle_turns_default() -> u32 {
    50
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_cycle_turns_default(turns: &u32) -> bool {
    *turns == cycle_turns_default()
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_repairs: 1,
            max_no_advance_cycles: 3,
            max_concurrent_turns: 64,
            max_cycle_turns: cycle_turns_default(),
            max_storage_mb: storage_default(),
            max_retries: retries_default(),
            max_output_mb: OUTPUT_MB_DEFAULT,
        }
    }
}
