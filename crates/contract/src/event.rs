//! Events. The journal is a sequence of these and nothing else.
//!
//! An event says what happened, in the past tense; only the kernel gives it a meaning for the state. Events are never
//! edited. A removed field stays in the type unread, a new field is optional, and a new *type* raises
//! [`JOURNAL_VERSION`], so that an older program refuses the run at once.

mod agents;
mod budget;
mod delivery;
mod layers;
mod loops;
mod outcome;
mod people;
mod route;
mod run;
mod turn;
mod workspace;

use std::sync::Arc;

use crate::schema::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::NodeId;
use crate::time::Micros;

pub use agents::{AgentsChosen, Answerer, Answerers, MOCK, RECORDED, SCRIPTED};
pub use budget::{
    BudgetBound, BudgetChanged, BudgetWarned, DiskMeasured, NodeBlocked, StorageMeasured,
};
pub use delivery::{
    DropReason, PayloadDeduplicated, PayloadDropped, PayloadFiltered, PayloadSuperseded, Timer,
    TimerFired, TimerSet,
};
pub use layers::PromptLayer;
pub use loops::{CursorAdvanced, FollowUpCaptured, ItemSkipped, LoopEntered, LoopExhausted};
pub use outcome::Outcome;
pub use people::{
    ApprovalDenied, ApprovalGiven, ApprovalRequested, MessageReceived, Mode, ModeChanged,
    SocketFinished, TimelineReached, TurnRequested,
};
pub use route::{
    HandoffSent, OutputFieldsIgnored, PayloadConsumed, PayloadDelivered, RouteSelected,
    StatePatched,
};
pub use run::{
    ErrorCode, ForkedFrom, RunAborted, RunCompleted, RunCreated, RunFailed, RunResumed, RunRevived,
    RunWaiting, ScriptBinding, ScriptEntry, SpaceApproval, StartKey, WaitReason,
};
pub use turn::{
    Artifact, Cause, FULL_STDOUT, InterruptReason, LeftFile, SessionRef, Transcript, TurnCompleted,
    TurnFailed, TurnInterrupted, TurnOutput, TurnStarted, TurnUsage,
};
pub use workspace::{
    FileState, FilesFound, GoOnFrom, Identity, OwnWorkspace, WorkspacePublished,
    WorkspacePublishing,
};

/// The newest version of the event vocabulary. `run.created` records the one that a run needs.
pub const JOURNAL_VERSION: u32 = 6;

/// The version of runs without a workspace of their own.
pub const JOURNAL_VERSION_OF_PROJECT: u32 = 5;

/// Something that has happened to a run, with its place and time.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its number in the run: 1, 2, 3, ….
    pub seq: u64,
    /// The run's logical time: strictly increasing.
    pub ts: Micros,
    /// Wall-clock time, for display only.
    pub wall: Micros,
    /// The node it is about, where it is about one.
    pub node: Option<NodeId>,
    /// The type and the data.
    pub body: EventBody,
}

/// Why an event could not be read.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// A type that this version does not know.
    #[error("unknown event type `{0}`; a newer version of materia may have written it")]
    UnknownType(String),
    /// It is about something that cannot be a node.
    #[error("`{}` is no id of a socket: this event was not written by materia", .0.escape_debug())]
    BadNode(String),
    /// A text of it is kept apart and cannot be had.
    #[error(transparent)]
    Apart(#[from] crate::BlobFault),
    /// The data does not fit its type.
    #[error("the data of a `{kind}` event cannot be read: {source}")]
    BadData {
        /// The type.
        kind: String,
        /// The error of the parser.
        source: serde_json::Error,
    },
}

/// Enough bytes for the data of most events.
const USUAL_DATA_BYTES: usize = 384;

/// How an event holds its data. Large data is kept apart, so that all events stay small; the plan is shared with the run.
macro_rules! held {
    ($name:ident) => { $name };
    ($name:ident boxed) => { Box<$name> };
    ($name:ident shared) => { Arc<$name> };
}

