//! The agenda of a decision, as data. Rules add entries, and the loop in `decide` passes each to its rule.

use materia_contract::{Acting, EdgeId, FileState, NodeId, Path, Report};

use crate::ask::skipping::Skippable;

/// Something to be decided. Entries are moved about, so what is large is kept apart.
pub(crate) enum Due {
    /// A turn ended.
    Report(Box<Report>),
    /// Acts and timers of this instant, once its reports are settled. `since` is the last event before them.
    Acts { acts: Vec<Acting>, since: u64 },
    /// Somebody does something at this instant.
    Act(Box<Acting>),
    /// Timers whose instant has come.
    Timers,
    /// The runtime answers a turn that it has just started: not satisfied, and why.
    Answer { turn: u64, context: String },
    /// The runtime has answered a turn of this node, for want of a value.
    Unasked { node: usize, missing: Path },
    /// A node is done with its item.
    Leave(Leaving),
    /// The edges of a node lead on, or those from one of them on.
    Edges(Leaving, Option<EdgeId>),
    /// The edge at this place of its node is to be taken.
    Edge(Leaving, usize),
    /// The failure edge of a node, whose turn failed.
    FailureEdge(usize),
    /// A payload arrives at a node.
    Arrive(Arrival),
    /// A loop is exhausted.
    Exit(Exhausted),
    /// The loop of a skipped item moves on.
    MoveOn(Skippable),
    /// The loop of a skipped item has moved on; says whether a run that rests for that continues.
    Skipped { goes_on: bool },
    /// Turns start, and a run without any rests.
    Start,
    /// The reports of a run that was stopped are settled.
    Stopped { message: String },
    /// The same where a turn was withheld.
    Withheld { turn: u64, message: String, files: Option<Box<FileState>> },
}

/// A node that is left: by which turn, if one ran, and with which verdict.
#[derive(Clone, Copy)]
pub(crate) struct Leaving {
    pub(crate) node: usize,
    pub(crate) turn: Option<u64>,
    pub(crate) verdict: Option<bool>,
}

/// A payload on its way to a node.
pub(crate) struct Arrival {
    pub(crate) sender: usize,
    pub(crate) turn: Option<u64>,
    pub(crate) edge: EdgeId,
    pub(crate) to: NodeId,
    /// The loops that were left on the way.
    pub(crate) exited: Vec<String>,
}

/// A loop that is left because it has no further item.
pub(crate) struct Exhausted {
    pub(crate) region: String,
    /// The member that exhausted it; an empty loop has none, and any exit counts.
    pub(crate) from: Option<NodeId>,
    /// The edge that led into an empty loop.
    pub(crate) via: Option<EdgeId>,
    pub(crate) by: Leaving,
    /// The loops that were left on the way, this one among them.
    pub(crate) exited: Vec<String>,
}
