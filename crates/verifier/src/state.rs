//! State of a run from its events: open work only, no history.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{
    Answerers, Budget, ErrorCode, FileState, GlobalMode, NextTick, NodeBudgets, Pace, RunId,
    ScriptBinding, ScriptEntry, SessionRef, StorageMeasured, Timer, Uuid, WaitReason,
};
use serde_json::{Map, Value};

use crate::held_files::{Files, Resumed};
use crate::money::Cost;
use crate::owed::Obligation;
use crate::parts::{ItemId, Waiting};
use crate::traces::Traces;
use crate::trail::Trail;
use crate::wiring::Wiring;

/// The verifier and its state of a run.
#[derive(Debug)]
pub struct Verifier {
    pub(crate) run: RunId,
    /// Whether texts were replaced by their length: what follows from texts alone is not checked.
    pub(crate) redacted: bool,
    pub(crate) seq: u64,
    pub(crate) ts: Micros,
    /// When the last decision was taken.
    pub(crate) instant: Option<Micros>,
    pub(crate) chart: Option<Arc<Wiring>>,
    pub(crate) beginning: Beginning,
    pub(crate) pace: Pace,
    pub(crate) global: GlobalMode,
    /// Who answers the agent nodes.
    pub(crate) agents: Answerers,
    pub(crate) life: Life,
    pub(crate) waits_for: Option<WaitReason>,
    /// Whether a turn that a person refused is about to be answered by the runtime.
    pub(crate) refusing: bool,
    /// The node that repeated itself, while that is why nothing starts.
    pub(crate) stalled: Option<usize>,
    pub(crate) variables: Map<String, Value>,
    pub(crate) last: Last,
    pub(crate) nodes: Vec<AtNode>,
    pub(crate) ways: Vec<OnWay>,
    pub(crate) loops: Vec<AtLoop>,
    pub(crate) timers: BTreeSet<(Micros, usize, Timer)>,
    pub(crate) turns: BTreeMap<u64, Started>,
    pub(crate) held: Vec<Held>,
    /// Nodes at which something waits.
    pub(crate) ready: BTreeSet<usize>,
    /// Nodes whose `foreach` has an element to start.
    pub(crate) iterating: BTreeSet<usize>,
    /// Turns that a person asked for, with the payload of the message.
    pub(crate) requests: VecDeque<(usize, Option<Uuid>)>,
    pub(crate) timeline: u32,
    /// Multi-turn nodes that wait for a person, with their results.
    pub(crate) paused: BTreeMap<usize, Last>,
    pub(crate) budget: Budget,
    /// The storage at the last measurement.
    pub(crate) storage: Option<StorageMeasured>,
    /// Bounds that were warned about: tokens, cost, turns.
    pub(crate) warned: [bool; 3],
    pub(crate) spent: Spent,
    pub(crate) crossing: Trail,
    /// The node that is being left, where it ran nothing.
    pub(crate) passed: Option<usize>,
    /// The newest turn whose failure leads on.
    pub(crate) caught: Option<Caught>,
    /// How far each list of the script was used.
    pub(crate) script: BTreeMap<String, Position>,
    /// The way that was barred when the run failed, with its node.
    pub(crate) barred: Option<(usize, usize)>,
    /// The node at which the run failed.
    pub(crate) failed_at: Option<usize>,
    /// Whether a way to `fail` ended it (D65).
    pub(crate) gave_up: bool,
    pub(crate) owed: Vec<Obligation>,
    /// Its files, where it has a workspace of its own.
    pub(crate) files: Option<Box<Files>>,
    pub(crate) decision: Decision,
}

/// Data of the first event that never changes.
#[derive(Debug, Default)]
pub(crate) struct Beginning {
    pub(crate) at: Micros,
    pub(crate) global: GlobalMode,
    pub(crate) script: Option<ScriptBinding>,
    pub(crate) timeline: u32,
    /// Whether its clock is simulated.
    pub(crate) simulated: bool,
    /// Where it left the run that it was forked from.
    pub(crate) forked_at: Option<u64>,
    /// Whose ids the first events have.
    pub(crate) written_by: Vec<(RunId, u64)>,
}

/// Where a run is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// Nothing has happened yet.
    New,
    /// Turns run, or are about to.
    Running,
    /// It rests until a person does something.
    Waiting,
    /// It reached its end.
    Completed,
    /// It stopped short.
    Failed,
    /// A person ended it.
    Aborted,
}

