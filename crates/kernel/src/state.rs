use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{
    Amount, Artifact, Behavior, Budget, BudgetBound, CastStatus, EdgeId, GlobalMode, Node,
    NodeBudgets, NodeId, Pace, Plan, PromptLayer, RunCreated, RunFailed, RunId, RunWaiting,
    ScriptEntry, SessionRef, Timer, UsageTotals, Uuid, derived_id,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::held::HeldTurns;
use crate::memo::Memo;
use crate::payload::{DeliveryQueue, InFlightTurns, InputBuffer, Late, Payload};
use crate::requests::Requests;
use crate::trail::Trail;
use crate::wiring::{Wired, Wiring};

/// The state of one run: a fold over its events, and nothing else.
#[expect(clippy::struct_field_names, reason = "`runDir` is what authors and utilities call it")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub(crate) id: RunId,
    /// The place of the last event; 0 before the first.
    pub(crate) seq: u64,
    /// The logical time of the last event.
    pub(crate) ts: Micros,
    /// The instant of the last decision, as its clock showed it.
    pub(crate) instant: Micros,
    /// The logical time of the first event.
    pub(crate) created_at: Micros,
    /// The first event: plan, request, mode.
    pub(crate) created: Option<Arc<RunCreated>>,
    pub(crate) cwd: String,
    pub(crate) run_dir: String,
    pub(crate) phase: Phase,
    /// Whether the scheduler starts turns.
    pub(crate) pace: Pace,
    /// What turns may write.
    pub(crate) global: GlobalMode,
    /// Why it was told not to, where it found that out itself.
    pub(crate) stalled: Option<Stall>,
    pub(crate) variables: Map<String, Value>,
    pub(crate) last: LastOutput,
    /// One for each node of the plan, in its order.
    pub(crate) nodes: Vec<NodeState>,
    /// The delivery queue of each edge that anything has crossed.
    pub(crate) queues: BTreeMap<EdgeId, DeliveryQueue>,
    /// When something will happen by itself, with the node it is about.
    pub(crate) timers: BTreeSet<(Micros, usize, Timer)>,
    /// Turns that a person asked for and that have not started.
    pub(crate) requests: Requests,
    /// Entries of the timeline that have taken effect.
    pub(crate) timeline: u32,
    /// Nodes that have spent a budget of their own.
    pub(crate) overspent: BTreeSet<usize>,
    #[serde(skip)]
    pub(crate) wired: Wired,
    /// Nodes with waiting inputs, by their oldest one: the order in which they are looked at.
    pub(crate) ready: Ready,
    /// Turns in flight, by the place of their `turn.started`.
    pub(crate) turns: BTreeMap<u64, Turn>,
    /// Turns that ended without a result and may run again.
    pub(crate) held: HeldTurns,
    /// Nodes whose `foreach` has an element left to start.
    pub(crate) iterating: BTreeSet<usize>,
    /// One for each loop of the plan, in its order.
    pub(crate) loops: Vec<LoopState>,
    /// How often bounded edges were taken.
    pub(crate) traversals: BTreeMap<EdgeId, Traversed>,
    /// Why work was sent back, by the node that will hear of it.
    pub(crate) follow_ups: BTreeMap<usize, FollowUps>,
    /// Multi-turn nodes that wait for a person, with their last result.
    pub(crate) paused: BTreeMap<usize, LastOutput>,
    /// What the run may spend.
    pub(crate) budget: Budget,
    /// Bounds that were warned about.
    pub(crate) warned: BTreeSet<BudgetBound>,
    /// The way to what is being routed.
    pub(crate) crossing: Trail,
    /// The node that is being left, where it let its inputs through and ran nothing.
    pub(crate) passed: Option<usize>,
    pub(crate) usage: UsageTotals,
    /// How far each list of the script has been used.
    pub(crate) script: BTreeMap<String, ScriptPosition>,
}

/// What a run is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Nothing has happened yet.
    New,
    /// Turns run, or are about to.
    Running,
    /// It rests until a person does something.
    Waiting(RunWaiting),
    /// It reached its end.
    Completed,
    /// It stopped short.
    Failed(RunFailed),
    /// A person ended it.
    Aborted,
}

impl Phase {
    /// The word that people see.
    #[must_use]
    pub fn status(&self) -> CastStatus {
        match self {
            Self::New | Self::Running => CastStatus::Running,
            Self::Waiting(_) => CastStatus::Waiting,
            Self::Completed => CastStatus::Completed,
            Self::Failed(_) => CastStatus::Failed,
            Self::Aborted => CastStatus::Aborted,
        }
    }
}

