//! The most turns that a loadout can take.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};

use crate::{Amount, NodeId};

/// Output of `bounds --json`.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoundsBody {
    /// The loadout.
    pub loadout: String,
    /// How many items every list has, where that was said; the numbers hold for it.
    pub items: Option<u64>,
    /// Whether every socket has a bound.
    pub bounded: bool,
    /// The sockets, in the order of the loadout.
    pub sockets: Vec<SocketBound>,
    /// All sockets together.
    pub cast: CastBound,
    /// Scheduled sockets that tick for ever, each with the field that would bound it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unbounded: Vec<NoBound>,
}

/// The most turns of one socket.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SocketBound {
    /// The socket.
    pub socket: NodeId,
    /// Its materia.
    pub materia: String,
    /// Its visits.
    pub visits: BoundOf,
    /// How many attempts each of them can have.
    pub attempts: u64,
    /// Its turns, attempts included.
    pub turns: BoundOf,
    /// Whether the bound rests on what holds where the author says nothing (D22, D23).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_default: bool,
    /// Cost of its turns in past casts of the project.
    pub past: Option<PastTurns>,
    /// The most that it costs, as far as a budget or the past says.
    pub cost: Option<CostBound>,
}

/// The most turns of all sockets together.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CastBound {
    /// Its visits.
    pub visits: BoundOf,
    /// Its turns, attempts included.
    pub turns: BoundOf,
    /// The budget of turns that bounds it, where there is one.
    pub max_turns: Option<u64>,
    /// The most that it costs, as far as budgets or the past say.
    pub cost: Option<CostBound>,
}

/// A bound: a formula, and a number where the lengths of lists are known or do not matter.
#[omit_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoundOf {
    /// The formula; absent where there is no bound, or none of a useful form.
    pub formula: Option<String>,
    /// The number.
    pub most: Option<u64>,
}

/// A socket without a bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NoBound {
    /// The socket.
    pub socket: NodeId,
    /// The field that would bound it.
    pub field: String,
}

/// Cost of turns of a materia in past casts of the project.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PastTurns {
    /// How many turns this rests on.
    pub turns: u64,
    /// Tokens of a turn, in and out together.
    pub tokens: Quantiles<u64>,
    /// Cost of a turn, where it was reported.
    pub cost: Option<Quantiles<Amount>>,
}

/// How a quantity was distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Quantiles<T> {
    /// Half were at most this.
    pub p50: T,
    /// Nine of ten were at most this.
    pub p90: T,
    /// The largest.
    pub largest: T,
}

/// The most tokens and money.
#[omit_none]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostBound {
    /// Tokens, where a budget or the largest turn so far says so.
    pub tokens: Option<u64>,
    /// Money.
    pub cost: Option<Amount>,
    /// Whether a budget enforces it; otherwise it is the largest turn so far times the bound.
    pub enforced: bool,
}
