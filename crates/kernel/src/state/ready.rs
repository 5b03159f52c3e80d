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
    pub(crate) all: BTreeSet<(Micros, Uuid, usize)>,
    /// Those among them that the plan lets start by themselves. What waits at the others can wait for
    /// ever, and the scheduler looks at each step.
    pub(crate) by_itself: BTreeSet<(Micros, Uuid, usize)>,
}
