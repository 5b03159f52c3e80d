//! Plans, runners and journals for tests.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use indexmap::IndexMap;
use materia_contract::{
    Behavior, Budget, CastLine, Command, CommandId, Condition, Delivery, Do, Edge, EdgeId,
    ErrorCode, GlobalMode, JOURNAL_VERSION_OF_PROJECT, Limits, Node, NodeId, Pace, Parse, Plan,
    Routing, RunCreated, RunId, TurnOutput,
};
use materia_engine::{
    AppendError, Asks, Batch, BoxFuture, ClaimError, Cursor, Disk, Epoch, Head, Journal, Lease,
    Lines, MemoryJournal, NoObserver, Page, PostError, Posted, Posting, ReadError, Receipt, Runner,
    Snapshots, SystemClock, Tail, TurnFault, TurnJob, TurnReport, World,
};

pub(crate) fn edge(from: &str, when: Condition, to: &str, bound: Option<u32>) -> Edge {
    let target = (to != "end").then(|| NodeId::new(to));
    let id = EdgeId::new(format!("{from}->{to}"));
    Edge {
        id,
        when,
        guard: None,
        to: target,
        fails: false,
        max_traversals: bound,
        delivery: Delivery::default(),
    }
}

pub(crate) fn utility(edges: Vec<Edge>) -> Node {
    let behavior = Behavior::Utility { command: vec!["x".into()], params: serde_json::Map::new() };
    Node { parse: Parse::Json, edges, ..Node::new("m", behavior) }
}

/// `count` goes round until it has counted to the bound that its answers set, then `last` runs.
pub(crate) fn counting() -> RunCreated {
    let count = utility(vec![
        edge("count", Condition::NotSatisfied, "count", Some(10_000)),
        edge("count", Condition::Satisfied, "last", None),
    ]);
    let nodes =
        [("count", count), ("last", utility(vec![edge("last", Condition::Always, "end", None)]))];
    of(nodes.into_iter().map(|(id, node)| (NodeId::new(id), node)).collect(), "count")
}

/// `a` starts `b`, `c` and `d` at once.
pub(crate) fn fan_out() -> RunCreated {
    let mut a = utility(["b", "c", "d"].map(|to| edge("a", Condition::Always, to, None)).into());
    a.routing = Routing::All;
    let mut nodes: IndexMap<NodeId, Node> = [(NodeId::new("a"), a)].into_iter().collect();
    for id in ["b", "c", "d"] {
        nodes.insert(NodeId::new(id), utility(Vec::new()));
    }
    of(nodes, "a")
}

pub(crate) fn of(nodes: IndexMap<NodeId, Node>, entry: &str) -> RunCreated {
    let plan = Plan {
        loadout: "test".into(),
        entry: NodeId::new(entry),
        nodes,
        loops: IndexMap::new(),
        limits: Limits::default(),
        budget: Budget::default(),
        doc_root: "docs".into(),
    };
    RunCreated {
        request: "go".into(),
        plan_hash: plan.hash(),
        plan,
        cwd: "{workspace}".into(),
        run_dir: "{runDir}".into(),
        pace: Pace::Auto,
        global_mode: GlobalMode::Implementation,
        virtual_time: false,
        script: None,
        agents: materia_contract::Answerers::default(),
        from_cast_id: None,
        fork: None,
        timeline: 0,
        link: None,
        state: serde_json::Map::new(),
        key: None,
        workspace: None,
        approved: None,
        journal_version: JOURNAL_VERSION_OF_PROJECT,
    }
}

/// Answers from what the turn is given, and remembers which turns reported their end.
#[derive(Clone)]
pub(crate) struct Counter {
    /// How far `count` counts.
    pub(crate) count_to: u64,
    pub(crate) performed: Arc<Mutex<Vec<(String, u32, u32)>>>,
    /// How long a turn takes.
    pub(crate) delay: Duration,
    pub(crate) in_flight: Arc<AtomicUsize>,
    pub(crate) most_in_flight: Arc<AtomicUsize>,
}

/// How far `count` counts, if nothing else is said.
pub(crate) const COUNT_TO: u64 = 6;

impl Default for Counter {
    fn default() -> Self {
        Self {
            count_to: COUNT_TO,
            performed: Arc::default(),
            delay: Duration::ZERO,
            in_flight: Arc::default(),
            most_in_flight: Arc::default(),
        }
    }
}

