//! A node as it is explained, and the facts behind one of its conditions.

use materia_contract::{NodeId, Plan};
use materia_kernel::Run;

use super::Condition;
use super::trail::Trail;

/// Children that are shown of a condition, at the most.
pub(super) const CHILDREN_MAX: usize = 8;

/// One node of a run, as it is explained.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) run: &'a Run,
    pub(super) plan: &'a Plan,
    pub(super) trail: &'a Trail,
    pub(super) index: usize,
    pub(super) name: &'a NodeId,
}

/// Text, events and parts of a condition.
#[derive(Default)]
pub(super) struct Facts {
    pub(super) text: String,
    pub(super) events: Vec<u64>,
    pub(super) of: Vec<Condition>,
}

impl Facts {
    pub(super) fn new(text: impl Into<String>, events: impl IntoIterator<Item = u64>) -> Self {
        Self { text: text.into(), events: events.into_iter().collect(), of: Vec::new() }
    }
}
