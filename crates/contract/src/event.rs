//! Facts. The journal is a sequence of these and nothing else.
//!
//! An event says what happened, in the past tense; the kernel alone says what that means for
//! the state. Events are never edited. A field that must go is left unread, a field that must
//! come is optional, and a new *type* raises [`JOURNAL_VERSION`], so that an older program
//! refuses the run by its version instead of tripping over it half-way.

mod delivery;
mod people;

use std::sync::Arc;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::time::Micros;
use crate::{EdgeId, EnvelopeKind, Link, NodeId, Offered, Plan};

pub use delivery::{
    DropReason, PayloadDeduplicated, PayloadDropped, PayloadFiltered, PayloadSuperseded, Timer,
    TimerFired, TimerSet,
};
pub use people::{
    ApprovalDenied, ApprovalGiven, ApprovalRequested, Mode, ModeChanged, TimelineReached,
    TurnRequested,
};

/// The version of the event vocabulary. `run.created` records it.
pub const JOURNAL_VERSION: u32 = 2;

/// Something that has happened to a run, with its place and time.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its place in the run, from 1, without gaps.
    pub seq: u64,
    /// The run's logical time: strictly increasing.
    pub ts: Micros,
    /// What a clock on the wall said, for display only.
    pub wall: Micros,
    /// The node it is about, where it is about one.
    pub node: Option<NodeId>,
    /// What happened.
    pub body: EventBody,
}

/// Why an event could not be read.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// A type that this version does not know.
    #[error("unknown event type `{0}`; a newer version of materia may have written it")]
    UnknownType(String),
    /// The data does not fit its type.
    #[error("the data of a `{kind}` event cannot be read: {source}")]
    BadData {
        /// The type.
        kind: String,
        /// What is wrong.
        source: serde_json::Error,
    },
}

/// What the data of most events fit into.
const USUAL_DATA_BYTES: usize = 384;

