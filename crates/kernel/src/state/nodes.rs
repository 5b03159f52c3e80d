//! State of all nodes. Tests count the accesses.
//!
//! Nodes can only be reached by index, so that the count shows code that reads all nodes in each step.

use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

use super::NodeState;
use crate::tally::{Look, look};

/// One for each node of the plan, in its order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Nodes(Vec<NodeState>);

impl Nodes {
    pub(crate) fn new(count: usize) -> Self {
        Self(vec![NodeState::default(); count])
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// All of them, for tests that look at everything.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &NodeState> {
        self.0.iter()
    }
}

impl Index<usize> for Nodes {
    type Output = NodeState;

    fn index(&self, index: usize) -> &NodeState {
        look(Look::Node);
        &self.0[index]
    }
}

impl IndexMut<usize> for Nodes {
    fn index_mut(&mut self, index: usize) -> &mut NodeState {
        look(Look::Node);
        &mut self.0[index]
    }
}