/// Nodes that have inputs, ordered by their oldest one (X22: time, then payload id).
///
/// Kept as a sorted list of triples because it goes into snapshots, whose format has no maps
/// with composite keys.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ready {
    pub(crate) all: BTreeSet<(Micros, Uuid, usize)>,
    /// Those among them that the plan lets start by themselves. What waits at the others can wait for
    /// ever, and the scheduler looks at each step.
    pub(crate) by_itself: BTreeSet<(Micros, Uuid, usize)>,
}

/// One work item: its loop, the number of the loop's entry, and its position (D21).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ItemId {
    pub(crate) region: Region,
    pub(crate) entry: u32,
    pub(crate) index: u32,
}

/// What goes over a list of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Region {
    /// The loop at that place of the plan.
    Loop(usize),
    /// The `foreach` of the node at that place of the plan.
    Foreach(usize),
}

/// Where a loop stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LoopState {
    /// How often it was entered.
    pub(crate) entry: u32,
    /// The list, frozen when it was entered; absent where it has none.
    pub(crate) items: Option<Arc<Vec<Value>>>,
    pub(crate) index: u32,
    /// The event that entered it.
    pub(crate) entered_at: u64,
}

/// How often a bounded edge was taken for a work item, and what a person added to its bound.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Traversed {
    pub(crate) item: Option<ItemId>,
    pub(crate) count: u32,
    pub(crate) allowance: u32,
}

/// Why a work item was sent back to a node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FollowUps {
    pub(crate) item: Option<ItemId>,
    /// The newest reasons, oldest first, with their events and senders.
    pub(crate) reasons: VecDeque<(u64, NodeId, String)>,
}

/// What the last completed turn put out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LastOutput {
    /// Its `turn.started`.
    pub(crate) turn: Option<u64>,
    /// The work item it was about.
    pub(crate) item: Option<ItemId>,
    /// The way to it.
    #[serde(default)]
    pub(crate) trail: Trail,
    /// `lastOutput`.
    pub(crate) text: Option<Arc<str>>,
    /// The text whose value is `lastJson`. Parsed only when a path asks for it.
    pub(crate) json: Option<Arc<str>>,
    /// Whether `json` is of this turn, not of an earlier one.
    pub(crate) own_json: bool,
    /// The verdict of the last completed turn.
    pub(crate) verdict: Option<bool>,
    /// What it left besides.
    pub(crate) artifacts: Arc<[Artifact]>,
}

/// What the run knows about one node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct NodeState {
    /// Turns started here, not counting further attempts.
    pub(crate) visits: u32,
    /// Turns that came to a result.
    pub(crate) completed: u32,
    pub(crate) in_flight: InFlightTurns,
    /// Payloads that crossed no edge and are not yet attached.
    pub(crate) arriving: VecDeque<Payload>,
    pub(crate) inputs: InputBuffer,
    /// What the turn about to start has taken.
    pub(crate) taken: Taken,
    /// Whether a tick waits to be taken.
    pub(crate) tick_owed: bool,
    /// What a person was asked about its next turn, and said.
    pub(crate) consent: Option<Consent>,
    /// What its next turn would be, where a person must consent to it.
    #[serde(skip)]
    pub(crate) wanted: Memo<Wanted>,
    pub(crate) foreach: Option<Iteration>,
    /// How often its `foreach` was entered.
    pub(crate) iterations: u32,
    /// What its turns have spent.
    pub(crate) spent: Spent,
    /// A budget that a person gave it.
    pub(crate) budgets: Option<NodeBudgets>,
    /// Whether its budget keeps it from running.
    pub(crate) blocked: bool,
    /// What its newest turns came to, where it lies on a cycle.
    pub(crate) traces: Traces,
    /// The list that it last produced, if it is a generator.
    pub(crate) produced: Option<Arc<Vec<Value>>>,
    /// Its provider session, and the element or work item that it is about.
    pub(crate) session: Option<(Uuid, Option<ItemId>)>,
}

/// What a turn that is about to start has taken.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Taken {
    pub(crate) payloads: Vec<Payload>,
    /// The way to them.
    pub(crate) trail: Trail,
}

/// Hashes of what the newest turns of a node came to, each with its turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Traces {
    /// The work item that they are about: a loop that moves does not stand still.
    pub(crate) item: Option<ItemId>,
    pub(crate) outputs: VecDeque<(u64, u64)>,
    /// Diffs of turns in a row that left one.
    pub(crate) diffs: VecDeque<(u64, u64)>,
    /// Reasons of turns in a row that were not satisfied.
    pub(crate) failures: VecDeque<(u64, u64)>,
}

/// What the next turn of a node would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// By hash: the node, its item and what it would take.
    pub(crate) hash: String,
    pub(crate) payloads: Vec<Uuid>,
}

/// What a person was asked about a turn, by hash, and said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Consent {
    pub(crate) hash: String,
    pub(crate) answer: Option<bool>,
    /// The event that asked, or answered.
    pub(crate) seq: u64,
}