macro_rules! events {
    ($($(#[$doc:meta])* $word:literal => $name:ident),+ $(,)?) => {
        /// What happened. The word in quotes is the event's `type`.
        #[expect(clippy::large_enum_variant, reason = "only the first event of a run is large")]
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "type", content = "data")]
        pub enum EventBody {
            $($(#[$doc])* #[serde(rename = $word)] $name($name)),+
        }

        impl EventBody {
            /// Every type there is.
            pub const TYPES: &[&str] = &[$($word),+];

            /// The event's type.
            #[must_use]
            pub fn type_name(&self) -> &'static str {
                match self { $(Self::$name(_) => $word),+ }
            }

            /// The event's data as JSON text.
            #[must_use]
            pub fn data_json(&self) -> String {
                // Most are shorter: they need no second piece of memory.
                let mut text = Vec::with_capacity(USUAL_DATA_BYTES);
                match self { $(Self::$name(data) => serde_json::to_writer(&mut text, data)),+ }
                    .expect("an event is data and always renders");
                String::from_utf8(text).expect("JSON is text")
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
            fn from(data: $name) -> Self { Self::$name(data) }
        })+
    };
}

events! {
    /// A run came to be, with its plan and its request.
    "run.created" => RunCreated,
    /// A stopped run goes on.
    "run.resumed" => RunResumed,
    /// A run stopped and waits for a person.
    "run.waiting" => RunWaiting,
    /// A run reached its end.
    "run.completed" => RunCompleted,
    /// A run stopped short.
    "run.failed" => RunFailed,
    /// A person ended a run.
    "run.aborted" => RunAborted,
    /// A turn is about to begin, with exactly these inputs.
    "turn.started" => TurnStarted,
    /// A turn came to its end with a result.
    "turn.completed" => TurnCompleted,
    /// A turn came to its end without a usable result.
    "turn.failed" => TurnFailed,
    /// Nobody knows how a turn ended: its process or ours was stopped.
    "turn.interrupted" => TurnInterrupted,
    /// A way out of a node was chosen.
    "route.selected" => RouteSelected,
    /// A payload crossed an edge.
    "handoff.sent" => HandoffSent,
    /// A payload was attached to a node's inputs.
    "payload.delivered" => PayloadDelivered,
    /// A turn took a payload.
    "payload.consumed" => PayloadConsumed,
    /// A newer payload took the place of one that waited.
    "payload.superseded" => PayloadSuperseded,
    /// A payload found no room.
    "payload.dropped" => PayloadDropped,
    /// A payload equals one that was accepted before.
    "payload.deduplicated" => PayloadDeduplicated,
    /// A payload does not pass the transform of its edge.
    "payload.filtered" => PayloadFiltered,
    /// Something will happen at an instant, unless it is moved.
    "timer.set" => TimerSet,
    /// The instant has come.
    "timer.fired" => TimerFired,
    /// A person asked for a turn.
    "turn.requested" => TurnRequested,
    /// A turn waits for a person's consent.
    "approval.requested" => ApprovalRequested,
    /// A person consented to a turn.
    "approval.given" => ApprovalGiven,
    /// A person refused a turn.
    "approval.denied" => ApprovalDenied,
    /// An entry of the script's timeline took effect.
    "timeline.reached" => TimelineReached,
    /// Variables got new values.
    "state.patched" => StatePatched,
    /// An output had fields that have no meaning there.
    "output.fields_ignored" => OutputFieldsIgnored,
    /// A `foreach` or a loop moved to its next item.
    "cursor.advanced" => CursorAdvanced,
    /// A loop was entered from outside, with the list that it will iterate.
    "loop.entered" => LoopEntered,
    /// A loop has no item left.
    "loop.exhausted" => LoopExhausted,
    /// A result was sent back, and why is kept for whoever works on it next.
    "follow_up.captured" => FollowUpCaptured,
    /// Spending came near its bound.
    "budget.warned" => BudgetWarned,
    /// A person gave the run, or one node, another budget.
    "budget.changed" => BudgetChanged,
    /// A node has spent its budget; its inputs are kept.
    "node.blocked" => NodeBlocked,
    /// Whether the scheduler starts turns, or what turns may write, has changed.
    "mode.changed" => ModeChanged,
    /// A person gave an exhausted run further allowance.
    "run.revived" => RunRevived,
    /// A person said something to a node.
    "message.received" => MessageReceived,
    /// A person finished a multi-turn socket.
    "socket.finished" => SocketFinished,
}

/// Data of `run.created`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunCreated {
    /// What the person asked for.
    pub request: String,
    /// The graph that runs.
    pub plan: Plan,
    /// The hash of the plan.
    pub plan_hash: String,
    /// The project folder.
    pub cwd: String,
    /// The folder of this cast.
    pub run_dir: String,
    /// Whether the scheduler starts turns.
    pub pace: Pace,
    /// What turns may write.
    pub global_mode: GlobalMode,
    /// Whether time is simulated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub virtual_time: bool,
    /// The script that answers agent turns, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptBinding>,
    /// The cast it continues from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_cast_id: Option<String>,
    /// The cast whose beginning it shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<ForkedFrom>,
    /// How many entries the script's timeline has. The run does not rest before the last.
    #[serde(default, skip_serializing_if = "is_none_left")]
    pub timeline: u32,
    /// What its plan was linked from, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// The variables it begins with.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub state: serde_json::Map<String, Value>,
    /// The version of the event vocabulary.
    pub journal_version: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_none_left(count: &u32) -> bool {
    *count == 0
}

/// Where a fork left the cast it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForkedFrom {
    /// The cast.
    pub cast_id: crate::RunId,
    /// The last event that was taken from it.
    pub seq: u64,
    /// The hash of that event there.
    pub hash: String,
    /// Whose ids the shared events have: each cast with the last place at which it was the one
    /// that wrote them.
    pub written_by: Vec<(crate::RunId, u64)>,
}

/// Which list of a script answers which node.
///
/// It is pinned when the run begins, so that the position in each list is a fold over the
/// events like everything else, and a resumed run goes on where its log says it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScriptBinding {
    /// The file.
    pub path: String,
    /// The key that each agent node uses; nodes without one are not in it.
    pub keys: IndexMap<NodeId, String>,
}

