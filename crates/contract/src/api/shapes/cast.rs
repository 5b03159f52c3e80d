//! A cast as of an event, and its events.

use crate::schema::{JsonSchema, omit_none};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Next;
use crate::body::Grid;
use crate::{Budget, CastReport, EdgeId, GlobalMode, NodeId, Pace, Plan};

/// A cast as of an event.
#[omit_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CastView {
    /// As `show --json` has it.
    #[serde(flatten)]
    pub report: CastReport,
    /// The project it belongs to.
    pub project: String,
    /// Whether a process drives it now.
    pub driven: bool,
    /// The worker that drives it, where casts are on NATS.
    pub worker: Option<String>,
    /// Whether it waits on the list of the workers, and none has taken it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits_for_worker: bool,
    /// The event that all of this is as of.
    pub at: u64,
    /// Whether turns start by themselves.
    pub pace: Pace,
    /// Where turns may write.
    pub global_mode: GlobalMode,
    /// Its budget.
    pub budget: Budget,
    /// Its plan.
    pub plan: Plan,
    /// The hash of that.
    pub plan_hash: String,
    /// Its plan as a graph.
    pub graph: Grid,
    /// Where each socket stands.
    pub sockets: Vec<SocketNow>,
    /// The bounded edges, and how often each was taken for the present item.
    pub edges: Vec<EdgeNow>,
    /// The loops that were entered.
    pub loops: Vec<LoopNow>,
    /// The next steps for a person: commands, and texts that the person has to fill in.
    pub next: Vec<Next>,
}

/// Where a socket stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SocketState {
    /// Nothing has come so far.
    Idle,
    /// Something waits for it.
    Queued,
    /// A turn is under way.
    Running,
    /// It waits for a person.
    NeedsYou,
    /// Its last turn came to a result.
    Done,
    /// Its last turn ended the cast.
    Failed,
    /// It goes round without getting on.
    Stalled,
    /// A person ended the cast while it ran.
    Aborted,
}

/// Where a socket stands, and what it has done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SocketNow {
    /// The socket.
    pub socket: NodeId,
    /// The materia in the socket.
    pub materia: String,
    /// Where it stands.
    pub state: SocketState,
    /// Turns that were started.
    pub visits: u32,
    /// Turns that came to a result.
    pub completed: u32,
    /// The places of the turns under way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<u64>,
    /// Inputs that wait.
    pub waits: u32,
}

/// A bounded edge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EdgeNow {
    /// The edge.
    pub id: EdgeId,
    /// How often it was taken for the present item.
    pub taken: u32,
    /// How often it may still be.
    pub left: u32,
}

/// A loop that was entered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopNow {
    /// The loop.
    pub id: String,
    /// The number of the entry, from 1.
    pub entry: u32,
    /// The item that is current, from 0; as many as there are when it is through.
    pub index: u32,
    /// How many items there are.
    pub total: u32,
    /// The items.
    pub items: Vec<Value>,
}

/// Words of a turn that is under way. They are no fact, and some may be missed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LiveWords {
    /// Where it runs.
    pub socket: NodeId,
    /// Always `text`.
    pub kind: String,
    /// The words.
    pub text: String,
}

/// A page of events.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct EventsPage {
    /// The events, each as `events --json` prints it.
    pub items: Vec<Value>,
    /// The place at which the next page begins, if there is one.
    pub next: Option<u64>,
}
