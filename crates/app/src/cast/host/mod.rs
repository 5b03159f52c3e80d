//! Many runs in one process: start, resume, send commands, watch, stop.
//!
//! # Invariants
//!
//! * A command is recorded before it takes effect, and the sender gets its receipt: the same one whether the run is in
//!   this process or in another.
//! * A follower reads the journal and nothing else, in whichever process the run is.
//! * One poll of the inbox serves all runs of this process.
//!
//! Deliberately absent: the runner of the turns and the preparation of a run. Each run brings its own.

mod listen;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use materia_contract::{Command, CommandId, Do, Receipt, RunCreated, RunId};
use materia_engine::{
    Asks, BoxFuture, Clock, Delivered, EngineError, Journal, Lease, LoadedRun, Observer, Options,
    PostError, Posted, Runner, Tail, World, look_after,
};
use materia_kernel::Phase;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::trust::Cleared;

/// Interval at which a receipt is polled: another process may write it, and that a run has lost its driver is no event.
const RECEIPT_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Drives runs, and lets people and programs at them.
#[derive(Clone)]
pub struct Host {
    shared: Arc<Shared>,
}

/// State that all runs of a host share.
struct Shared {
    journal: Arc<dyn Journal>,
    observer: Arc<dyn Observer>,
    clock: Arc<dyn Clock>,
    /// The runs that are driven here.
    driven: Mutex<HashMap<RunId, Driven>>,
    /// Their number, for callers that wait until none is left.
    count: watch::Sender<usize>,
}

/// A run that is driven here.
struct Driven {
    asks: mpsc::UnboundedSender<Box<Posted>>,
    /// Commands that were passed on and still wait for their receipt.
    passed_on: Vec<CommandId>,
}

/// Settings of one run.
#[derive(Clone)]
pub struct Setting {
    /// Runner of its turns.
    pub runner: Arc<dyn Runner>,
    /// How it is driven.
    pub options: Options,
    /// The leave to drive it, from the gate of [trust](crate::trust).
    pub cleared: Cleared,
}

/// A run under way.
#[derive(Debug)]
pub struct Underway {
    /// Its id.
    pub id: RunId,
    task: JoinHandle<Result<Phase, EngineError>>,
}

impl Underway {
    fn spawn(id: RunId, driving: BoxFuture<'static, Result<Phase, EngineError>>) -> Self {
        Self { id, task: tokio::spawn(driving) }
    }

    /// Waits until the run rests, and says how.
    pub async fn rested(self) -> Result<Phase, EngineError> {
        match self.task.await {
            Ok(rested) => rested,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
}

/// Result of sending a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Submitted {
    /// It has been taken, or refused.
    Answered(Receipt),
    /// It is stored for the process that drives the run, which has not taken it yet.
    Waits(CommandId),
    /// No process drives the run: no command was posted.
    Undriven,
}

impl Host {
    /// A host without runs. It polls on `ears`, a runtime on which no task may block on a disk.
    pub fn new(
        journal: Arc<dyn Journal>,
        observer: Arc<dyn Observer>,
        clock: Arc<dyn Clock>,
        ears: &Handle,
    ) -> Self {
        let (driven, count) = (Mutex::default(), watch::Sender::new(0));
        let shared = Arc::new(Shared { journal, observer, clock, driven, count });
        ears.spawn(listen::listen(Arc::downgrade(&shared)));
        Self { shared }
    }

    /// The runs that are driven here.
    pub fn runs(&self) -> Vec<RunId> {
        self.shared.driven().keys().cloned().collect()
    }

    /// Begins a run and drives it, in a task of its own.
    pub fn begin(&self, id: RunId, created: RunCreated, setting: Setting) -> Underway {
        Underway::spawn(id.clone(), self.begin_here(id, created, setting))
    }

    /// The same, driven by the task that awaits it.
    pub fn begin_here(
        &self,
        id: RunId,
        created: RunCreated,
        setting: Setting,
    ) -> BoxFuture<'static, Result<Phase, EngineError>> {
        let cleared = setting.cleared.covers(&id, &created.plan);
        let (run, created) = (id.clone(), Box::new(created));
        self.drive(id, setting, move |world, options, mut asks| async move {
            if !cleared {
                return Err(EngineError::NotApproved(run));
            }
            materia_engine::cast(&world, run, created, options, &mut asks).await
        })
    }

    /// Does what a command asks to a run whose lease the caller holds and that was read under it, and drives it, in a
    /// task of its own.
    pub fn carry_on(
        &self,
        lease: Lease,
        taken: LoadedRun,
        command: Command,
        setting: Setting,
    ) -> Underway {
        let id = taken.run().id().clone();
        Underway::spawn(id, self.carry_on_here(lease, taken, command, setting))
    }

