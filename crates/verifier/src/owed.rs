//! Events that a decision must still contain, as data.

use indexmap::IndexMap;
use materia_contract::time::Micros;
use materia_contract::{ErrorCode, Uuid};
use serde_json::Value;

use crate::parts::Waiting;
use crate::trail::Trail;

/// Something that must follow.
#[derive(Debug)]
pub(crate) enum Obligation {
    /// A payload that crossed no edge is attached.
    Attached { node: usize, payload: Waiting },
    /// A failed turn is tried again: a timer is set for the instant that its end names.
    Retry { node: usize, turn: u64, at: Micros, wait: Micros },
    /// The next tick of a node is set.
    Tick { node: usize },
    /// The runtime answers a turn itself: it names what is missing (D41), or gives the reason for which a
    /// person refused it (D56).
    Answer { turn: u64, says: String, refused: bool },
    /// Fields of an output that mean nothing are named.
    Ignored { node: usize, turn: u64, fields: Vec<String> },
    /// The variables change.
    Patch(Box<Patch>),
    /// A node that repeats itself stops the scheduler.
    Watch { node: usize },
    /// A node is done with its item.
    Leave { node: usize, turn: Option<u64>, verdict: Option<bool>, element: bool },
    /// A loop moves on whose item a person ended.
    MovesOn { node: usize, region: usize },
    /// Ways out of a node are taken: those named, or all that match, from one on.
    Routes { result: Outcome, ways: Option<Vec<usize>>, from: Option<usize> },
    /// A turn that failed for good leads on.
    LeadsOn { node: usize, turn: u64 },
    /// Why work was sent back is kept.
    FollowUp { result: Outcome, way: usize },
    /// A node receives work over an edge; loops around it are entered first.
    Arrive {
        result: Outcome,
        way: usize,
        to: usize,
        exited: Vec<usize>,
        enters: Option<Vec<usize>>,
    },
    /// A loop is entered when the run begins.
    Enter { region: usize },
    /// A loop is left.
    Exit { exit: Exit, said: bool },
    /// A payload on an edge must be delivered, dropped or kept.
    Fate { way: usize, to: usize, payload: Waiting, filter: bool, accepted: bool },
    /// A node takes its inputs and begins.
    Start(Starting),
    /// The run fails; turns in flight are interrupted first.
    Failing { code: ErrorCode, socket: usize, way: Option<usize> },
    /// A way led to `fail`: the run fails with what was said (D65).
    GivesUp { result: Outcome },
    /// The run fails because some `foreach` that could start has no list.
    NoList,
}

/// The result that is routed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome {
    pub(crate) node: usize,
    /// Absent where nothing ran.
    pub(crate) turn: Option<u64>,
    pub(crate) verdict: Option<bool>,
}

/// A loop that is exhausted.
#[derive(Debug)]
pub(crate) struct Exit {
    pub(crate) region: usize,
    /// The member that exhausted it; an empty loop has none.
    pub(crate) by: Option<usize>,
    /// The way that led into an empty loop.
    pub(crate) via: Option<usize>,
    pub(crate) result: Outcome,
    pub(crate) exited: Vec<usize>,
}

/// How variables change.
#[derive(Debug)]
pub(crate) struct Patch {
    pub(crate) node: usize,
    pub(crate) turn: u64,
    pub(crate) merged: IndexMap<String, Value>,
    pub(crate) assigned: IndexMap<String, Value>,
}

/// Whether a debt was paid by the event, or asked for nothing.
pub(crate) enum Paid {
    Yes,
    /// It asks for nothing (more); the next debt is looked at.
    Void,
}

/// A node that takes its inputs.
#[derive(Debug, Default)]
pub(crate) struct Starting {
    pub(crate) node: usize,
    /// The inputs that it must take, in order, and how many were taken.
    pub(crate) takes: Vec<(Micros, Uuid)>,
    pub(crate) taken: usize,
    pub(crate) trail: Trail,
    /// Whether a `foreach` has begun: its inputs go into all of its turns.
    pub(crate) entered: bool,
    /// Where a person refused the turn and the runtime answers it: the reason, or nothing.
    pub(crate) refused: Option<String>,
}
