//! The time until which a process may drive a run without a renewed lease.

use std::time::{Duration, Instant};

use tokio::sync::watch;

/// The end of a lease, which moves with each renewal. Programs of a run must not live longer.
#[derive(Debug, Clone, Default)]
pub struct Term(Option<watch::Receiver<Instant>>);

impl Term {
    /// The end that a lease announces.
    #[must_use]
    pub fn of(end: watch::Receiver<Instant>) -> Self {
        Self(Some(end))
    }

    /// The time that is left; `None` if there is no end.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        self.0.as_ref().map(|end| end.borrow().saturating_duration_since(Instant::now()))
    }

    /// Resolves when the lease was renewed since the last call; never, if there is no end. Safe to cancel.
    pub async fn renewed(&mut self) {
        if let Some(end) = &mut self.0
            && end.changed().await.is_ok()
        {
            return;
        }
        std::future::pending::<()>().await;
    }
}
