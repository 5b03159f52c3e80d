//! The plan: the checked graph that a run executes and that its first event contains.
//!
//! Every id in a plan exists, every default is written out. The compiler makes it, and the kernel reads it; the
//! kernel never sees a document.

mod bounds;
mod edge;
mod loops;
mod node;

use crate::schema::JsonSchema;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::{EdgeId, NodeId};

pub use bounds::{Budget, Limits, NodeBudgets, OUTPUT_MB_DEFAULT};
pub use edge::{
    Delivery, Edge, Guard, PayloadPart, QUEUE_BUFFERED_DEFAULT, Test, Transform, on_failure_edge,
};
pub use loops::{Exit, Loop};
pub use node::{Behavior, Foreach, Node, Policy, Retries, UTILITY_TIMEOUT_MS_DEFAULT};

/// A compiled graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The name of the loadout it was made from.
    pub loadout: String,
    /// Where a run begins.
    pub entry: NodeId,
    /// All nodes, in the order the author wrote them.
    pub nodes: IndexMap<NodeId, Node>,
    /// Regions that run once for each work item, by id.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub loops: IndexMap<String, Loop>,
    /// Bounds of the run.
    pub limits: Limits,
    /// The budget of the run.
    #[serde(default)]
    pub budget: Budget,
    /// The only folder that turns may write to in Planning mode, relative to the project.
    pub doc_root: String,
}

impl Plan {
    /// The hash that names this plan: blake3 over its JSON, in hexadecimal.
    pub fn hash(&self) -> String {
        let bytes = serde_json::to_vec(self).expect("a plan is data and always renders");
        blake3::hash(&bytes).to_hex().to_string()
    }

    /// Every way that a result can take: edges, ways out of failures and exits of loops.
    pub fn ways(&self) -> Vec<EdgeId> {
        let mut ways = Vec::new();
        for (id, node) in &self.nodes {
            ways.extend(node.edges.iter().map(|edge| edge.id.clone()));
            ways.extend(node.on_failure.as_ref().map(|_| on_failure_edge(id.as_str())));
        }
        let exits = self.loops.values().flat_map(|region| &region.exits);
        ways.extend(exits.map(|exit| exit.edge_id.clone()));
        ways
    }

    /// Whether both have the same nodes with the same ways out.
    pub fn has_ways_of(&self, other: &Self) -> bool {
        let ways = |plan: &Self| {
            let nodes = plan.nodes.iter();
            nodes
                .map(|(id, node)| (id.clone(), node.edges.clone(), node.on_failure.clone()))
                .collect::<Vec<_>>()
        };
        ways(self) == ways(other) && self.loops == other.loops
    }

    /// The node of that id, if it is in the plan.
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.get(id)
    }
}
