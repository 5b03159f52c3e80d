//! The files of a run, as its events say.

use std::collections::BTreeMap;

use materia_contract::FileState;

/// The files of a run, as its events say.
#[derive(Debug)]
pub(crate) struct Files {
    /// Those that the last event names.
    pub(crate) last: FileState,
    pub(crate) holds: Holds,
    pub(crate) off_base: bool,
    pub(crate) publishing: bool,
    pub(crate) published: bool,
    /// The turns in flight.
    pub(crate) turns: BTreeMap<u64, OfTurn>,
}

#[derive(Debug)]
pub(crate) struct OfTurn {
    pub(crate) start: FileState,
    /// Whether the files are put back before it starts.
    pub(crate) put_back: bool,
    /// Whether they would have to be, so that only the runtime can answer it.
    pub(crate) ran: bool,
    pub(crate) alone: bool,
}

/// State of the checkout.
#[derive(Debug, PartialEq)]
pub(crate) enum Holds {
    /// The last files.
    Last,
    /// Something that is put back before the next turn.
    Leftovers,
    /// The events do not say.
    Unknown,
    /// Files that were changed from outside the run.
    Others(FileState),
}

/// How a run went on.
#[derive(Debug)]
pub(crate) struct Resumed {
    pub(crate) seq: u64,
    pub(crate) files: Option<FileState>,
    pub(crate) put_back: bool,
    /// The files that were changed from outside the run.
    pub(crate) others: Option<FileState>,
    /// Whether the events named the files that the checkout held.
    pub(crate) known: bool,
    /// Whether it held what an interrupted turn left.
    pub(crate) leftovers: bool,
}