macro_rules! events {
    ($($(#[$doc:meta])* $word:literal => $name:ident $($held:ident)?),+ $(,)?) => {
        /// Type and data of an event. The word in quotes is the event's `type`.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "type", content = "data")]
        pub enum EventBody {
            $($(#[$doc])* #[serde(rename = $word)] $name(held!($name $($held)?))),+
        }

        impl EventBody {
            /// Every type there is.
            pub const TYPES: &[&str] = &[$($word),+];

            /// The event's type.
            pub fn type_name(&self) -> &'static str {
                match self { $(Self::$name(_) => $word),+ }
            }

            /// The event's data as JSON text.
            pub fn data_json(&self) -> String {
                // Most are shorter: they need no second piece of memory.
                let mut text = Vec::with_capacity(USUAL_DATA_BYTES);
                self.render_data(&mut text);
                String::from_utf8(text).expect("JSON is text")
            }

            /// Appends the event's data as JSON text.
            pub(crate) fn render_data(&self, text: &mut Vec<u8>) {
                match self { $(Self::$name(data) => serde_json::to_writer(text, data)),+ }
                    .expect("an event is data and always renders");
            }

            /// Reads an event back from its type and data.
            pub fn parse(kind: &str, data: &str) -> Result<Self, EventError> {
                match kind {
                    $($word => serde_json::from_str(data).map(Self::$name),)+
                    unknown => return Err(EventError::UnknownType(unknown.to_owned())),
                }
                .map_err(|source| EventError::BadData { kind: kind.to_owned(), source })
            }
        }

        $(impl From<$name> for EventBody {
            fn from(data: $name) -> Self { Self::$name(data.into()) }
        })+
    };
}

events! {
    /// A run began. The event holds its plan and its request.
    "run.created" => RunCreated shared,
    /// A stopped run continues.
    "run.resumed" => RunResumed,
    /// A run stopped and waits for a person.
    "run.waiting" => RunWaiting,
    /// A run completed.
    "run.completed" => RunCompleted,
    /// A run failed.
    "run.failed" => RunFailed,
    /// A person ended a run.
    "run.aborted" => RunAborted,
    /// A turn is about to start, with exactly these inputs.
    "turn.started" => TurnStarted boxed,
    /// A turn ended with a result.
    "turn.completed" => TurnCompleted boxed,
    /// A turn ended without a usable result.
    "turn.failed" => TurnFailed boxed,
    /// The end of a turn is unknown, because its process or Materia was stopped.
    "turn.interrupted" => TurnInterrupted,
    /// The edge that leads on from a node was chosen.
    "route.selected" => RouteSelected,
    /// A payload was sent over an edge.
    "handoff.sent" => HandoffSent,
    /// A payload was added to the inputs of a node.
    "payload.delivered" => PayloadDelivered,
    /// A turn took a payload.
    "payload.consumed" => PayloadConsumed,
    /// A newer payload replaced one that waited.
    "payload.superseded" => PayloadSuperseded,
    /// A payload was dropped because its edge was full or its node busy.
    "payload.dropped" => PayloadDropped,
    /// A payload equals one that was accepted before.
    "payload.deduplicated" => PayloadDeduplicated,
    /// A payload does not pass the transform of its edge.
    "payload.filtered" => PayloadFiltered,
    /// A timer was set, or moved to another time.
    "timer.set" => TimerSet,
    /// A timer reached its time.
    "timer.fired" => TimerFired,
    /// A person asked for a turn.
    "turn.requested" => TurnRequested,
    /// A turn waits for the approval of a person.
    "approval.requested" => ApprovalRequested,
    /// A person approved a turn.
    "approval.given" => ApprovalGiven,
    /// A person refused a turn.
    "approval.denied" => ApprovalDenied,
    /// An entry of the script's timeline took effect.
    "timeline.reached" => TimelineReached,
    /// Variables of the state changed.
    "state.patched" => StatePatched,
    /// Fields of an output were ignored.
    "output.fields_ignored" => OutputFieldsIgnored,
    /// A `foreach` or a loop moved to its next item.
    "cursor.advanced" => CursorAdvanced,
    /// A loop was entered from outside, with the list that it will iterate.
    "loop.entered" => LoopEntered,
    /// A person ended the current item of a loop.
    "item.skipped" => ItemSkipped,
    /// A loop has no item left.
    "loop.exhausted" => LoopExhausted,
    /// A result was sent back. The reason is kept for the next prompt.
    "follow_up.captured" => FollowUpCaptured,
    /// Spending reached the warning share of its budget.
    "budget.warned" => BudgetWarned,
    /// A person changed the budget of the run or of one node.
    "budget.changed" => BudgetChanged,
    /// A node reached its budget. Its inputs are kept.
    "node.blocked" => NodeBlocked,
    /// The pace (AUTO, INTERACTIVE) or the global mode (PLANNING, IMPLEMENTATION) changed.
    "mode.changed" => ModeChanged,
    /// A person let an exhausted run use its edges again.
    "run.revived" => RunRevived,
    /// A person sent a message to a node.
    "message.received" => MessageReceived,
    /// A person finished a multi-turn socket.
    "socket.finished" => SocketFinished,
    /// Other agents, or other versions of them, answer from now on.
    "agents.chosen" => AgentsChosen,
    /// The storage of the run, or free space on its disk, was measured. It decides whether turns may start.
    "storage.measured" => StorageMeasured,
    /// The work is done. The branch of the workspace is being written to the user's repository.
    "workspace.publishing" => WorkspacePublishing,
    /// The branch of the workspace is in the user's repository.
    "workspace.published" => WorkspacePublished,
}