/// The place of one answer in a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScriptEntry {
    /// The list.
    pub key: String,
    /// The position in it, from 0.
    pub index: u32,
}

/// Whether the scheduler starts turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Pace {
    /// Whenever a node is runnable.
    #[default]
    Auto,
    /// Never; a person does.
    Interactive,
}

/// What turns may write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum GlobalMode {
    /// Only the folder of documents.
    Planning,
    /// What the node's policy allows.
    #[default]
    Implementation,
}

/// Data of `run.resumed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunResumed {
    /// The project folder now.
    pub cwd: String,
    /// The folder of this cast now.
    pub run_dir: String,
    /// Whether failed turns are tried again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recast: bool,
}

/// Data of `run.waiting`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunWaiting {
    /// What it waits for.
    pub reason: WaitReason,
    /// The node that is concerned, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// A sentence for a person.
    pub message: String,
}

/// What a stopped run waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    /// The pace is INTERACTIVE, or a person stopped it.
    Interactive,
    /// A person must allow a turn.
    Approval,
    /// It made no progress.
    Stall,
    /// A multi-turn socket waits for its next instruction.
    MultiTurn,
    /// It has spent its budget.
    Budget,
    /// The input is at a node that only a person starts.
    Manual,
    /// The simulation reached its end.
    RunFor,
}

/// Data of `run.completed`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunCompleted {}

/// Data of `run.failed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunFailed {
    /// What went wrong, by name.
    pub code: ErrorCode,
    /// What went wrong, in a sentence.
    pub message: String,
    /// The socket at which it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<NodeId>,
    /// Files that show more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<String>,
    /// The edge that was not taken, where that is what stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge_id: Option<EdgeId>,
}

/// What can make a cast fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// A utility could not be started, or ended badly.
    UtilityFailed,
    /// A utility took too long.
    UtilityTimeout,
    /// An output broke its contract.
    ContractError,
    /// A provider failed.
    ProviderFailed,
    /// The script has no further answer.
    ScriptExhausted,
    /// An edge was taken as often as it may be.
    EdgeExhausted,
    /// The run went in circles.
    NoAdvance,
    /// A fault of this program.
    Internal,
}

impl ErrorCode {
    /// The word that stands for it outside.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::UtilityFailed => "utility_failed",
            Self::UtilityTimeout => "utility_timeout",
            Self::ContractError => "contract_error",
            Self::ProviderFailed => "provider_failed",
            Self::ScriptExhausted => "script_exhausted",
            Self::EdgeExhausted => "edge_exhausted",
            Self::NoAdvance => "no_advance",
            Self::Internal => "internal",
        }
    }
}

/// Data of `run.aborted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunAborted {
    /// Who or what asked for it.
    pub reason: String,
}

/// Data of `turn.started`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnStarted {
    /// The how-manieth turn of this node it is, from 1.
    pub visit: u32,
    /// The how-manieth try at it, from 1.
    pub attempt: u32,
    /// The key of the current work item.
    pub item: Option<String>,
    /// Why it runs.
    pub cause: Cause,
    /// The payloads it takes, in order.
    pub consumed: Vec<Uuid>,
    /// An agent's prompt: exactly the text that the provider gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// A utility's input: exactly the object that it reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Arc<Value>>,
    /// Where each part of the prompt comes from; laid end to end they are the prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<PromptLayer>,
    /// The provider session it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionRef>,
    /// The scripted answer it takes, if a script answers this node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptEntry>,
    /// What the turn may write; absent means as the run began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global_mode: Option<GlobalMode>,
    /// What a person approved, where the node asks for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<String>,
}

/// One part of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptLayer {
    /// What it is: `materia`, `request`, `incoming`, `item`, `followUp`, `mode`, `output`, …
    pub name: String,
    /// Where it comes from: a place in the configuration, a payload, an event.
    pub origin: String,
    /// Its first byte.
    pub start: usize,
    /// The byte behind its last.
    pub end: usize,
}

