//! A worker: drives the runs of a space that wait for one.
//!
//! ```text
//! the list (`todo`) ─► fits? ─► claim ─► load ─► gate of trust ─► Host ─► rests: off the list
//! ```
//!
//! A run stays on the list while it is driven. So a run whose worker dies is there for the next one, as soon as the
//! lease has lapsed. The lease names the driver of a run; the list only asks for one.

mod files;
mod fit;
mod hand_over;
mod held_files;
mod looks;
mod take;

pub use fit::misfit;
pub use hand_over::{Handed, Needs, hand_over, keep_here};

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use materia_contract::body::{LeftAlone, WorkerBody};
use materia_contract::{RULES_VERSION, RunId};
use materia_engine::{Journal, Leave, SystemClock, off_thread};
use materia_journal::Views;
use materia_nats::{InTodo, NatsJournal, TodoList, host_name};
use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

use crate::cast::host::Host;
use crate::{Failure, Project};
use held_files::HeldFiles;
use looks::Looks;
use take::{Came, take};

/// The longest pause between two looks at the list: leases lapse without a message.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// The pause between two signs of life.
const SIGN_INTERVAL: Duration = Duration::from_secs(3);
/// A run that could not be driven here is tried again after this time.
const AGAIN_AFTER: Duration = Duration::from_secs(30);

/// So many runs are taken at one time: claimed, read and prepared. The others are left to other workers until then, and
/// wait for no second lease if this one dies meanwhile.
const TAKING_MAX: usize = 8;

/// A sign of life names so many of the runs that are left alone: it must fit into a message.
const LEFT_ALONE_MAX: usize = 100;

/// A worker chooses among so many times the runs that it can take.
const AMONG: usize = 4;

/// How a worker works.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How many runs it drives at one time.
    pub slots: u32,
    /// Its labels.
    pub labels: Vec<String>,
    /// How long turns may take to end when the worker is told to end.
    pub grace: Duration,
    /// The program that supervises processes of turns.
    pub supervisor: PathBuf,
    /// The version of the program.
    pub version: String,
}

/// Receives sentences about the work.
pub type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// A worker.
pub struct Worker {
    place: Place,
    settings: Settings,
    name: String,
    leave: watch::Sender<Leave>,
    /// The runs that are driven here, with the tasks that do it.
    driven: Vec<RunId>,
    /// They have changed since the last sign of life.
    unsaid: bool,
    tasks: JoinSet<(InTodo, Came)>,
    list: TodoList,
    looks: Looks,
    taking: Arc<Taking>,
    /// Whether the last look at the list failed.
    away: bool,
    /// Runs that are not driven here, and since when.
    left_alone: HashMap<RunId, Left>,
}

/// Where runs are driven: shared with the tasks that drive them.
#[derive(Clone)]
struct Place {
    project: Project,
    journal: Arc<NatsJournal>,
    root: PathBuf,
    views: Arc<Views>,
    files: Arc<HeldFiles>,
    host: Host,
    supervisor: PathBuf,
    say: Say,
}

/// Runs that are being taken.
struct Taking {
    room: Arc<Semaphore>,
    /// There is room for another one.
    ended: Notify,
}

/// The place of a run that is being taken, until it is driven or not taken.
struct Taker {
    place: Option<OwnedSemaphorePermit>,
    taking: Arc<Taking>,
}

impl Drop for Taker {
    fn drop(&mut self) {
        drop(self.place.take());
        self.taking.ended.notify_one();
    }
}

/// A run that is left alone.
struct Left {
    why: String,
    revision: u64,
    since: Instant,
}

