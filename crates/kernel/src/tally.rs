//! Counters for tests of the cost of a step. Other builds count nothing.

/// Counted operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Look {
    /// The inputs of a next turn were hashed.
    Hash,
    /// A payload was compared with others to find the oldest one.
    Oldest,
    /// A payload was put among those that a turn takes.
    Taken,
    /// A node was asked whether its own budget keeps it from running.
    Budget,
    /// A node was looked at.
    Node,
    /// Something that could start was held to its gates.
    Start,
}

#[cfg(not(test))]
pub(crate) fn look(_: Look) {}

#[cfg(test)]
pub(crate) use counting::{look, looks_during};

#[cfg(test)]
mod counting {
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    use crate::tally::Look;

    thread_local! {
        static LOOKS: RefCell<BTreeMap<Look, u64>> = const { RefCell::new(BTreeMap::new()) };
    }

    pub(crate) fn look(what: Look) {
        LOOKS.with_borrow_mut(|looks| *looks.entry(what).or_default() += 1);
    }

    fn looks(what: Look) -> u64 {
        LOOKS.with_borrow(|looks| looks.get(&what).copied().unwrap_or(0))
    }

    /// How often that was looked at on the way.
    pub(crate) fn looks_during(what: Look, work: impl FnOnce()) -> u64 {
        let before = looks(what);
        work();
        looks(what) - before
    }
}
