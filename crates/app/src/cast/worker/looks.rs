//! When a worker reads the lease of a waiting run again.
//!
//! A live driver renews its lease every third of the time of a lease. So a lease that has changed since the last look
//! is not read for that long; one that has not is read each time, because it may lapse.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use materia_contract::RunId;

/// The leases that were seen.
pub(super) struct Looks {
    /// The time between two renewals.
    third: Duration,
    seen: HashMap<RunId, Seen>,
}

struct Seen {
    /// The entry of the run on the list.
    entry: u64,
    lease: u64,
    again: Instant,
}

impl Looks {
    pub(super) fn new(lease: Duration) -> Self {
        Self { third: lease / 3, seen: HashMap::new() }
    }

    /// Forgets runs that are not on the list.
    pub(super) fn retain(&mut self, listed: &HashSet<&RunId>) {
        self.seen.retain(|run, _| listed.contains(run));
    }

    /// Whether the lease of a run has to be looked at now. A run with a new entry is new.
    pub(super) fn is_due(&self, run: &RunId, entry: u64, now: Instant) -> bool {
        self.seen.get(run).is_none_or(|seen| seen.entry != entry || seen.again <= now)
    }

    /// Notes what a look found: the revision of the lease.
    pub(super) fn saw(&mut self, run: &RunId, entry: u64, lease: Option<u64>, now: Instant) {
        let Some(lease) = lease else {
            self.seen.remove(run);
            return;
        };
        // One that is seen for the first time may have been left behind long ago.
        let renewed = self.seen.get(run).is_some_and(|seen| seen.lease != lease);
        let again = if renewed { now + self.third } else { now };
        self.seen.insert(run.clone(), Seen { entry, lease, again });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// M6: a renewed lease is read seldom; one that is not renewed is read until it lapses.
    #[test]
    fn a_lease_that_is_not_renewed_is_looked_at_each_time() {
        let (mut looks, run, begun) =
            (Looks::new(Duration::from_secs(15)), RunId::new("r"), Instant::now());
        let at = |seconds: u64| begun + Duration::from_secs(seconds);
        assert!(looks.is_due(&run, 1, at(0)));
        looks.saw(&run, 1, Some(7), at(0));
        assert!(looks.is_due(&run, 1, at(0)), "nobody knows whether it is renewed");
        looks.saw(&run, 1, Some(8), at(5));
        assert!(!looks.is_due(&run, 1, at(9)), "it was renewed");
        looks.saw(&run, 1, Some(8), at(10));
        assert!(looks.is_due(&run, 1, at(10)), "it was not renewed");
        looks.saw(&run, 1, Some(9), at(11));
        assert!(looks.is_due(&run, 2, at(11)), "it was handed over again");
        looks.saw(&run, 1, None, at(12));
        assert!(looks.is_due(&run, 1, at(12)) && looks.seen.is_empty());
    }
}