/// The provider session of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionRef {
    /// Its name: derived from the run, so that it is the same in every replay.
    pub id: Uuid,
    /// Whether it continues an earlier turn of the session.
    pub resume: bool,
}

/// Why a turn runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Cause {
    /// Payloads arrived.
    Input,
    /// The next element of a `foreach`.
    Foreach {
        /// Its position, from 0.
        index: u32,
    },
    /// An earlier attempt was interrupted.
    Retry {
        /// The `turn.started` of that attempt.
        turn: u64,
    },
    /// An earlier attempt broke the contract.
    Repair {
        /// The `turn.started` of that attempt.
        turn: u64,
    },
    /// A person asked for it.
    Manual,
    /// A person tries a failed turn again.
    Recast {
        /// The `turn.started` of the attempt that failed.
        turn: u64,
    },
}

/// Data of `turn.completed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnCompleted {
    /// The `turn.started` that began it.
    pub turn: u64,
    /// The how-manieth turn of this node it is.
    pub visit: u32,
    /// The how-manieth try at it.
    pub attempt: u32,
    /// The verdict that was read from the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub satisfied: Option<bool>,
    /// What the runner reported.
    #[serde(flatten)]
    pub report: TurnOutput,
}

/// What a runner reports of a turn that ended by itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnOutput {
    /// A utility's standard output, or an agent's final text.
    pub output: String,
    /// A utility's standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// The program's exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Bytes of standard output that were not kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stdout_dropped: u64,
    /// Bytes of standard error that were not kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stderr_dropped: u64,
    /// Whether some bytes were no UTF-8 and are shown as U+FFFD.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TurnUsage>,
    /// What it left besides its output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// The file that holds what the agent's program said, word for word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<Box<Transcript>>,
    /// Things worth knowing that are no failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What kind of failure it was, where a provider failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<crate::FailureClass>,
    /// How long to wait before another try, where the provider said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// Something that a turn left besides its output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// `diff`, `logs`, …
    pub kind: String,
    /// Its file in the folder of the cast.
    pub name: String,
    /// The hash of its content, in hexadecimal.
    pub hash: String,
    /// What it holds.
    pub content: String,
}

/// A file with what an agent's program wrote to its standard output, secrets removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Transcript {
    /// The file, relative to the folder of the cast.
    pub path: String,
    /// The BLAKE3 hash of the file, in hexadecimal.
    pub hash: String,
    /// The size of the file.
    pub bytes: u64,
    /// Bytes of output that were not kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What one turn cost, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnUsage {
    /// Tokens read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Cost; absent means unknown, not zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// Data of `turn.failed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnFailed {
    /// The `turn.started` that began it.
    pub turn: u64,
    /// The how-manieth turn of this node it is.
    pub visit: u32,
    /// The how-manieth try at it.
    pub attempt: u32,
    /// What went wrong, by name.
    pub code: ErrorCode,
    /// What went wrong, in a sentence.
    pub message: String,
    /// Whether it is tried again with the reason in the prompt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repair: bool,
    /// When it is tried again as it was, where that may help; a timer is set for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Micros>,
    /// What the runner reported beside that.
    #[serde(flatten)]
    pub report: TurnOutput,
}

/// Data of `turn.interrupted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnInterrupted {
    /// The `turn.started` that began it.
    pub turn: u64,
    /// The how-manieth turn of this node it is.
    pub visit: u32,
    /// The how-manieth try at it.
    pub attempt: u32,
    /// What interrupted it.
    pub reason: InterruptReason,
}

/// What interrupted a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InterruptReason {
    /// The process that drove the run went away.
    Crash,
    /// A person stopped the run.
    Stopped,
    /// A person aborted the run.
    Aborted,
    /// Another turn made the run fail.
    RunFailed,
    /// The simulation reached its end.
    RunFor,
}

