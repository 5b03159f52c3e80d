//! How long an agent may be silent, and how long a turn may take.

use std::time::Duration;

use tokio::time::Instant;

use super::Cut;

/// How long an agent may say nothing. Long, for some say nothing while a tool of theirs works.
pub const IDLE_DEFAULT: Duration = Duration::from_mins(15);
/// How long a turn may take where its socket has no `timeoutMs`.
pub const WALL_DEFAULT: Duration = Duration::from_hours(2);
/// How long an agent may take to end after it was asked to.
pub const GRACE_DEFAULT: Duration = Duration::from_secs(5);
/// How long an agent may stay after it has said how its turn went.
pub const LINGER_DEFAULT: Duration = Duration::from_secs(5);

/// The limits of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long it may say nothing.
    pub idle: Duration,
    /// How long it may take as a whole.
    pub wall: Duration,
    /// How long it may take to end after it was asked to.
    pub grace: Duration,
    /// How long it may stay after it has said how its turn went.
    pub linger: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            idle: IDLE_DEFAULT,
            wall: WALL_DEFAULT,
            grace: GRACE_DEFAULT,
            linger: LINGER_DEFAULT,
        }
    }
}

/// Knows when a process has to be ended next, and why.
#[derive(Debug)]
pub(super) struct Watchdog {
    limits: Limits,
    /// When the turn is over, whatever it does.
    wall: Instant,
    heard: Instant,
    settled: Option<Instant>,
}

impl Watchdog {
    /// Begins to watch; the wall stands at `wall`, which a second process of a turn does not move.
    pub(super) fn new(limits: Limits, wall: Instant, now: Instant) -> Self {
        Self { limits, wall, heard: now, settled: None }
    }

    /// It said something.
    pub(super) fn heard(&mut self, now: Instant) {
        self.heard = now;
    }

    /// It has said how the turn went. What it says afterwards buys it no time.
    pub(super) fn settled(&mut self, now: Instant) {
        self.settled.get_or_insert(now);
    }

    /// When it has to be ended if nothing happens before, and why. No reason means that it only
    /// did not leave by itself, which is no fault.
    pub(super) fn next(&self) -> (Instant, Option<Cut>) {
        if let Some(settled) = self.settled {
            return (later(settled, self.limits.linger), None);
        }
        let idle = later(self.heard, self.limits.idle);
        if idle < self.wall { (idle, Some(Cut::Idle)) } else { (self.wall, Some(Cut::Wall)) }
    }
}

/// A moment so much later; a span beyond reckoning is as good as a year.
pub(super) fn later(moment: Instant, span: Duration) -> Instant {
    moment.checked_add(span).unwrap_or_else(|| moment + Duration::from_hours(24 * 365))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn silence_counts_from_the_last_word_and_the_wall_stands() {
        let start = Instant::now();
        let limits = Limits { idle: 10 * SECOND, linger: SECOND, ..Limits::default() };
        let mut dog = Watchdog::new(limits, start + 25 * SECOND, start);
        assert_eq!(dog.next(), (start + 10 * SECOND, Some(Cut::Idle)));
        dog.heard(start + 8 * SECOND);
        assert_eq!(dog.next(), (start + 18 * SECOND, Some(Cut::Idle)));
        dog.heard(start + 17 * SECOND);
        assert_eq!(dog.next(), (start + 25 * SECOND, Some(Cut::Wall)));
        dog.settled(start + 20 * SECOND);
        dog.heard(start + 21 * SECOND);
        dog.settled(start + 21 * SECOND);
        assert_eq!(dog.next(), (start + 21 * SECOND, None));
    }

    #[test]
    fn a_limit_beyond_reckoning_is_none() {
        let start = Instant::now();
        assert!(later(start, Duration::MAX) > start + Duration::from_hours(24));
    }
}