/// The parts of a decision, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Beginning,
    /// Turns end; a run is created, revived, given another budget.
    Ends,
    /// A run that stood still goes on.
    Resumed,
    /// Payloads and acts of people and of the timeline.
    Arrivals,
    Timers,
    ModeChanges,
    Starts,
    Warnings,
    Blocked,
    Questions,
    /// The run rests or ends.
    Rest,
}

impl Part {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Beginning => "its beginning",
            Self::Ends => "turns that end",
            Self::Resumed => "the run going on",
            Self::Arrivals => "arrivals",
            Self::Timers => "timers",
            Self::ModeChanges => "changes of mode",
            Self::Starts => "starts",
            Self::Warnings => "warnings",
            Self::Blocked => "blocked sockets",
            Self::Questions => "questions",
            Self::Rest => "its rest",
        }
    }
}

/// The decision under way.
#[derive(Debug)]
pub(crate) struct Decision {
    /// Its first event; 0 before there is one.
    pub(crate) first: u64,
    /// The logical times before it and of its first event.
    pub(crate) ts_before: Micros,
    pub(crate) first_ts: Micros,
    pub(crate) wall: Micros,
    /// The part of it that has been reached (D7).
    pub(crate) part: Part,
    /// When it was taken, as its events show: one instant, or two that contradict each other.
    pub(crate) claims: Vec<(u64, Micros)>,
    /// The latest instant that has come according to it.
    pub(crate) past: Option<(u64, Micros)>,
    /// The earliest instant that is still to come according to it.
    pub(crate) to_come: Option<(u64, Micros)>,
    /// Ends of turns that were reported: turn, event, whether it completed.
    pub(crate) ends: Vec<(u64, u64, bool)>,
    /// A failure for breaking a contract that was kept: the runner must have called it one.
    pub(crate) kept_contract: Option<u64>,
    /// A pause that only a person's stop explains.
    pub(crate) stopped: Option<u64>,
    /// Turns that were not started because something was not approved: turn, node, event.
    pub(crate) withheld: Vec<(u64, usize, u64)>,
    /// That the run waits because something was not approved.
    pub(crate) distrusts: Option<(u64, usize)>,
    /// Timeline entries reached.
    pub(crate) reached: u32,
    /// Turns that the runtime answered itself.
    pub(crate) not_asked: u32,
    /// Whether all that it does is to say who answers.
    pub(crate) only_agents: bool,
    /// Acts of people: how many, and the last event of each kind.
    pub(crate) requested: (usize, u64),
    pub(crate) offered: (usize, u64),
    pub(crate) answered: (usize, u64),
    pub(crate) modes: (usize, u64),
    pub(crate) fired: (usize, u64),
    /// Ticks that were set by a schedule, each with its event.
    pub(crate) scheduled: Vec<(u64, NextTick)>,
    /// The type of its first event.
    pub(crate) opening: Option<&'static str>,
    /// The oldest input of the node that was started last by its inputs.
    pub(crate) oldest_taken: Option<(Micros, Uuid)>,
    /// Files that were found, each with the event that says so.
    pub(crate) found: Vec<(u64, FileState)>,
    /// The files from which the run went on.
    pub(crate) resumed: Option<Resumed>,
}

#[derive(Debug, Default)]
pub(crate) struct AtNode {
    pub(crate) visits: u32,
    pub(crate) completed: u32,
    pub(crate) in_flight: u32,
    /// Turns that ended without a result and may run again.
    pub(crate) held: u32,
    pub(crate) attached: VecDeque<Waiting>,
    pub(crate) tick_owed: bool,
    /// Ticks that have been due.
    pub(crate) ticks: u32,
    pub(crate) consent: Option<Consent>,
    pub(crate) foreach: Option<Iteration>,
    pub(crate) iterations: u32,
    pub(crate) spent: Spent,
    pub(crate) budgets: Option<NodeBudgets>,
    pub(crate) blocked: bool,
    pub(crate) traces: Traces,
    pub(crate) rounds: Rounds,
    pub(crate) produced: Option<Arc<Vec<Value>>>,
    pub(crate) session: Option<(Uuid, Option<ItemId>)>,
    /// The form of the answer that an agent is asked for.
    pub(crate) schema: Option<Arc<Value>>,
    /// Its last completed turn with its place, where a way of the plan leads to `fail`.
    pub(crate) done: Option<(u64, Started)>,
}