/// Data of `route.selected`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RouteSelected {
    /// The `turn.started` whose result was routed; absent where nothing ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// The edge; absent where none matched.
    pub edge_id: Option<EdgeId>,
    /// The node it leads to, or `end`.
    pub to: String,
    /// The verdict that was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub satisfied: Option<bool>,
}

/// Data of `handoff.sent`. The payload's id is the id of this event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HandoffSent {
    /// The payload.
    pub payload_id: Uuid,
    /// The edge it crosses.
    pub edge_id: EdgeId,
    /// Where it goes.
    pub to: NodeId,
    /// The `turn.started` whose output it carries; absent where nothing ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// What kind of payload it is.
    pub kind: EnvelopeKind,
    /// The beginning of what it says.
    pub preview: String,
    /// What it holds, where no turn of the run has put it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<Offered>,
}

/// Data of `payload.delivered`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PayloadDelivered {
    /// The payload.
    pub payload_id: Uuid,
    /// The edge it crossed; absent for what comes from a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge_id: Option<EdgeId>,
}

/// Data of `payload.consumed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PayloadConsumed {
    /// The payload.
    pub payload_id: Uuid,
}

/// Data of `state.patched`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatePatched {
    /// The `turn.started` whose output did it.
    pub turn: u64,
    /// Whole variables that a utility's `state` object set, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub merged: IndexMap<String, Value>,
    /// Values that `assign` copied, by dotted target.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub assigned: IndexMap<String, Value>,
}

/// Data of `output.fields_ignored`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutputFieldsIgnored {
    /// The `turn.started` whose output it was.
    pub turn: u64,
    /// The fields, as paths (`$.state.satisfied`).
    pub fields: Vec<String>,
    /// Why they have no meaning there.
    pub reason: String,
}

/// Data of `cursor.advanced`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CursorAdvanced {
    /// The name of the cursor.
    pub cursor: String,
    /// Where it stands now.
    pub index: u32,
    /// How long the list is.
    pub count: u32,
    /// Whether it has passed the last item.
    pub exhausted: bool,
    /// The loop whose cursor it is; absent for a `foreach`.
    #[serde(rename = "loop", default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
}

/// Data of `loop.entered`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopEntered {
    /// The loop.
    #[serde(rename = "loop")]
    pub region: String,
    /// The how-manieth time it is entered, from 1.
    pub entry: u32,
    /// How many items it will iterate; absent where it iterates no list.
    pub count: Option<u32>,
}

/// Data of `loop.exhausted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopExhausted {
    /// The loop.
    #[serde(rename = "loop")]
    pub region: String,
    /// The exit that is taken; absent means the end.
    pub exit: Option<String>,
    /// Where it leads: a node, or `end`.
    pub to: String,
}

/// Data of `follow_up.captured`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FollowUpCaptured {
    /// The turn that was not satisfied.
    pub turn: u64,
    /// The node that will hear of it.
    pub target: NodeId,
    /// The key of the work item.
    pub item: Option<String>,
    /// Why, bounded.
    pub reason: String,
}

/// Data of `budget.warned`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetWarned {
    /// Which bound.
    pub bound: BudgetBound,
    /// What has been spent.
    pub spent: f64,
    /// What may be spent.
    pub limit: f64,
}

/// A bound of a budget.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum BudgetBound {
    /// Tokens.
    Tokens,
    /// Cost.
    Cost,
    /// Turns.
    Turns,
}

/// Data of `budget.changed`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetChanged {
    /// The run's budget from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<crate::Budget>,
    /// The node's budget from now on, where the event names a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_budgets: Option<crate::NodeBudgets>,
}

/// Data of `node.blocked`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeBlocked {
    /// Why, in words.
    pub reason: String,
}

/// Data of `run.revived`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunRevived {
    /// The edge that may be taken further, where one was exhausted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge_id: Option<EdgeId>,
}

/// Data of `message.received`. The payload's id is the id of this event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageReceived {
    /// The payload.
    pub payload_id: Uuid,
    /// What was said.
    pub text: String,
}

/// Data of `socket.finished`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SocketFinished {
    /// The last turn of the socket, whose result counts.
    pub turn: u64,
}