    /// The same, driven by the task that awaits it.
    pub fn carry_on_here(
        &self,
        lease: Lease,
        taken: LoadedRun,
        command: Command,
        setting: Setting,
    ) -> BoxFuture<'static, Result<Phase, EngineError>> {
        let id = taken.run().id().clone();
        let plan = taken.run().created().map(|created| &created.plan);
        let cleared = plan.is_some_and(|plan| setting.cleared.covers(&id, plan));
        let run = id.clone();
        self.drive(id, setting, move |world, options, mut asks| async move {
            if !cleared {
                return Err(EngineError::NotApproved(run));
            }
            materia_engine::carry_on(&world, lease, taken, command, options, &mut asks).await
        })
    }

    /// Sends a command to a run, whichever process drives it, and waits for the receipt until the timeout. A retry
    /// with the same id gets the same answer.
    pub async fn submit(
        &self,
        id: &RunId,
        command: &Command,
        patience: Duration,
    ) -> Result<Submitted, PostError> {
        let journal = &self.shared.journal;
        let posting = journal.post(id, command).await?;
        if let Some(receipt) = posting.receipt {
            return Ok(Submitted::Answered(receipt));
        }
        self.shared.pass_on(id).await;
        let begun = tokio::time::Instant::now();
        loop {
            match look_after(&**journal, id, &posting.id).await? {
                Some(Delivered::Answered(receipt)) => return Ok(Submitted::Answered(receipt)),
                Some(Delivered::TakenBack) => return Ok(Submitted::Undriven),
                None => {}
            }
            if begun.elapsed() >= patience {
                return Ok(Submitted::Waits(posting.id));
            }
            tokio::time::sleep(RECEIPT_POLL_INTERVAL).await;
        }
    }

    /// Asks a run that is driven here to stop in good order. Says whether it is driven here.
    pub fn ask_to_stop(&self, id: &RunId, message: &str) -> bool {
        let stop = Do::Stop { message: Some(message.to_owned()) };
        let driven = self.shared.driven();
        // An error means that it has just come to rest by itself.
        driven.get(id).is_some_and(|it| it.asks.send(Command::person(stop).into()).is_ok())
    }

    /// Stops everything in good order, and waits until this host drives no run. The runs can be resumed.
    pub async fn stop(&self, message: &str) {
        for id in self.runs() {
            let _ = self.ask_to_stop(&id, message);
        }
        let mut count = self.shared.count.subscribe();
        // An error means that the host is gone, and its runs with it.
        let _ = count.wait_for(|count| *count == 0).await;
    }

    /// Follows a run after event `after`, whichever process drives it: every event, in order, once.
    pub fn follow(&self, id: &RunId, after: u64) -> Tail {
        self.shared.journal.tail(id, after)
    }

    /// Enters a run among those that are driven here, until what drives it has ended.
    fn drive<F>(
        &self,
        id: RunId,
        setting: Setting,
        begin: impl FnOnce(World, Options, Asks) -> F,
    ) -> BoxFuture<'static, Result<Phase, EngineError>>
    where
        F: Future<Output = Result<Phase, EngineError>> + Send + 'static,
    {
        let Setting { runner, mut options, cleared } = setting;
        options.approval = cleared.approval();
        let shared = Arc::clone(&self.shared);
        let (journal, clock) = (Arc::clone(&shared.journal), Arc::clone(&shared.clock));
        let world = World { journal, observer: Arc::clone(&shared.observer), runner, clock };
        let (asks, heard) = mpsc::unbounded_channel();
        let entry = Entry::new(shared, id, asks);
        let driving = begin(world, options, heard);
        Box::pin(async move {
            let rested = driving.await;
            drop(entry);
            rested
        })
    }
}

/// The place of a run among those that are driven here. It is left when what drives the run has ended,
/// in whatever manner.
struct Entry {
    shared: Arc<Shared>,
    id: RunId,
    asks: mpsc::UnboundedSender<Box<Posted>>,
    /// Who was there before: a run that is driven here already is not driven twice, and keeps its place.
    before: Option<Driven>,
}

impl Entry {
    fn new(shared: Arc<Shared>, id: RunId, asks: mpsc::UnboundedSender<Box<Posted>>) -> Self {
        let mut driven = shared.driven();
        let run = Driven { asks: asks.clone(), passed_on: Vec::new() };
        let before = driven.insert(id.clone(), run);
        shared.count.send_replace(driven.len());
        drop(driven);
        Self { shared, id, asks, before }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut driven = self.shared.driven();
        if driven.get(&self.id).is_some_and(|run| run.asks.same_channel(&self.asks)) {
            driven.remove(&self.id);
            if let Some(before) = self.before.take().filter(|before| !before.asks.is_closed()) {
                driven.insert(self.id.clone(), before);
            }
        }
        self.shared.count.send_replace(driven.len());
    }
}

impl Shared {
    fn driven(&self) -> MutexGuard<'_, HashMap<RunId, Driven>> {
        self.driven.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a run that is driven here the commands that wait for it, each once.
    async fn pass_on(&self, id: &RunId) {
        if !self.driven().contains_key(id) {
            return;
        }
        // A failed look is no reason to stop the run; the next look may succeed.
        let Ok(waiting) = self.journal.commands(id).await else { return };
        let mut driven = self.driven();
        let Some(run) = driven.get_mut(id) else { return };
        // Whatever waits no longer will not come again.
        run.passed_on.retain(|id| waiting.iter().any(|posted| posted.id.as_ref() == Some(id)));
        for posted in waiting {
            let Some(id) = posted.id.clone().filter(|id| !run.passed_on.contains(id)) else {
                continue;
            };
            run.passed_on.push(id);
            // An error means that the run has just come to rest: the next process that drives it reads the command.
            let _ = run.asks.send(Box::new(posted));
        }
    }
}
