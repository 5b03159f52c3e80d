//! Payloads and work items, as the state names them.

use materia_contract::Uuid;
use materia_contract::time::Micros;

use crate::trail::Trail;

/// A payload that was neither consumed nor dropped.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    pub(crate) id: Uuid,
    pub(crate) ts: Micros,
    pub(crate) way: Option<usize>,
    pub(crate) tick: bool,
    pub(crate) trail: Trail,
}

/// One work item: its loop, the number of the loop's entry, its position (D21).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ItemId {
    pub(crate) list: ListId,
    pub(crate) entry: u32,
    pub(crate) index: u32,
}

/// The list of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListId {
    Loop(usize),
    Foreach(usize),
}