/// What the turns of a node have spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spent {
    pub(crate) turns: u64,
    /// Logical time between start and end.
    pub(crate) micros: Micros,
    pub(crate) cost: Option<Amount>,
}

/// A run that goes in circles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stall {
    pub(crate) node: NodeId,
    pub(crate) message: String,
}

/// Where a `foreach` stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Iteration {
    /// The list, frozen when the node was entered.
    pub(crate) items: Arc<Vec<Value>>,
    pub(crate) index: u32,
    /// What the node was entered with; every element gets it.
    pub(crate) payloads: Vec<Payload>,
    /// The way to it.
    pub(crate) trail: Trail,
    /// Whether a person asked for it.
    pub(crate) manual: bool,
}

/// A turn in flight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub(crate) node: usize,
    /// The how-manieth turn of its node it is.
    pub visit: u32,
    /// The how-manieth try at it.
    pub attempt: u32,
    /// The key of its work item.
    pub item: Option<String>,
    /// The work item of the loops around it that was current when it started (D21). An element of a
    /// `foreach` is none: the edges behind it are taken once for the whole list.
    pub(crate) about: Option<ItemId>,
    /// The way to it.
    pub(crate) trail: Trail,
    /// The payloads it was started with.
    pub consumed: Vec<Uuid>,
    /// What the runner is given.
    pub work: TurnWork,
    /// Where each part of a prompt comes from.
    pub(crate) layers: Vec<PromptLayer>,
    /// The provider session it belongs to.
    pub session: Option<SessionRef>,
    /// How many attempts before this one broke the contract.
    pub(crate) repairs: u32,
    /// How many attempts before this one failed in a way that may pass.
    pub(crate) retries: u32,
    /// When it started.
    pub(crate) since: Micros,
    /// Whether a person asked for it.
    pub(crate) manual: bool,
    /// What it may write: the strictest mode since it started.
    pub global_mode: GlobalMode,
    /// The scripted answer that it takes.
    pub script: Option<ScriptEntry>,
}

/// What a runner is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum TurnWork {
    /// An agent's prompt.
    Prompt(Arc<str>),
    /// A utility's input object.
    Input(Arc<Value>),
}

/// How far a list of the script has been used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ScriptPosition {
    /// The first entry that nobody has taken.
    pub(crate) next: u32,
    /// Entries that interrupted attempts gave back.
    pub(crate) returned: BTreeSet<u32>,
}

impl ScriptPosition {
    /// The entry that the next turn takes.
    pub(crate) fn upcoming(&self) -> u32 {
        self.returned.first().copied().unwrap_or(self.next)
    }
}

