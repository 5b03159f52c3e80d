//! The way that work has come, and how often it went round without getting on.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// How work came to where it is (D22). Every payload has its own, so that branches that run side by
/// side do not count as one going in circles.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trail {
    /// Nodes entered since the work last moved, cut back to a node when it is entered again.
    pub(crate) path: Arc<Vec<usize>>,
    /// Cycles closed since the work last moved.
    pub(crate) cycles: u32,
}

impl Trail {
    /// The trail as far as a node, where nothing is counted: work has just begun there, or every
    /// matching edge was taken (D23 watches those).
    pub(crate) fn up_to(mut self, node: usize) -> Self {
        if !self.path.contains(&node) {
            Arc::make_mut(&mut self.path).push(node);
        }
        self
    }

    /// Takes the other one where it has gone round more often, or further.
    pub(crate) fn join(&mut self, other: &Self) {
        if (other.cycles, other.path.len()) > (self.cycles, self.path.len()) {
            self.clone_from(other);
        }
    }

    /// Enters a node. A way that is bounded by itself closes no cycle.
    pub(crate) fn enter(&mut self, node: usize, bounded: bool) {
        let path = Arc::make_mut(&mut self.path);
        match path.iter().position(|entered| *entered == node) {
            Some(place) => {
                path.truncate(place + 1);
                self.cycles += u32::from(!bounded);
            }
            None => path.push(node),
        }
    }
}
