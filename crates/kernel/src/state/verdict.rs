//! The verdict with which a run ends (D65).

use std::collections::BTreeMap;

use materia_contract::{END, Event, EventBody, NodeId, Plan, Routing};
use serde::{Deserialize, Serialize};

/// The verdict of a run so far: a fold over its events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Whether some node takes every edge that matches, so that each branch has an end of its own.
    branches: bool,
    /// The verdict of the last turn that had one.
    last: Option<bool>,
    /// Nodes at which a branch ended, each with the verdict of its newest turn.
    ended: BTreeMap<NodeId, Ended>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Ended {
    verdict: bool,
    /// Whether an edge led to `end`; without one the branch ends where no edge leads to a node.
    by_edge: bool,
}

impl Verdict {
    /// Takes notice of an event.
    pub fn note(&mut self, event: &Event) {
        if let EventBody::RunCreated(data) = &event.body {
            self.branches = branches(&data.plan);
        }
        let Some(node) = &event.node else { return };
        if let EventBody::TurnCompleted(data) = &event.body {
            self.last = data.satisfied.or(self.last);
            if let (true, Some(verdict)) = (self.branches, data.satisfied) {
                self.ended.insert(node.clone(), Ended { verdict, by_edge: false });
            } else if self.branches {
                self.ended.remove(node);
            }
        }
        if let EventBody::RouteSelected(data) = &event.body
            && let Some(ended) = self.ended.get_mut(node)
        {
            if data.to == END {
                ended.by_edge = true;
            } else if !ended.by_edge {
                self.ended.remove(node);
            }
        }
    }

    /// The verdict of the last turn that had one. If branches ended with verdicts: whether all of them are true.
    #[must_use]
    pub fn of_run(&self) -> Option<bool> {
        if self.ended.is_empty() {
            return self.last;
        }
        Some(self.ended.values().all(|ended| ended.verdict))
    }
}

fn branches(plan: &Plan) -> bool {
    plan.nodes.values().any(|node| node.routing == Routing::All)
}
