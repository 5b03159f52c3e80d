//! Which nodes have inputs.

use std::collections::BTreeSet;

use materia_contract::Uuid;
use materia_contract::time::Micros;
use serde::{Deserialize, Serialize};

/// Nodes that have inputs, ordered by their oldest one (X22: time, then payload id).
///
/// Kept as a sorted list of triples because it goes into snapshots, whose format has no maps
/// with composite keys.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ready {
    /// Those that the plan lets start by themselves.
    pub(crate) by_itself: BTreeSet<(Micros, Uuid, usize)>,
    /// Those that only a person starts. What waits there can wait for ever, and the scheduler has no
    /// need to look at it at each step.
    pub(crate) by_hand: BTreeSet<(Micros, Uuid, usize)>,
}

impl Ready {
    /// The node whose oldest input is the oldest of all.
    pub(crate) fn first(&self) -> Option<usize> {
        let firsts = self.by_itself.first().into_iter().chain(self.by_hand.first());
        firsts.min().map(|(_, _, index)| *index)
    }
}