impl Run {
    /// A run to which nothing has happened.
    #[must_use]
    pub fn new(id: RunId) -> Self {
        Self {
            id,
            seq: 0,
            ts: 0,
            instant: 0,
            created_at: 0,
            created: None,
            cwd: String::new(),
            run_dir: String::new(),
            phase: Phase::New,
            pace: Pace::Auto,
            global: GlobalMode::Implementation,
            stalled: None,
            variables: Map::new(),
            last: LastOutput::default(),
            nodes: Vec::new(),
            queues: BTreeMap::new(),
            timers: BTreeSet::new(),
            requests: Requests::default(),
            timeline: 0,
            overspent: BTreeSet::new(),
            wired: Wired::default(),
            ready: Ready::default(),
            turns: BTreeMap::new(),
            held: HeldTurns::default(),
            iterating: BTreeSet::new(),
            loops: Vec::new(),
            traversals: BTreeMap::new(),
            follow_ups: BTreeMap::new(),
            paused: BTreeMap::new(),
            budget: Budget::default(),
            warned: BTreeSet::new(),
            crossing: Trail::default(),
            passed: None,
            usage: UsageTotals::default(),
            script: BTreeMap::new(),
        }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// The place of its last event.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The logical time of its last event.
    #[must_use]
    pub fn ts(&self) -> Micros {
        self.ts
    }

    /// The instant of its last decision, as the clock showed it then. Logical time may be ahead of
    /// it: events of one instant follow each other.
    #[must_use]
    pub fn instant(&self) -> Micros {
        self.instant
    }

    /// The logical time of its first event.
    #[must_use]
    pub fn created_at(&self) -> Micros {
        self.created_at
    }

    /// What it is doing.
    #[must_use]
    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    /// Its first event, once there is one.
    #[must_use]
    pub fn created(&self) -> Option<&RunCreated> {
        self.created.as_deref()
    }

    /// The variables.
    #[must_use]
    pub fn variables(&self) -> &Map<String, Value> {
        &self.variables
    }

    /// What it has spent.
    #[must_use]
    pub fn usage(&self) -> UsageTotals {
        self.usage
    }

    /// The project folder.
    #[must_use]
    pub fn cwd(&self) -> &str {
        &self.cwd
    }

    /// The folder of the cast.
    #[must_use]
    pub fn run_dir(&self) -> &str {
        &self.run_dir
    }

    /// The turn in flight whose `turn.started` is at that place.
    #[must_use]
    pub fn turn(&self, started: u64) -> Option<&Turn> {
        self.turns.get(&started)
    }

    /// The node at which a turn runs, with its id.
    #[must_use]
    pub fn node_of(&self, turn: &Turn) -> (&NodeId, &Node) {
        self.plan().nodes.get_index(turn.node).expect("turns run at nodes of the plan")
    }

    /// Whether the turns of this node are looked at for work that no longer gets on (D23).
    #[must_use]
    pub fn watches(&self, turn: &Turn) -> bool {
        self.wiring().cyclic.contains(&turn.node)
    }

    /// The plan. Only a created run has one.
    pub(crate) fn plan(&self) -> &Plan {
        &self.created.as_ref().expect("the run was created").plan
    }

    pub(crate) fn node(&self, index: usize) -> (&NodeId, &Node) {
        self.plan().nodes.get_index(index).expect("indices come from the plan")
    }

    pub(crate) fn index_of(&self, node: &NodeId) -> usize {
        self.plan().nodes.get_index_of(node).expect("events name nodes of the plan")
    }

    /// What it may spend.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// What a node may spend: what a person gave it, else what the plan says.
    #[must_use]
    pub fn node_budgets(&self, node: &NodeId) -> Option<NodeBudgets> {
        let (index, _, plan) = self.created.as_ref()?.plan.nodes.get_full(node)?;
        self.nodes[index].budgets.or(plan.budgets)
    }

    /// What turns may write.
    #[must_use]
    pub fn global_mode(&self) -> GlobalMode {
        self.global
    }

    /// Whether the scheduler starts turns.
    #[must_use]
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// How many entries of the timeline have taken effect.
    #[must_use]
    pub fn timeline_reached(&self) -> u32 {
        self.timeline
    }

    pub(crate) fn timeline_left(&self) -> bool {
        self.created.as_ref().is_some_and(|created| self.timeline < created.timeline)
    }

    pub(crate) fn wiring(&self) -> &Wiring {
        self.wired.of(self.plan())
    }

    /// The run that wrote the event at a place. A fork shares those of its original.
    pub(crate) fn writer(&self, seq: u64) -> &RunId {
        let fork = self.created.as_ref().and_then(|created| created.fork.as_ref());
        let writers = fork.map(|fork| fork.written_by.as_slice()).unwrap_or_default();
        writers.iter().find(|(_, last)| seq <= *last).map_or(&self.id, |(id, _)| id)
    }

    /// The id that stands for a place of this run. A fork keeps those of the events it shares.
    pub(crate) fn uuid(&self, seq: u64) -> Uuid {
        derived_id(self.writer(seq), seq)
    }

    /// Puts a node in its place among those that have inputs.
    pub(crate) fn reindex(&mut self, index: usize, before: Option<(Micros, Uuid)>) {
        let after = self.oldest_input(index);
        if before == after {
            return;
        }
        let by_itself = self.wiring().by_itself.contains(&index);
        if let Some((ts, id)) = before {
            self.ready.all.remove(&(ts, id, index));
            self.ready.by_itself.remove(&(ts, id, index));
        }
        if let Some((ts, id)) = after {
            self.ready.all.insert((ts, id, index));
            if by_itself {
                self.ready.by_itself.insert((ts, id, index));
            }
        }
    }

    /// The oldest payload that a turn of a node could take now.
    pub(crate) fn oldest_input(&self, index: usize) -> Option<(Micros, Uuid)> {
        self.nodes[index].inputs.oldest()
    }

    /// What a turn could take of an edge whose payloads are attached only when one is put together.
    pub(crate) fn late(&self, edge: &EdgeId) -> Late {
        let queue = self.queues.get(edge).filter(|_| self.wiring().is_late(self.plan(), edge));
        queue.map(DeliveryQueue::late).unwrap_or_default()
    }

    /// The command of a utility node, if it is one.
    #[must_use]
    pub fn command_of(&self, turn: &Turn) -> Option<&[String]> {
        match &self.node_of(turn).1.behavior {
            Behavior::Utility { command, .. } => Some(command),
            Behavior::Agent { .. } => None,
        }
    }
}

/// Work the kernel asks of the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Run the turn whose `turn.started` is at this place. Performing it twice must settle once.
    StartTurn(u64),
    /// Say so when this instant has come.
    WakeAt(Micros),
}

/// The effects a run still waits on, in the order they came to be owed.
pub fn outstanding(run: &Run) -> impl Iterator<Item = Effect> + '_ {
    let timer = run.timers.first().map(|(at, _, _)| Effect::WakeAt(*at));
    run.turns.keys().map(|started| Effect::StartTurn(*started)).chain(timer)
}