impl Worker {
    /// A worker for the space of a project, which must be on NATS. Call it inside a runtime.
    pub fn new(project: Project, settings: Settings, say: Say) -> Result<Self, Failure> {
        let Some(journal) = project.remote()? else {
            return Err(Failure::usage("a worker needs casts on NATS servers"));
        };
        // Without the folder in which is noted what this user drives, nothing can run.
        project.options_to_write()?;
        let root = project.artifact_root();
        project.refuse_links(&root)?;
        let views = Arc::new(Views::start(&root, &project.places()));
        let port: Arc<dyn Journal> = Arc::clone(&journal) as Arc<dyn Journal>;
        let files = Arc::new(HeldFiles::new(Arc::clone(&views)));
        let host = Host::new(port, files.clone(), Arc::new(SystemClock), &Handle::current());
        let name = journal.worker_name();
        let supervisor = settings.supervisor.clone();
        let looks = Looks::new(journal.facts().lease);
        let taking = Taking { room: Arc::new(Semaphore::new(TAKING_MAX)), ended: Notify::new() };
        Ok(Self {
            place: Place { project, journal, root, views, files, host, supervisor, say },
            settings,
            name,
            leave: watch::channel(Leave::No).0,
            driven: Vec::new(),
            unsaid: false,
            tasks: JoinSet::new(),
            list: TodoList::default(),
            looks,
            taking: Arc::new(taking),
            away: false,
            left_alone: HashMap::new(),
        })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Drives runs until `stop` becomes true; then hands them over.
    pub async fn work(mut self, mut stop: watch::Receiver<bool>) -> Result<(), Failure> {
        let mut changed = self.place.journal.todo_changed().await?;
        let mut sign = tokio::time::interval(SIGN_INTERVAL);
        let mut look = tokio::time::interval(LOOK_INTERVAL);
        let taking = Arc::clone(&self.taking);
        loop {
            tokio::select! {
                told = stop.wait_for(|stop| *stop) => {
                    // An error means that nobody is left who could tell it to end.
                    drop(told);
                    break;
                }
                _ = sign.tick() => { self.announce().await; }
                Some(ended) = self.tasks.join_next() => {
                    self.ended(ended).await;
                    self.look().await;
                }
                _ = changed.changed() => self.look().await,
                () = taking.ended.notified() => self.look().await,
                _ = look.tick() => {
                    self.look().await;
                    if std::mem::take(&mut self.unsaid) {
                        self.announce().await;
                    }
                }
            }
        }
        self.finish().await;
        Ok(())
    }

    /// Begins no further turn, lets the turns in flight end, and hands the runs over.
    async fn finish(&mut self) {
        let count = self.tasks.len();
        if count > 0 {
            let grace = self.settings.grace.as_secs();
            (self.place.say)(&format!(
                "ends: no further turn begins; {count} casts are handed over when their turns have ended, or in {grace} s"
            ));
        }
        self.leave.send_replace(Leave::AfterTurns);
        self.announce().await;
        let deadline = tokio::time::sleep(self.settings.grace);
        tokio::pin!(deadline);
        let mut sign = tokio::time::interval(SIGN_INTERVAL);
        while !self.tasks.is_empty() {
            tokio::select! {
                Some(ended) = self.tasks.join_next() => self.ended(ended).await,
                () = &mut deadline, if *self.leave.borrow() != Leave::AtOnce => {
                    self.leave.send_replace(Leave::AtOnce);
                }
                _ = sign.tick() => self.announce().await,
            }
        }
        self.place.journal.given_up().await;
        // Without the server, the entry lapses by itself.
        let _ = self.place.journal.withdraw_worker(&self.name).await;
        let views = Arc::clone(&self.place.views);
        if let Err(problem) = off_thread(move || views.flush()).await {
            (self.place.say)(&format!("the files beside the journal are not complete: {problem}"));
        }
    }

    /// A run is driven here no more.
    async fn ended(&mut self, ended: Result<(InTodo, Came), tokio::task::JoinError>) {
        let (entry, came) = match ended {
            Ok(ended) => ended,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        };
        let InTodo { run, revision, .. } = entry;
        self.driven.retain(|driven| *driven != run);
        self.unsaid = true;
        match came {
            Came::OffTheList(why) => {
                (self.place.say)(&format!("cast `{run}`: {why}"));
                let _ = self.place.journal.remove_todo(revision).await;
            }
            Came::Elsewhere => {}
            Came::HandedOver => (self.place.say)(&format!("cast `{run}`: handed over")),
            Came::LeftAlone(why) => self.leave_alone(run, revision, why),
        }
    }

    fn leave_alone(&mut self, run: RunId, revision: u64, why: String) {
        let before = self.left_alone.get(&run);
        if before.is_none_or(|left| left.why != why || left.revision != revision) {
            (self.place.say)(&format!("cast `{run}` is left alone: {why}"));
        }
        let since = Instant::now();
        self.left_alone.insert(run, Left { why, revision, since });
    }

    /// Takes runs off the list for which there is a free slot.
    async fn look(&mut self) {
        // A failed look is no reason to end; the next one may succeed, and reads the whole list.
        let read = self.place.journal.todo(std::mem::take(&mut self.list)).await;
        let before = std::mem::replace(&mut self.away, read.is_err());
        let list = match read {
            Ok(list) => list,
            Err(error) => {
                if !before {
                    (self.place.say)(&format!(
                        "the casts that wait cannot be read, and no more are taken until they can: {error}"
                    ));
                }
                return;
            }
        };
        if before {
            (self.place.say)("the casts that wait can be read again");
        }
        let listed: HashSet<&RunId> = list.entries().iter().map(|entry| &entry.run).collect();
        self.left_alone.retain(|run, _| listed.contains(run));
        self.looks.retain(&listed);
        let (mut open, body, now) = (Vec::new(), self.body(), Instant::now());
        for entry in list.entries() {
            let left = self.left_alone.get(&entry.run);
            let tried = left.is_some_and(|it| {
                it.revision == entry.revision && it.since.elapsed() < AGAIN_AFTER
            });
            if tried || self.driven.contains(&entry.run) {
                continue;
            }
            match fit::unfit(entry, &body) {
                Some(why) => self.leave_alone(entry.run.clone(), entry.revision, why),
                None if self.looks.is_due(&entry.run, entry.revision, now) => open.push(entry),
                None => {}
            }
        }
        let open: Vec<InTodo> = open.into_iter().cloned().collect();
        self.list = list;
        self.take_some(&open, now).await;
    }

    /// Takes some of the runs that may wait. A few leases are read at one time, until there is a run for each free place.
    async fn take_some(&mut self, open: &[InTodo], now: Instant) {
        let slots = usize::try_from(self.settings.slots).unwrap_or(usize::MAX);
        let mut open = open.iter();
        loop {
            let room = self.taking.room.available_permits();
            let free = slots.saturating_sub(self.driven.len()).min(room);
            let some: Vec<&InTodo> = open.by_ref().take(free.saturating_mul(AMONG)).collect();
            if some.is_empty() {
                return;
            }
            let runs = some.iter().map(|entry| entry.run.clone()).collect();
            // The next look may succeed.
            let Ok(leases) = self.place.journal.leases(runs).await else { return };
            let mut undriven = Vec::new();
            for (entry, (run, lease)) in some.iter().zip(leases) {
                self.looks.saw(&run, entry.revision, lease, now);
                if lease.is_none() {
                    undriven.push(run);
                }
            }
            let chosen = fairly(undriven, free, &self.name);
            for entry in some.into_iter().filter(|entry| chosen.contains(&entry.run)) {
                self.begin(entry.clone());
            }
        }
    }

    /// Drives a run, in a task of its own.
    fn begin(&mut self, entry: InTodo) {
        // There was room, and nothing else takes it.
        let Ok(permit) = Arc::clone(&self.taking.room).try_acquire_owned() else { return };
        let taker = Taker { place: Some(permit), taking: Arc::clone(&self.taking) };
        self.left_alone.remove(&entry.run);
        self.driven.push(entry.run.clone());
        self.unsaid = true;
        let (place, leave) = (self.place.clone(), self.leave.subscribe());
        self.tasks.spawn(async move {
            let came = take(place, entry.clone(), leave, taker).await;
            (entry, came)
        });
    }

    async fn announce(&self) {
        // Without the server there is nobody to tell.
        let _ = self.place.journal.announce(&self.body()).await;
    }

    fn body(&self) -> WorkerBody {
        let mut left_alone: Vec<LeftAlone> = self
            .left_alone
            .iter()
            .map(|(run, left)| LeftAlone { cast_id: run.clone(), why: left.why.clone() })
            .collect();
        left_alone.sort_by(|a, b| a.cast_id.cmp(&b.cast_id));
        left_alone.truncate(LEFT_ALONE_MAX);
        WorkerBody {
            name: self.name.clone(),
            host: host_name(),
            pid: std::process::id(),
            folder: self.place.project.dir.to_string_lossy().into_owned(),
            version: self.settings.version.clone(),
            rules: RULES_VERSION,
            slots: self.settings.slots,
            labels: self.settings.labels.clone(),
            runs: self.driven.clone(),
            left_alone,
            ends: *self.leave.borrow() != Leave::No,
            seen_at: String::new(),
        }
    }
}

/// So many of the runs that wait as there are free slots. Workers that look at the same time begin at different places among
/// the oldest, so that most of them take different runs.
fn fairly(mut open: Vec<RunId>, free: usize, worker: &str) -> Vec<RunId> {
    let among = open.len().min(free.saturating_mul(AMONG));
    let place: usize = worker.bytes().map(usize::from).sum();
    if among > 0 {
        open[..among].rotate_left(place % among);
    }
    open.truncate(free);
    open
}
