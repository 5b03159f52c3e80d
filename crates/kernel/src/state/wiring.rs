//! Facts that follow from the plan alone, computed once and never stored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use materia_contract::{
    Control, Delivery, DeliveryMode, Edge, EdgeId, Node, NodeId, NodeMode, Plan, Trigger,
};

use super::{Entry, cycles};

/// Lookups into a plan.
#[derive(Debug, Default)]
pub(crate) struct Wiring {
    /// Where each edge is: its node, and its place among the edges of that node.
    edges: BTreeMap<EdgeId, (usize, Place)>,
    /// Nodes whose turns wait for a person.
    pub(crate) approved: BTreeSet<usize>,
    /// The same nodes by loop, in the order of the loops.
    pub(crate) approved_in: Vec<Vec<usize>>,
    /// Nodes that the scheduler may start without a person.
    pub(crate) by_itself: BTreeSet<usize>,
    /// Nodes of dataflow that lie on a cycle: only they can go in circles unseen.
    pub(crate) cyclic: BTreeSet<usize>,
    /// Nodes of dataflow that lie on a cycle without a bound: their turns are counted (D23).
    pub(crate) unbounded: BTreeSet<usize>,
    /// Nodes that run at intervals.
    pub(crate) scheduled: Vec<usize>,
    /// The form of the answer that each node asks an agent for.
    pub(crate) schemas: Vec<Option<Arc<serde_json::Value>>>,
    /// The loops around each node, outermost first, by their place in the plan.
    pub(crate) loops: Vec<Vec<usize>>,
    /// The loops around each loop, outermost first.
    pub(crate) around: Vec<Vec<usize>>,
    /// The loop that each exit leaves.
    exits: BTreeMap<EdgeId, usize>,
    /// Edges and exits that lead to `fail`.
    failing: BTreeSet<EdgeId>,
}

/// Where an edge stands at its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Among its edges.
    Nth(usize),
    /// It is the way out of a failed turn (D61).
    OnFailure,
}

impl Wiring {
    fn of(plan: &Plan) -> Self {
        let approved_in = vec![Vec::new(); plan.loops.len()];
        let (cyclic, unbounded) = (cycles::on_cycles(plan), cycles::without_bound(plan));
        let mut wiring = Self { approved_in, cyclic, unbounded, ..Self::default() };
        wiring.around = vec![Vec::new(); plan.loops.len()];
        for (region, of) in plan.loops.values().enumerate() {
            wiring.exits.extend(of.exits.iter().map(|exit| (exit.edge_id.clone(), region)));
            let failing = of.exits.iter().filter(|exit| exit.fails);
            wiring.failing.extend(failing.map(|exit| exit.edge_id.clone()));
        }
        for (index, node) in plan.nodes.values().enumerate() {
            wiring.schemas.push(node.answer_schema().map(Arc::new));
            for (place, edge) in node.edges.iter().enumerate() {
                wiring.edges.insert(edge.id.clone(), (index, Place::Nth(place)));
            }
            if let Some(edge) = &node.on_failure {
                wiring.edges.insert(edge.id.clone(), (index, Place::OnFailure));
            }
            let failing = node.edges.iter().chain(&node.on_failure).filter(|edge| edge.fails);
            wiring.failing.extend(failing.map(|edge| edge.id.clone()));
            let around = node.loops.iter().filter_map(|name| plan.loops.get_index_of(name));
            let around: Vec<usize> = around.collect();
            for (depth, region) in around.iter().enumerate() {
                wiring.around[*region] = around[..depth].to_vec();
            }
            wiring.loops.push(around);
            if node.approval.is_some() {
                wiring.approved.insert(index);
                for region in &wiring.loops[index] {
                    wiring.approved_in[*region].push(index);
                }
            }
            if starts_by_itself(node) {
                wiring.by_itself.insert(index);
            }
            if node.trigger == Trigger::Scheduled
                && (node.interval_ms.is_some() || node.cron.is_some())
            {
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
        let edge = match place {
            Place::Nth(place) => node.edges.get(*place)?,
            Place::OnFailure => node.on_failure.as_ref()?,
        };
        Some((from, edge))
    }

    /// Whether an edge is the way out of a failed turn.
    pub(crate) fn is_on_failure(&self, id: &EdgeId) -> bool {
        self.edges.get(id).is_some_and(|(_, place)| *place == Place::OnFailure)
    }

    /// Whether an edge or an exit leads to `fail`.
    pub(crate) fn is_failing(&self, id: &EdgeId) -> bool {
        self.failing.contains(id)
    }

    /// Whether some way of the plan leads to `fail`.
    pub(crate) fn may_fail(&self) -> bool {
        !self.failing.is_empty()
    }

    /// The arrival at a node over an edge or an exit, for the trail.
    pub(crate) fn entry<'a>(&'a self, node: usize, via: Option<&'a EdgeId>) -> Entry<'a> {
        let left = via.and_then(|via| self.exits.get(via)).copied();
        Entry { node, via, loops: &self.loops[node], left }
    }

    /// How payloads wait on an edge; on an exit of a loop they wait as on a plain one.
    pub(crate) fn delivery(&self, plan: &Plan, id: &EdgeId) -> Delivery {
        self.edge(plan, id).map(|edge| edge.delivery.clone()).unwrap_or_default()
    }

    /// Whether payloads of an edge are attached only when a turn is put together, so that a newer one
    /// can still take the place of an older one.
    pub(crate) fn is_late(&self, plan: &Plan, id: &EdgeId) -> bool {
        let late = [DeliveryMode::Latest, DeliveryMode::Debounce];
        self.edge(plan, id).is_some_and(|edge| late.contains(&edge.delivery.mode))
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

/// Whether nothing that the author wrote leaves the start of a node to a person.
fn starts_by_itself(node: &Node) -> bool {
    // Where there is a `control`, it counts instead of the mode (D17).
    let auto = match node.control {
        Some(Control::Manual) => false,
        Some(Control::Automatic) => true,
        None => node.mode == NodeMode::Auto,
    };
    auto && node.trigger != Trigger::ManualOnly
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
