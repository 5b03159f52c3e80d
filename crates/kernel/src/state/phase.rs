//! Phase of a run, and why it stopped.

use materia_contract::{CastStatus, NodeId, RunFailed, RunWaiting};
use serde::{Deserialize, Serialize};

/// Phase of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Nothing has happened yet.
    New,
    /// Turns run, or are about to.
    Running,
    /// It rests until a person does something.
    Waiting(RunWaiting),
    /// It reached its end.
    Completed,
    /// It stopped short.
    Failed(RunFailed),
    /// A person ended it.
    Aborted,
}

impl Phase {
    /// The word that people see.
    #[must_use]
    pub fn status(&self) -> CastStatus {
        match self {
            Self::New | Self::Running => CastStatus::Running,
            Self::Waiting(_) => CastStatus::Waiting,
            Self::Completed => CastStatus::Completed,
            Self::Failed(_) => CastStatus::Failed,
            Self::Aborted => CastStatus::Aborted,
        }
    }
}

/// A run that goes in circles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stall {
    pub(crate) node: NodeId,
    pub(crate) message: String,
}
