//! Obligations: events that a decision must still contain.
//!
//! They are a stack. An event fulfils the topmost that requires one; an obligation that turns out to require nothing
//! is dropped. None that requires an event may be left at the end of the decision.

use indexmap::IndexMap;
use materia_contract::time::Micros;
use materia_contract::{ErrorCode, Event};
use serde_json::Value;

use crate::start::Starting;
use crate::state::{Verifier, Waiting};
use crate::{Checked, Objection};

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

impl Verifier {
    /// Whether the event pays a debt. At the end of a decision there is no event, and nothing may be
    /// asked for.
    pub(crate) fn pays(&mut self, event: Option<&Event>) -> Checked<bool> {
        while let Some(owed) = self.owed.pop() {
            let chart = self.chart()?;
            let paid = match owed {
                Obligation::Attached { node, payload } => {
                    self.attached(&chart, node, payload, event)?
                }
                Obligation::Retry { node, turn, at, wait } => {
                    self.retry_set(&chart, node, turn, (at, wait), event)?
                }
                Obligation::Tick { node } => self.tick_set(&chart, node, event)?,
                Obligation::Answer { turn, says, refused } => {
                    self.answer(turn, &says, refused, event)?
                }
                Obligation::Ignored { node, turn, fields } => {
                    self.ignored(&chart, node, turn, &fields, event)?
                }
                Obligation::Patch(patch) => self.patched(&chart, *patch, event)?,
                Obligation::Watch { node } => self.watched(&chart, node, event)?,
                Obligation::Leave { node, turn, verdict, element } => {
                    let result = Outcome { node, turn, verdict };
                    self.leaves(&chart, result, element, event)?
                }
                Obligation::MovesOn { node, region } => {
                    self.moves_on(&chart, node, region, event)?
                }
                Obligation::Routes { result, ways, from } => {
                    self.routes(&chart, result, ways, from, event)?
                }
                Obligation::LeadsOn { node, turn } => self.leads_on(&chart, node, turn, event)?,
                Obligation::FollowUp { result, way } => {
                    self.follow_up(&chart, result, way, event)?
                }
                Obligation::Arrive { result, way, to, exited, enters } => {
                    self.arrives(&chart, result, way, to, exited, enters, event)?
                }
                Obligation::Enter { region } => {
                    self.enters(&chart, region, event).map(|_| Paid::Yes)?
                }
                Obligation::Exit { exit, said } => self.exits(&chart, exit, said, event)?,
                Obligation::Fate { way, to, payload, filter, accepted } => {
                    self.fate(&chart, way, to, payload, filter, accepted, event)?
                }
                Obligation::Start(starting) => self.goes_on_starting(&chart, starting, event)?,
                Obligation::Failing { code, socket, way } => {
                    self.failing(&chart, code, socket, way, event)?
                }
                Obligation::GivesUp { result } => self.gives_up(&chart, result, event)?,
                Obligation::NoList => self.cannot_iterate(&chart, event)?,
            };
            if let Paid::Yes = paid {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// An objection: something else is due here.
    pub(crate) fn due(&self, what: &str, event: Option<&Event>) -> Objection {
        match event {
            Some(event) => {
                let kind = event.body.type_name();
                self.objection(format!("{what} is due here, and this is `{kind}`"))
            }
            None => self.objection(format!("its decision ends behind it, but {what} is due")),
        }
    }

    /// An objection: it is the right kind of event, with something wrong in it.
    pub(crate) fn other(&self, what: &str, part: &str) -> Objection {
        self.objection(format!("{what} is due here, and {part} differs"))
    }
}
