//! Surroundings and options of a run, and the errors of driving one.

use std::sync::Arc;
use std::time::Duration;

use materia_contract::{Answerers, CommandId, Folders, GoOnFrom, RunId, TimelineEntry};
use tokio::sync::{mpsc, watch};

use crate::{
    Approval, ClaimError, Clock, DriveError, Journal, LoadError, Observer, Posted, Receipt, Runner,
    Term,
};

/// Everything outside that a run needs.
#[derive(Clone)]
pub struct World {
    /// Where events are kept.
    pub journal: Arc<dyn Journal>,
    /// Receives the events.
    pub observer: Arc<dyn Observer>,
    /// Performs turns.
    pub runner: Arc<dyn Runner>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

/// How a run is driven.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Stop after this much of the run's time.
    pub run_for: Option<Duration>,
    /// Acts at simulated instants, in the order in which they take effect.
    pub timeline: Arc<[TimelineEntry]>,
    /// Where it is now; it may have been moved since it began.
    pub folders: Folders,
    /// Who answers the agent nodes from here on, where that is not as it was.
    pub agents: Option<Answerers>,
    /// The check before a turn starts a program.
    pub approval: Approval,
    /// The files from which a run in a workspace goes on.
    pub go_on: GoOnFrom,
    /// Says when the run is handed over to another process.
    pub leave: Leaving,
    /// The end of the lease, which the engine fills in.
    pub term: Term,
}

/// How soon a process hands a run over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leave {
    /// Not at all.
    #[default]
    No,
    /// When its turns in flight have ended. No other turn starts.
    AfterTurns,
    /// At once: its turns in flight are lost.
    AtOnce,
}

/// Tells a run that it is handed over.
#[derive(Debug, Clone, Default)]
pub struct Leaving(pub Option<watch::Receiver<Leave>>);

impl Leaving {
    /// Whether no further turn may start.
    pub(crate) fn is_asked(&self) -> bool {
        self.0.as_ref().is_some_and(|leave| *leave.borrow() >= Leave::AfterTurns)
    }

    /// Resolves when the run is handed over so soon, or sooner; never, if it is not.
    pub(crate) async fn asked(&self, how: Leave) {
        if let Some(mut leave) = self.0.clone()
            && leave.wait_for(|asked| *asked >= how).await.is_ok()
        {
            return;
        }
        std::future::pending::<()>().await;
    }
}

/// The channel on which a run receives commands. Boxed, because a channel allocates room for thirty-two entries at
/// once in every run.
pub type Asks = mpsc::UnboundedReceiver<Box<Posted>>;

/// Why a run could not be driven.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Another process drives it.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// It could not be taken up.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// An input was not taken.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// Another process has taken it over.
    #[error("another process runs cast `{0}` now; its turns here were ended")]
    Lost(RunId),
    /// Another process shall drive it.
    #[error("cast `{0}` is handed over")]
    HandedOver(RunId),
    /// The id is taken.
    #[error("there is a cast `{0}` already")]
    Exists(RunId),
    /// It is not the run that the user approved.
    #[error("cast `{0}` is not the one that was approved; nothing ran")]
    NotApproved(RunId),
    /// Something of an earlier turn lives and cannot be ended.
    #[error("cast `{0}` is not carried on: {1}")]
    Leftovers(RunId, String),
    /// The files of its workspace cannot be read.
    #[error("cast `{0}` is not carried on: {1}")]
    Workspace(RunId, String),
    /// The command was taken before.
    #[error("that was done before, under the id `{}`", .0.command)]
    Answered(Box<Receipt>),
    /// Another command has the id.
    #[error("the command id `{0}` was used for another command; give this one an id of its own")]
    OtherBody(CommandId),
}
