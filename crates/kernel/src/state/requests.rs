//! Turns that people asked for.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use materia_contract::Uuid;
use serde::{Deserialize, Serialize};

/// A turn that a person asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Request {
    /// The event that asked.
    pub(crate) seq: u64,
    /// The payload that the person's message became.
    pub(crate) message: Option<Uuid>,
}

/// Turns that people asked for and that have not started. Only the first of each node is checked, because the same
/// gates hold for all of a node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Requests {
    by_node: BTreeMap<usize, VecDeque<Request>>,
    /// The first of each node, by the event that asked.
    firsts: BTreeSet<(u64, usize)>,
}

impl Requests {
    /// Nodes with requests, in the order of their first one.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = usize> {
        self.firsts.iter().map(|(_, node)| *node)
    }

    /// The oldest request for a node.
    pub(crate) fn first(&self, node: usize) -> Option<&Request> {
        self.by_node.get(&node)?.front()
    }

    pub(crate) fn ask(&mut self, node: usize, request: Request) {
        let of_node = self.by_node.entry(node).or_default();
        if of_node.is_empty() {
            self.firsts.insert((request.seq, node));
        }
        of_node.push_back(request);
    }

    /// The oldest request for a node is no longer open.
    pub(crate) fn take(&mut self, node: usize) -> Option<Request> {
        let of_node = self.by_node.get_mut(&node)?;
        let taken = of_node.pop_front()?;
        self.firsts.remove(&(taken.seq, node));
        match of_node.front() {
            Some(next) => {
                self.firsts.insert((next.seq, node));
            }
            None => {
                self.by_node.remove(&node);
            }
        }
        Some(taken)
    }
}
