//! State of one node.

use std::collections::VecDeque;
use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{Amount, NodeBudgets, Uuid};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{InFlightTurns, InputBuffer, ItemId, Memo, Payload, Rounds, Trail};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct NodeState {
    /// Turns started here, not counting further attempts.
    pub(crate) visits: u32,
    /// Number of completed turns.
    pub(crate) completed: u32,
    pub(crate) in_flight: InFlightTurns,
    /// Payloads that crossed no edge and are not yet attached.
    pub(crate) arriving: VecDeque<Payload>,
    pub(crate) inputs: InputBuffer,
    /// Inputs of the turn that is about to start.
    pub(crate) taken: Taken,
    /// Whether a tick waits to be taken.
    pub(crate) tick_owed: bool,
    /// Ticks that have been due.
    #[serde(default)]
    pub(crate) ticks: u32,
    /// The approval of its next turn: question and answer.
    pub(crate) consent: Option<Consent>,
    /// Its next turn, where that needs an approval.
    #[serde(skip)]
    pub(crate) wanted: Memo<Wanted>,
    pub(crate) foreach: Option<Iteration>,
    /// How often its `foreach` was entered.
    pub(crate) iterations: u32,
    pub(crate) spent: Spent,
    /// A budget that a person gave it.
    pub(crate) budgets: Option<NodeBudgets>,
    /// Whether its budget keeps it from running.
    pub(crate) blocked: bool,
    /// Turns begun for one work item, where it lies on a cycle without a bound.
    pub(crate) rounds: Rounds,
    /// Hashes of its newest results, where it lies on a cycle.
    pub(crate) traces: Traces,
    /// The list that it last produced, if it is a generator.
    pub(crate) produced: Option<Arc<Vec<Value>>>,
    /// Its provider session, and the element or work item that it is about.
    pub(crate) session: Option<(Uuid, Option<ItemId>)>,
}

/// Inputs of a turn that is about to start.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Taken {
    pub(crate) payloads: Vec<Payload>,
    /// The way to them.
    pub(crate) trail: Trail,
    /// Whether a person refused it, so that the runtime answers it (D56): a `foreach` is not entered for that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) refused: bool,
}

/// Hashes of the results of the newest turns of a node, each with its turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Traces {
    /// The work item that they are about: a loop that moves does not stand still.
    pub(crate) item: Option<ItemId>,
    pub(crate) outputs: VecDeque<(u64, u64)>,
    /// Diffs of turns in a row that left one.
    pub(crate) diffs: VecDeque<(u64, u64)>,
    /// Reasons of turns in a row that were not satisfied.
    pub(crate) failures: VecDeque<(u64, u64)>,
}

/// The next turn of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// By hash: the node, its item and what it would take.
    pub(crate) hash: String,
    pub(crate) payloads: Vec<Uuid>,
}

/// Question and answer of an approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Consent {
    pub(crate) hash: String,
    pub(crate) answer: Option<bool>,
    /// Why it was refused, in the person's words.
    pub(crate) reason: Option<String>,
    /// The event that asked, or answered.
    pub(crate) seq: u64,
}

/// Usage of the turns of a node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spent {
    pub(crate) turns: u64,
    /// Logical time between start and end.
    pub(crate) micros: Micros,
    pub(crate) cost: Option<Amount>,
}

/// Where a `foreach` stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Iteration {
    /// The list, frozen when the node was entered.
    pub(crate) items: Arc<Vec<Value>>,
    pub(crate) index: u32,
    /// Inputs of the node; every element gets them.
    pub(crate) payloads: Vec<Payload>,
    /// The way to it.
    pub(crate) trail: Trail,
    /// Whether a person asked for it.
    pub(crate) manual: bool,
}
