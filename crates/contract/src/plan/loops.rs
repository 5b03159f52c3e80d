//! Regions that run once for each work item.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};

use super::edge::target_word;
use crate::{Condition, EdgeId, NodeId, Path};

/// A region that runs once for each work item.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Loop {
    /// The nodes inside.
    pub members: Vec<NodeId>,
    /// The generator whose list it iterates.
    pub consumes: Option<NodeId>,
    /// The list it iterates where no generator is named.
    pub items: Option<Path>,
    /// The name of its cursor.
    pub cursor: String,
    /// Ways out when the list is exhausted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exits: Vec<Exit>,
}

/// A way out of an exhausted loop.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Exit {
    /// Stable and unique in its loop.
    pub id: String,
    /// The id of the edge that is drawn for it: `loop-exit:<loop>:<id>`.
    pub edge_id: EdgeId,
    /// The member that exhausts the loop.
    pub from: NodeId,
    /// The verdict it asks for.
    pub condition: Condition,
    /// Where it leads; absent means the end of the graph.
    pub to: Option<NodeId>,
    /// Whether the run fails where it is taken (D65); it then leads to no node.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fails: bool,
}

impl Exit {
    /// The word for where it leads: a node, `end` or `fail`.
    pub fn target(&self) -> &str {
        target_word(self.to.as_ref(), self.fails)
    }

    /// Whether it leads to the good end of the graph.
    pub fn ends(&self) -> bool {
        self.to.is_none() && !self.fails
    }
}
