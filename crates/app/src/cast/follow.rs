//! Follows a cast until it rests, in whichever process it runs.

use std::time::{Duration, Instant};

use materia_contract::{CastStatus, RunId};
use materia_engine::{Journal, blocking};

/// Interval at which new events are polled, and whether another process still drives the cast: that is no event.
pub const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Time without events after which the caller checks whether a process drives the cast.
const QUIET: Duration = Duration::from_secs(1);

/// A follower of a cast, and when it last saw a new event.
pub struct Following {
    last_news: Instant,
}

/// Next action of a follower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Look again in a while.
    Wait,
    /// Read once more: no process drives the cast, so no further events will come.
    Last,
    /// Stop: it rests.
    Rests,
}

impl Default for Following {
    fn default() -> Self {
        Self { last_news: Instant::now() }
    }
}

impl Following {
    /// Something new was there.
    pub fn news(&mut self) {
        self.last_news = Instant::now();
    }

    /// Next action after the follower has read all events; `status` is the status at the last event read.
    pub fn next(&mut self, journal: &dyn Journal, id: &RunId, status: CastStatus) -> Next {
        let driven = || blocking(journal).is_driven(id).unwrap_or(false);
        match status {
            CastStatus::Completed | CastStatus::Failed | CastStatus::Aborted => Next::Rests,
            // It may be about to continue: the process that resumes it already holds the lease.
            CastStatus::Waiting if !driven() => Next::Rests,
            CastStatus::Running if self.last_news.elapsed() > QUIET => {
                self.last_news = Instant::now();
                if driven() { Next::Wait } else { Next::Last }
            }
            CastStatus::Waiting | CastStatus::Running => Next::Wait,
        }
    }
}
