//! The state of one run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{
    Answerers, Budget, BudgetBound, EdgeId, EnvelopeKind, FileState, GlobalMode, Node, NodeBudgets,
    NodeId, Pace, Plan, RunCreated, RunId, StorageMeasured, Timer, UsageTotals, Uuid, derived_id,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    Branch, Caught, Checkout, DeliveryQueue, Files, FollowUps, HeldTurns, LastOutput, Late,
    LoopState, Nodes, Payload, Phase, Ready, Requests, ScriptPosition, Stall, Trail, Traversed,
    Turn, Verdict, Wired, Wiring,
};

use crate::tally::{Look, look};

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
    /// Whether the run is being stopped, and the turns in flight are being ended.
    pub(crate) stopping: bool,
    /// Where turns may write.
    pub(crate) global: GlobalMode,
    /// Who answers the agent nodes.
    #[serde(default)]
    pub(crate) agents: Arc<Answerers>,
    /// The stall that was detected, until the pace is automatic again.
    pub(crate) stalled: Option<Stall>,
    pub(crate) variables: Map<String, Value>,
    pub(crate) last: LastOutput,
    /// One for each node of the plan, in its order.
    pub(crate) nodes: Nodes,
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
    pub(crate) turns: BTreeMap<u64, Box<Turn>>,
    /// Turns that ended without a result and may run again.
    pub(crate) held: HeldTurns,
    /// Nodes whose `foreach` has an element left to start.
    pub(crate) iterating: BTreeSet<usize>,
    /// One for each loop of the plan, in its order.
    pub(crate) loops: Vec<LoopState>,
    /// How often bounded edges were taken.
    pub(crate) traversals: BTreeMap<EdgeId, Traversed>,
    /// Why work was sent back, by the node that receives the reason in its next prompt.
    pub(crate) follow_ups: BTreeMap<usize, FollowUps>,
    /// Multi-turn nodes that wait for a person, with their last result.
    pub(crate) paused: BTreeMap<usize, LastOutput>,
    pub(crate) budget: Budget,
    /// Its storage at the last measurement.
    pub(crate) storage: Option<StorageMeasured>,
    /// Bounds that were warned about.
    pub(crate) warned: BTreeSet<BudgetBound>,
    /// The way to what is being routed.
    pub(crate) crossing: Trail,
    /// The node that is being left, where it let its inputs through and ran nothing.
    pub(crate) passed: Option<usize>,
    /// The newest turn whose failure leads on instead of ending the run.
    pub(crate) caught: Option<Caught>,
    /// The last completed turn of each node with its place, where the plan has a way to `fail`: that starts it again (D65).
    #[serde(default)]
    pub(crate) done: BTreeMap<usize, (u64, Box<Turn>)>,
    /// The verdict so far.
    #[serde(default)]
    pub(crate) verdict: Verdict,
    pub(crate) usage: UsageTotals,
    /// How far each list of the script has been used.
    pub(crate) script: BTreeMap<String, ScriptPosition>,
    /// Its files, where it has a workspace of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<Box<Files>>,
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
            stopping: false,
            global: GlobalMode::Implementation,
            agents: Arc::default(),
            stalled: None,
            variables: Map::new(),
            last: LastOutput::default(),
            nodes: Nodes::default(),
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
            storage: None,
            warned: BTreeSet::new(),
            crossing: Trail::default(),
            passed: None,
            caught: None,
            done: BTreeMap::new(),
            verdict: Verdict::default(),
            usage: UsageTotals::default(),
            script: BTreeMap::new(),
            files: None,
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

    /// Its phase.
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

    /// Its usage so far.
    #[must_use]
    pub fn usage(&self) -> UsageTotals {
        self.usage
    }

    /// The verdict with which it completed, where a turn gave one (D65).
    #[must_use]
    pub fn verdict(&self) -> Option<bool> {
        if self.phase == Phase::Completed { self.verdict.of_run() } else { None }
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

    /// The files that its last event names, where it has a workspace of its own.
    #[must_use]
    pub fn files(&self) -> Option<&FileState> {
        self.files.as_ref().map(|files| &files.last)
    }

    /// When the event came that names its files.
    #[must_use]
    pub fn files_at(&self) -> Option<Micros> {
        self.files.as_ref().map(|files| files.at)
    }

    /// Whether the checkout may hold something else than [`files`](Self::files), which goes before anything is done.
    #[must_use]
    pub fn must_put_back(&self) -> bool {
        self.files.as_ref().is_some_and(|files| files.checkout == Checkout::PutBack)
    }

    /// Whether its branch is owed to the user's repository.
    #[must_use]
    pub fn is_publishing(&self) -> bool {
        let publishing = |files: &Files| files.branch == Branch::Publishing;
        self.phase == Phase::Running && self.files.as_deref().is_some_and(publishing)
    }

    /// The form of the answer that the agent of a turn is asked for.
    #[must_use]
    pub fn answer_schema_of(&self, turn: &Turn) -> Option<Arc<Value>> {
        self.wiring().schemas[turn.node].clone()
    }

    /// The turn in flight whose `turn.started` is at that place.
    #[must_use]
    pub fn turn(&self, started: u64) -> Option<&Turn> {
        self.turns.get(&started).map(|turn| &**turn)
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
        look(Look::Node);
        self.plan().nodes.get_index(index).expect("indices come from the plan")
    }

    pub(crate) fn index_of(&self, node: &NodeId) -> usize {
        self.plan().nodes.get_index_of(node).expect("events name nodes of the plan")
    }

    /// How many megabytes it may keep.
    pub(crate) fn max_storage_mb(&self) -> u64 {
        self.budget.max_storage_mb.unwrap_or(self.plan().limits.max_storage_mb)
    }

    /// Whether it would start anything, if what it keeps were this.
    #[must_use]
    pub fn has_room(&self, storage: &StorageMeasured) -> bool {
        storage.leaves_room(self.max_storage_mb())
    }

    /// Its storage at the last measurement that was recorded.
    #[must_use]
    pub fn storage(&self) -> Option<StorageMeasured> {
        self.storage
    }

    /// How many megabytes would do, where it keeps as many as it may.
    #[must_use]
    pub fn more_storage_mb(&self) -> Option<u64> {
        let storage = self.storage?;
        (storage.used_mb >= self.max_storage_mb()).then(|| storage.used_mb.max(1).saturating_mul(2))
    }

    /// Whether what it keeps holds it, as far as was measured.
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        self.storage.is_some_and(|storage| !self.has_room(&storage))
    }

    /// Its budget.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// The budget of a node: set by a person, otherwise by the plan.
    #[must_use]
    pub fn node_budgets(&self, node: &NodeId) -> Option<NodeBudgets> {
        let (index, _, plan) = self.created.as_ref()?.plan.nodes.get_full(node)?;
        self.nodes[index].budgets.or(plan.budgets)
    }

    /// Who answers the agent nodes; those that the script answers are not among them.
    #[must_use]
    pub fn agents(&self) -> &Answerers {
        &self.agents
    }

    /// Where turns may write.
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

    /// The payload that starts a run: what the person asked for.
    pub(crate) fn request_payload(&self) -> Payload {
        let created = self.created.as_ref().expect("the run was created");
        let request = &created.request;
        let payload =
            Payload::plain(self.uuid(1), EnvelopeKind::User, self.created_at, request.as_str());
        let entry = self.wiring().entry(self.index_of(&created.plan.entry), None);
        Payload { trail: Trail::default().up_to(entry, None), ..payload }
    }

    /// Puts a node in its place among those that have inputs.
    pub(crate) fn reindex(&mut self, index: usize, before: Option<(Micros, Uuid)>) {
        let after = self.oldest_input(index);
        if before == after {
            return;
        }
        let by_itself = self.wiring().by_itself.contains(&index);
        let ready = if by_itself { &mut self.ready.by_itself } else { &mut self.ready.by_hand };
        if let Some((ts, id)) = before {
            ready.remove(&(ts, id, index));
        }
        if let Some((ts, id)) = after {
            ready.insert((ts, id, index));
        }
    }

    /// The oldest payload that a turn of a node could take now.
    pub(crate) fn oldest_input(&self, index: usize) -> Option<(Micros, Uuid)> {
        self.nodes[index].inputs.oldest()
    }

    /// Payloads that a turn could take from an edge that attaches them only when a turn starts.
    pub(crate) fn late(&self, edge: &EdgeId) -> Late {
        self.queues.get(edge).map(DeliveryQueue::late).unwrap_or_default()
    }
}
