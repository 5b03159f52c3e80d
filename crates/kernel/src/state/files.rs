//! The files of a run that has a workspace of its own.

use materia_contract::FileState;
use materia_contract::time::Micros;
use serde::{Deserialize, Serialize};

/// The files of a run in a workspace, as far as its events say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Files {
    /// Those that the last event names.
    pub(crate) last: FileState,
    /// When that event came.
    pub(crate) at: Micros,
    pub(crate) checkout: Checkout,
    /// Whether HEAD has left the base of the run.
    pub(crate) off_base: bool,
    /// How far its branch has come.
    pub(crate) branch: Branch,
}

/// State of the checkout of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Checkout {
    /// The files that the last event names.
    Same,
    /// Perhaps what an interrupted turn left: the next turn puts the files back.
    PutBack,
    /// Leftovers of several interrupted turns: the process that takes the run up measures the files.
    Unknown,
    /// Files that were changed from outside the run.
    Changed(FileState),
}

/// How far the branch of a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Branch {
    /// It is in the workspace.
    Own,
    /// It is being published.
    Publishing,
    /// It is in the user's repository, and nothing was started since.
    Published,
}

impl Files {
    pub(crate) fn new(first: FileState, at: Micros) -> Self {
        Self { last: first, at, checkout: Checkout::Same, off_base: false, branch: Branch::Own }
    }

    /// A turn ended and left these files.
    pub(crate) fn left(&mut self, files: FileState, at: Micros, off_base: bool) {
        (self.last, self.at) = (files, at);
        self.off_base = off_base;
        self.checkout = if off_base { Checkout::Unknown } else { Checkout::Same };
    }
}