/// State of an edge or of an exit of a loop.
#[derive(Debug, Default)]
pub(crate) struct OnWay {
    /// Payloads that wait to be attached, oldest first.
    pub(crate) waiting: VecDeque<Waiting>,
    /// Payloads that are not yet consumed, waiting or attached.
    pub(crate) pending: u32,
    pub(crate) quiet_until: Option<Micros>,
    /// The newest accepted payloads, where sameness is looked for.
    pub(crate) accepted: VecDeque<(Uuid, Micros, String)>,
    pub(crate) traversed: Traversed,
}

/// How often a bounded edge was taken for an item.
#[derive(Debug, Default)]
pub(crate) struct Traversed {
    pub(crate) item: Option<ItemId>,
    pub(crate) count: u32,
    pub(crate) allowance: u32,
}

/// Where a loop stands.
#[derive(Debug, Default)]
pub(crate) struct AtLoop {
    pub(crate) entry: u32,
    pub(crate) items: Option<Arc<Vec<Value>>>,
    pub(crate) index: u32,
    /// How often it was entered for one item around it.
    pub(crate) rounds: Rounds,
}

/// How often something began for one item, where nothing else bounds it (D23).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rounds {
    pub(crate) item: Option<ItemId>,
    pub(crate) count: u32,
}

impl Rounds {
    pub(crate) fn begin(&mut self, item: Option<ItemId>) {
        if self.item != item {
            *self = Self { item, count: 0 };
        }
        self.count = self.count.saturating_add(1);
    }
}

/// Where a `foreach` stands.
#[derive(Debug)]
pub(crate) struct Iteration {
    pub(crate) items: Arc<Vec<Value>>,
    pub(crate) index: u32,
    pub(crate) consumed: Vec<Uuid>,
    pub(crate) trail: Trail,
    pub(crate) manual: bool,
}

/// An approval: question and answer.
#[derive(Debug)]
pub(crate) struct Consent {
    pub(crate) hash: String,
    pub(crate) payloads: Vec<Uuid>,
    pub(crate) answer: Option<bool>,
}

/// A turn in flight.
#[derive(Debug, Clone)]
pub(crate) struct Started {
    pub(crate) node: usize,
    pub(crate) visit: u32,
    pub(crate) attempt: u32,
    pub(crate) since: Micros,
    pub(crate) manual: bool,
    pub(crate) item: Option<String>,
    pub(crate) item_label: Option<String>,
    /// The item of the loops around it when it started.
    pub(crate) about: Option<ItemId>,
    pub(crate) trail: Trail,
    pub(crate) consumed: Vec<Uuid>,
    pub(crate) session: Option<SessionRef>,
    pub(crate) script: Option<ScriptEntry>,
    pub(crate) repairs: u32,
    pub(crate) retries: u32,
    /// Whether an attempt before it lost its session.
    pub(crate) afresh: bool,
    /// Its input: the hash of a utility's input, the length of a prompt.
    pub(crate) input_hash: Option<String>,
    pub(crate) prompt_bytes: usize,
}

/// A turn that ended without a result.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) started: u64,
    pub(crate) turn: Started,
    pub(crate) why: Why,
    pub(crate) released: bool,
}

/// Why a turn has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    Interrupted,
    Rejected,
    Passing,
    Lost,
    Failed,
}

/// Output of the last completed turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Last {
    pub(crate) turn: Option<u64>,
    pub(crate) item: Option<ItemId>,
    pub(crate) trail: Trail,
    pub(crate) text: Option<Arc<str>>,
    pub(crate) json: Option<Arc<Value>>,
    /// Whether `json` is of this turn.
    pub(crate) own_json: bool,
    /// The text of its object.
    pub(crate) object: Option<Arc<str>>,
    /// Its artifacts, each with its kind and its first characters.
    pub(crate) artifacts: Vec<(String, String)>,
    pub(crate) verdict: Option<bool>,
}

/// A turn that failed for good at a node that has a way out for that.
#[derive(Debug)]
pub(crate) struct Caught {
    pub(crate) turn: u64,
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
}

/// Usage.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    pub(crate) turns: u64,
    pub(crate) tokens: u64,
    pub(crate) micros: Micros,
    pub(crate) cost: Cost,
}

/// How far a list of the script was used.
#[derive(Debug, Default)]
pub(crate) struct Position {
    pub(crate) next: u32,
    pub(crate) returned: BTreeSet<u32>,
}
