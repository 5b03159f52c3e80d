//! What follows from the plan alone, worked out once and never stored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use materia_contract::{Delivery, Edge, EdgeId, NodeId, Plan, Trigger};

/// Lookups into a plan.
#[derive(Debug, Default)]
pub(crate) struct Wiring {
    /// Where each edge is: its node, and its place among the edges of that node.
    edges: BTreeMap<EdgeId, (usize, usize)>,
    /// Nodes whose turns wait for a person.
    pub(crate) approved: BTreeSet<usize>,
    /// Nodes that run at intervals.
    pub(crate) scheduled: Vec<usize>,
}

impl Wiring {
    fn of(plan: &Plan) -> Self {
        let mut wiring = Self::default();
        for (index, node) in plan.nodes.values().enumerate() {
            for (place, edge) in node.edges.iter().enumerate() {
                wiring.edges.insert(edge.id.clone(), (index, place));
            }
            if node.approval.is_some() {
                wiring.approved.insert(index);
            }
            if node.trigger == Trigger::Scheduled && node.interval_ms.is_some() {
                wiring.scheduled.push(index);
            }
        }
        wiring
    }

    /// The edge of that id. An exit of a loop is none.
    pub(crate) fn edge<'plan>(&self, plan: &'plan Plan, id: &EdgeId) -> Option<&'plan Edge> {
        self.ends(plan, id).map(|(_, edge)| edge)
    }

    /// The edge of that id, with the node it leaves.
    pub(crate) fn ends<'plan>(
        &self,
        plan: &'plan Plan,
        id: &EdgeId,
    ) -> Option<(&'plan NodeId, &'plan Edge)> {
        let (node, place) = self.edges.get(id)?;
        let (from, node) = plan.nodes.get_index(*node)?;
        Some((from, node.edges.get(*place)?))
    }

    /// How payloads wait on an edge; on an exit of a loop they wait as on a plain one.
    pub(crate) fn delivery(&self, plan: &Plan, id: &EdgeId) -> Delivery {
        self.edge(plan, id).map(|edge| edge.delivery.clone()).unwrap_or_default()
    }

    /// The edge that a person means: by id, or as `FROM->TO`.
    pub(crate) fn named(&self, plan: &Plan, name: &str) -> Option<EdgeId> {
        let id = EdgeId::new(name);
        if self.edges.contains_key(&id) {
            return Some(id);
        }
        let (from, to) = name.split_once("->")?;
        let mut edges = plan.nodes.get(from)?.edges.iter();
        let found = edges.find(|edge| edge.to.as_ref().is_some_and(|node| node.as_str() == to));
        found.map(|edge| edge.id.clone())
    }
}

/// A [`Wiring`] that is made when it is first asked for. It is no part of the state: two runs
/// with the same plan have the same one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wired(OnceLock<Arc<Wiring>>);

impl Wired {
    pub(crate) fn of(&self, plan: &Plan) -> &Arc<Wiring> {
        self.0.get_or_init(|| Arc::new(Wiring::of(plan)))
    }
}

impl PartialEq for Wired {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
