//! The right of one process to drive a run.

use std::io;

use materia_contract::RunId;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::term::Term;

/// Which of the leases of a run, counted from 1. 0 stands for none: a run that was never claimed takes it.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Epoch(pub u64);

impl std::fmt::Display for Epoch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The right to drive one run. Dropping it gives it up.
pub struct Lease {
    epoch: Epoch,
    /// Says that it was lost; `None` where that cannot happen while the holder lives.
    lost: Option<watch::Receiver<bool>>,
    term: Term,
    _holder: Box<dyn std::any::Any + Send + Sync>,
}

impl Lease {
    /// The lease of this epoch, around whatever keeps others out.
    #[must_use]
    pub fn new(epoch: Epoch, holder: impl std::any::Any + Send + Sync) -> Self {
        Self { epoch, lost: None, term: Term::default(), _holder: Box::new(holder) }
    }

    /// The same, where it can be lost: `lost` becomes true then.
    #[must_use]
    pub fn until(self, lost: watch::Receiver<bool>) -> Self {
        Self { lost: Some(lost), ..self }
    }

    /// The same, where another process may take the run after the end of a term.
    #[must_use]
    pub fn within(self, term: Term) -> Self {
        Self { term, ..self }
    }

    /// The end after which another process may take the run.
    #[must_use]
    pub fn term(&self) -> Term {
        self.term.clone()
    }

    /// Resolves when the lease is lost, which ends the right to drive the run; never, if it is not.
    pub fn lost(&self) -> impl Future<Output = ()> + Send + use<> {
        let lost = self.lost.clone();
        async move {
            if let Some(mut lost) = lost
                && lost.wait_for(|lost| *lost).await.is_ok()
            {
                return;
            }
            std::future::pending::<()>().await;
        }
    }

    /// Which lease of its run it is. Every append under it carries this.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Lease").field(&self.epoch.0).finish()
    }
}

/// Why a run could not be claimed.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// Another process drives it.
    #[error("cast `{run}` is being run by another process{}", .pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default())]
    Held {
        /// The run.
        run: RunId,
        /// The process, as far as it is known.
        pid: Option<u32>,
    },
    /// The lock itself could not be used.
    #[error("cannot lock cast `{run}`: {source}")]
    Io {
        /// The run.
        run: RunId,
        /// The error of the system.
        source: io::Error,
    },
    /// The lease could not be noted.
    #[error("cannot claim cast `{run}`: {what}")]
    Storage {
        /// The run.
        run: RunId,
        /// The error.
        what: String,
    },
}
