//! The way that work has come, and how often it went round without getting on (D22).

use std::sync::Arc;

/// How work came to where it is. Every payload has its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trail {
    /// Nodes entered since the work last moved, cut back to a node that is entered again.
    path: Arc<Vec<usize>>,
    /// Cycles closed since then.
    cycles: u32,
}

impl Trail {
    /// The trail as far as a node, where nothing is counted.
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

    /// Enters a node. A way with a bound of its own closes no cycle.
    pub(crate) fn enter(&mut self, node: usize, bounded: bool) {
        let path = Arc::make_mut(&mut self.path);
        if let Some(place) = path.iter().position(|entered| *entered == node) {
            path.truncate(place + 1);
            self.cycles = self.cycles.saturating_add(u32::from(!bounded));
        } else {
            path.push(node);
        }
    }

    /// Whether entering a node would close one cycle more than may be.
    pub(crate) fn is_spent(&self, node: usize, most: u32) -> bool {
        self.cycles >= most && self.path.contains(&node)
    }

    /// Somebody gave the work further allowance.
    pub(crate) fn forgive(&mut self) {
        self.cycles = 0;
    }
}