impl Runner for Counter {
    fn run(&self, job: TurnJob) -> BoxFuture<'static, TurnReport> {
        let (this, mut stop) = (self.clone(), job.control.stop.clone());
        Box::pin(async move {
            let now = this.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
            this.most_in_flight.fetch_max(now, Ordering::SeqCst);
            let materia_engine::Work::Utility { input, .. } = &job.work else {
                panic!("only utilities here")
            };
            let count = input["state"]["count"].as_u64().unwrap_or(0) + 1;
            let output = if job.node.as_str() == "count" {
                format!(
                    r#"{{"state": {{"count": {count}}}, "satisfied": {}}}"#,
                    count == this.count_to
                )
            } else {
                "{}".to_owned()
            };
            let mut outcome = Ok(TurnOutput { output, ..TurnOutput::default() });
            if !job.virtual_time && !this.delay.is_zero() {
                tokio::select! {
                    () = tokio::time::sleep(this.delay) => {}
                    () = stop.asked() => outcome = Err(was_stopped()),
                }
            }
            this.in_flight.fetch_sub(1, Ordering::SeqCst);
            let done = (job.node.to_string(), job.visit, job.attempt);
            this.performed.lock().unwrap().push(done);
            TurnReport {
                outcome,
                after: if job.virtual_time { this.delay } else { Duration::ZERO },
            }
        })
    }
}

fn was_stopped() -> TurnFault {
    let (code, message) = (ErrorCode::UtilityFailed, "it was stopped".to_owned());
    TurnFault { code, message, report: Box::default(), withheld: false }
}

/// A journal that breaks at its nth append: before it is stored, or after.
pub(crate) struct Breaking {
    pub(crate) inner: MemoryJournal,
    pub(crate) at: usize,
    pub(crate) stores_first: bool,
    pub(crate) appends: AtomicUsize,
    pub(crate) disk: Option<Disk>,
}

impl Journal for Breaking {
    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<(), AppendError>> {
        let nth = self.appends.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            if nth < self.at || self.stores_first {
                self.inner.append(batch).await?;
            }
            if nth < self.at { Ok(()) } else { Err(AppendError::Storage("power cut".into())) }
        })
    }
    fn read(
        &self,
        run: &RunId,
        after: u64,
        bytes: usize,
    ) -> BoxFuture<'_, Result<Page, ReadError>> {
        self.inner.read(run, after, bytes)
    }
    fn tail(&self, run: &RunId, after: u64) -> Tail {
        self.inner.tail(run, after)
    }
    fn blobs(&self) -> &dyn materia_engine::Blobs {
        self.inner.blobs()
    }
    fn head(&self, run: &RunId) -> BoxFuture<'_, Result<Option<Head>, ReadError>> {
        self.inner.head(run)
    }
    fn runs(
        &self,
        after: Option<&Cursor>,
        bytes: usize,
    ) -> BoxFuture<'_, Result<Lines, ReadError>> {
        self.inner.runs(after, bytes)
    }
    fn line(&self, run: &RunId) -> BoxFuture<'_, Result<Option<CastLine>, ReadError>> {
        self.inner.line(run)
    }
    fn claim(&self, run: &RunId) -> BoxFuture<'_, Result<Lease, ClaimError>> {
        self.inner.claim(run)
    }
    fn is_driven(&self, run: &RunId) -> BoxFuture<'_, Result<bool, ClaimError>> {
        self.inner.is_driven(run)
    }
    fn post(&self, run: &RunId, command: &Command) -> BoxFuture<'_, Result<Posting, PostError>> {
        self.inner.post(run, command)
    }
    fn withdraw(
        &self,
        run: &RunId,
        epoch: Epoch,
        command: &CommandId,
    ) -> BoxFuture<'_, Result<bool, ReadError>> {
        self.inner.withdraw(run, epoch, command)
    }
    fn commands(&self, run: &RunId) -> BoxFuture<'_, Result<Vec<Posted>, ReadError>> {
        self.inner.commands(run)
    }
    fn addressed(&self) -> BoxFuture<'_, Result<Vec<RunId>, ReadError>> {
        self.inner.addressed()
    }
    fn receipt(
        &self,
        run: &RunId,
        command: &CommandId,
    ) -> BoxFuture<'_, Result<Option<Receipt>, ReadError>> {
        self.inner.receipt(run, command)
    }
    fn disk(&self) -> Option<Disk> {
        self.disk
    }
    fn snapshots(&self) -> Option<&dyn Snapshots> {
        self.inner.snapshots()
    }
}

pub(crate) fn world(journal: Arc<dyn Journal>, runner: &Counter) -> World {
    World {
        journal,
        observer: Arc::new(NoObserver),
        runner: Arc::new(runner.clone()),
        clock: Arc::new(SystemClock),
    }
}

/// Nobody asks anything.
pub(crate) fn quiet() -> Asks {
    tokio::sync::mpsc::unbounded_channel().1
}

/// A person stops the run.
pub(crate) fn stop(message: &str) -> Posted {
    Command::person(Do::Stop { message: Some(message.to_owned()) }).into()
}
