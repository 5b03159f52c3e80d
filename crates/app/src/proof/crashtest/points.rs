//! The points at which memory can be lost, and the loss of it.
//!
//! An observer is notified of each decision once it is durable, and a runner finishes each turn before its report is
//! appended. At the chosen point everything stops: the journal accepts no more writes, and the run is dropped.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use materia_contract::body::{CrashPoint, CrashPointKind};
use materia_contract::{EventBody, NodeId, RunId};
use materia_engine::{
    BoxFuture, Committed, MemoryJournal, Observer, Runner, TurnJob, TurnOrder, TurnReport,
};
use tokio::sync::Notify;

/// The points of one play.
pub(super) struct Points {
    journal: MemoryJournal,
    reached: Mutex<Reached>,
    lost: Notify,
}

#[derive(Default)]
struct Reached {
    points: Vec<CrashPoint>,
    /// The numbers of the points at which memory is still to be lost, in order.
    ahead: VecDeque<u64>,
    /// The points at which memory was lost.
    crashes: Vec<CrashPoint>,
    /// Memory is lost and not taken up yet.
    lost: bool,
    /// How often a turn of each socket was performed to its end.
    performed: BTreeMap<NodeId, u64>,
}

/// The record of a play that has ended.
pub(super) struct Passed {
    pub(super) points: Vec<CrashPoint>,
    pub(super) crashes: Vec<CrashPoint>,
    pub(super) performed: BTreeMap<NodeId, u64>,
}

impl Points {
    /// Memory will be lost at the points with these numbers.
    pub(super) fn new(journal: MemoryJournal, crashes: &[u64]) -> Arc<Self> {
        let ahead = crashes.iter().copied().collect();
        let reached = Mutex::new(Reached { ahead, ..Reached::default() });
        Arc::new(Self { journal, reached, lost: Notify::new() })
    }

    fn reached(&self) -> MutexGuard<'_, Reached> {
        self.reached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Resolves when memory is lost.
    pub(super) async fn lost(&self) {
        self.lost.notified().await;
    }

    /// A new process begins with what is durable.
    pub(super) fn take_up(&self) {
        self.reached().lost = false;
        self.journal.hold(false);
    }

    pub(super) fn passed(&self) -> Passed {
        let mut reached = self.reached();
        Passed {
            points: std::mem::take(&mut reached.points),
            crashes: std::mem::take(&mut reached.crashes),
            performed: std::mem::take(&mut reached.performed),
        }
    }

    fn is_lost(&self) -> bool {
        self.reached().lost
    }

    fn reach(&self, kind: CrashPointKind, event: u64, sockets: Vec<NodeId>) {
        let mut reached = self.reached();
        let number = reached.points.len() as u64 + 1;
        let point = CrashPoint { number, kind, event, sockets };
        reached.points.push(point.clone());
        if reached.ahead.front() == Some(&number) {
            reached.ahead.pop_front();
            reached.crashes.push(point);
            reached.lost = true;
            self.journal.hold(true);
            self.lost.notify_one();
        }
    }
}

/// Hears of decisions.
pub(super) struct Decisions(pub(super) Arc<Points>);

impl Observer for Decisions {
    fn committed(&self, news: &Committed) {
        let Some(last) = news.events.last() else { return };
        let starts = news.events.iter().filter(|it| matches!(it.body, EventBody::TurnStarted(_)));
        let sockets = starts.filter_map(|event| event.node.clone()).collect();
        self.0.reach(CrashPointKind::Decision, last.seq, sockets);
    }

    fn room(&self) -> Option<BoxFuture<'static, ()>> {
        self.0.is_lost().then(|| Box::pin(std::future::pending()) as BoxFuture<'static, ()>)
    }
}

/// Performs turns, and knows when each has ended.
pub(super) struct Turns {
    pub(super) inner: Arc<dyn Runner>,
    pub(super) points: Arc<Points>,
}

impl Runner for Turns {
    fn run(&self, job: TurnJob) -> BoxFuture<'static, TurnReport> {
        let (node, points) = (job.node.clone(), Arc::clone(&self.points));
        let performed = self.inner.run(job);
        Box::pin(async move {
            let report = performed.await;
            *points.reached().performed.entry(node).or_default() += 1;
            report
        })
    }

    fn clear(&self, run: &RunId, run_dir: &Path) -> BoxFuture<'static, Result<(), String>> {
        self.inner.clear(run, run_dir)
    }

    fn land(&self, order: &TurnOrder, report: TurnReport) -> TurnReport {
        // A turn that would end at the same instant behind the loss does not come to its end.
        if self.points.is_lost() {
            return report;
        }
        let landed = self.inner.land(order, report);
        self.points.reach(CrashPointKind::Report, order.turn, vec![order.node.clone()]);
        landed
    }
}
