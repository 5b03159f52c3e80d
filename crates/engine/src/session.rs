//! What a program does with runs: begin one, carry one on, end one.

use std::sync::Arc;
use std::time::Duration;

use materia_contract::time::VIRTUAL_EPOCH;
use materia_contract::{
    Act, Actor, Answerers, Budget, Folders, Input, JOURNAL_VERSION, NodeBudgets, NodeId, Pace,
    RunCreated, RunId, TimelineEntry, WaitReason,
};
use materia_kernel::{Now, Phase, Run};
use tokio::sync::mpsc;

use crate::load::load_tail;
use crate::real_time::UnderWay;
use crate::{
    ClaimError, Clock, Command, DriveError, Driver, Epoch, Journal, Lease, LoadError, Observer,
    Posted, Runner, off_thread, real_time, virtual_time,
};

/// How often a run under way looks for commands from other processes.
const INBOX_INTERVAL: Duration = Duration::from_millis(150);

/// Everything outside that a run needs.
#[derive(Clone)]
pub struct World {
    /// Where events are kept.
    pub journal: Arc<dyn Journal>,
    /// Who hears of them.
    pub observer: Arc<dyn Observer>,
    /// What performs turns.
    pub runner: Arc<dyn Runner>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

/// How a run is driven.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Stop after this much of the run's time.
    pub run_for: Option<Duration>,
    /// What happens at simulated instants, in the order in which it takes effect.
    pub timeline: Arc<[TimelineEntry]>,
    /// Where it is now; it may have been moved since it began.
    pub folders: Folders,
    /// Who answers the agent nodes from here on, where that is not as it was.
    pub agents: Option<Answerers>,
}

/// Something asked of a run under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// What; an error where it cannot be read.
    pub input: Result<Input, String>,
    /// Who asks.
    pub by: Option<Actor>,
    /// The number under which another process left it.
    pub command: Option<u64>,
}

impl Ask {
    /// A person asks.
    #[must_use]
    pub fn person(input: Input) -> Self {
        Self { input: Ok(input), by: Some(Actor::PERSON), command: None }
    }

    /// Stop in good order.
    #[must_use]
    pub fn stop(message: impl Into<String>) -> Self {
        Self::person(Input::Stop { message: message.into() })
    }

    /// Whether the turns in flight end on its account.
    pub(crate) fn ends_turns(&self) -> bool {
        matches!(self.input, Ok(Input::Stop { .. } | Input::Abort { .. }))
    }
}

/// What the run does by itself.
impl From<Input> for Ask {
    fn from(input: Input) -> Self {
        Self { input: Ok(input), by: None, command: None }
    }
}

/// Where a run hears what is asked of it.
pub type Asks = mpsc::UnboundedReceiver<Ask>;

/// Why a run could not be driven.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Somebody else drives it.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// It could not be taken up.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// An input was not taken.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// Somebody else drives it by now.
    #[error("cast `{0}` was lost to somebody else, who drives it now; its turns here were ended")]
    Lost(RunId),
    /// The id is taken.
    #[error("there is a cast `{0}` already")]
    Exists(RunId),
    /// It was written by a newer program.
    #[error(
        "cast `{run}` was written by a newer version of materia (journal version {found}, this one knows {JOURNAL_VERSION})"
    )]
    Newer {
        /// The run.
        run: RunId,
        /// Its version.
        found: u32,
    },
}

/// Begins a run and drives it until it rests. Returns how it rests.
#[tracing::instrument(name = "cast", skip_all, fields(id = %id))]
pub async fn cast(
    world: &World,
    id: RunId,
    created: RunCreated,
    options: Options,
    asks: &mut Asks,
) -> Result<Phase, EngineError> {
    let lease = world.journal.claim(&id).await?;
    if world.journal.head(&id).await.map_err(LoadError::from)?.is_some() {
        return Err(EngineError::Exists(id));
    }
    let now = if created.virtual_time { VIRTUAL_EPOCH } else { world.clock.now() };
    let (journal, observer) = (Arc::clone(&world.journal), Arc::clone(&world.observer));
    let mut driver = Driver::fresh(id, lease.epoch(), journal, observer);
    driver.take(now, Ask::person(Input::Create(Box::new(created)))).await?;
    drive(world, &lease, driver, options, asks, UnderWay::default()).await
}

/// What a person does to a run that nobody drives.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Carry it on, at this pace where one is named.
    Resume(Option<Pace>),
    /// Do something to it.
    Act(Act),
    /// Try what failed again.
    Recast,
    /// Give an exhausted edge its allowance once more.
    Revive,
    /// Change what it may spend, and carry it on if that is what it waited for.
    SetBudget(Budget),
    /// Change what one node may spend, and carry the run on if that is what it waited for.
    SetNodeBudgets {
        /// The node.
        node: NodeId,
        /// What it may spend from now on.
        budgets: NodeBudgets,
    },
    /// Say something to a node.
    Say {
        /// The node; where it is left out, the one that waits.
        node: Option<NodeId>,
        /// What is said.
        text: String,
    },
    /// Finish a multi-turn node.
    Continue {
        /// The node; where it is left out, the one that waits.
        node: Option<NodeId>,
    },
}

/// Takes a step of a person and drives the run until it rests. Returns how it rests.
#[tracing::instrument(name = "cast", skip_all, fields(id = %id))]
pub async fn carry_on(
    world: &World,
    id: &RunId,
    step: Step,
    options: Options,
    asks: &mut Asks,
) -> Result<Phase, EngineError> {
    let lease = world.journal.claim(id).await?;
    let mut driver = take_up(world, id, lease.epoch()).await?;
    // What somebody asked of it while it came to rest comes before what is asked now.
    take_all(world, &mut driver, left_in_inbox(world, id).await).await?;
    let under_way = rejoined(world, &driver, &options.folders).await;
    let agents = options.agents.clone().map(Input::SetAgents);
    for input in agents.into_iter().chain(inputs(driver.run(), step)) {
        let input = match (input, &under_way) {
            // Nothing was lost, so there is nothing to recover.
            (Input::Resume { pace: Some(value), .. }, Some(_)) => Input::act(Act::Mode { value }),
            (Input::Resume { .. }, Some(_)) => continue,
            (input, _) => input,
        };
        driver.take(now_of(world, &driver), Ask::person(input)).await?;
    }
    drive(world, &lease, driver, options, asks, under_way.unwrap_or_default()).await
}

/// The turns in flight of a run whose process went away, if all of them live on.
async fn rejoined(world: &World, driver: &Driver, folders: &Folders) -> Option<UnderWay> {
    if is_virtual(driver) || *driver.run().phase() != Phase::Running {
        return None;
    }
    UnderWay::rejoined((world, folders), driver).await
}

/// What a step of a person means for a run in its present state.
///
/// A run whose process went away is recovered first: its turns in flight are lost, and nothing else
/// may be built on them.
pub(crate) fn inputs(run: &Run, step: Step) -> Vec<Input> {
    // What a person does to one thing leaves the pace as it is.
    let resume = || Input::resume(Some(run.pace()));
    let crashed = *run.phase() == Phase::Running;
    let out_of_budget =
        matches!(run.phase(), Phase::Waiting(waiting) if waiting.reason == WaitReason::Budget);
    let recovered = |input: Input| if crashed { vec![resume(), input] } else { vec![input] };
    let set = |input: Input| {
        if crashed || out_of_budget { vec![input, resume()] } else { vec![input] }
    };
    match step {
        Step::Resume(pace) => vec![Input::resume(pace)],
        Step::Act(act) => recovered(Input::act(act)),
        Step::Recast => vec![Input::recast()],
        Step::Revive => vec![Input::Revive],
        Step::SetBudget(budget) => set(Input::SetBudget(budget)),
        Step::SetNodeBudgets { node, budgets } => set(Input::SetNodeBudgets { node, budgets }),
        Step::Say { node, text } => recovered(Input::Say { node, text }),
        Step::Continue { node } => recovered(Input::Continue { node }),
    }
}

/// Carries on a run that had stopped, and drives it until it rests.
pub async fn resume(
    world: &World,
    id: &RunId,
    options: Options,
    asks: &mut Asks,
) -> Result<Phase, EngineError> {
    carry_on(world, id, Step::Resume(None), options, asks).await
}

/// Ends a run that nobody drives.
#[tracing::instrument(name = "cast", skip_all, fields(id = %id))]
pub async fn abort(world: &World, id: &RunId, reason: String) -> Result<Phase, EngineError> {
    let lease = world.journal.claim(id).await?;
    let mut driver = take_up(world, id, lease.epoch()).await?;
    driver.take(now_of(world, &driver), Ask::person(Input::Abort { reason })).await?;
    Ok(driver.run().phase().clone())
}

/// Takes up a run under the lease of `epoch`.
pub(crate) async fn take_up(
    world: &World,
    id: &RunId,
    epoch: Epoch,
) -> Result<Driver, EngineError> {
    let (reading, wanted) = (Arc::clone(&world.journal), id.clone());
    let loaded = off_thread(move || load_tail(&*reading, &wanted)).await?;
    let found = loaded.run.created().map_or(JOURNAL_VERSION, |created| created.journal_version);
    if found > JOURNAL_VERSION {
        return Err(EngineError::Newer { run: id.clone(), found });
    }
    Ok(Driver::new(loaded, epoch, Arc::clone(&world.journal), Arc::clone(&world.observer)))
}

/// What time it is for a run: its own, if its time is simulated. A clock that was set back while nobody
/// drove the run does not take it back: it goes on from its last event.
fn now_of(world: &World, driver: &Driver) -> Now {
    if is_virtual(driver) {
        return driver.run().instant().into();
    }
    let wall = world.clock.now();
    Now { at: wall.max(driver.run().ts()), wall, until: None }
}

fn is_virtual(driver: &Driver) -> bool {
    driver.run().created().is_some_and(|created| created.virtual_time)
}

/// Drives a run until it rests, or its lease is lost: then everything that it started ends.
async fn drive(
    world: &World,
    lease: &Lease,
    driver: Driver,
    options: Options,
    asks: &mut Asks,
    under_way: UnderWay,
) -> Result<Phase, EngineError> {
    let id = driver.run().id().clone();
    tokio::select! {
        biased;
        rests = to_rest(world, driver, options, asks, under_way) => rests,
        () = lease.lost() => {
            tracing::warn!(epoch = %lease.epoch(), "lost");
            Err(EngineError::Lost(id))
        }
    }
}

async fn to_rest(
    world: &World,
    mut driver: Driver,
    options: Options,
    asks: &mut Asks,
    mut under_way: UnderWay,
) -> Result<Phase, EngineError> {
    loop {
        let under_way = std::mem::take(&mut under_way);
        driver = if is_virtual(&driver) {
            virtual_time::drive(world, driver, options.clone(), asks).await?
        } else {
            real_time::drive(world, driver, options.clone(), asks, under_way).await?
        };
        // Whoever asked for something while the run came to rest was told that it would be heard.
        let mut left: Vec<Ask> = std::iter::from_fn(|| asks.try_recv().ok()).collect();
        left.extend(left_in_inbox(world, driver.run().id()).await);
        take_all(world, &mut driver, left).await?;
        if *driver.run().phase() != Phase::Running {
            let status = driver.run().phase().status().word();
            tracing::info!(status, events = driver.run().seq(), "at rest");
            return Ok(driver.run().phase().clone());
        }
    }
}

/// What other processes have asked of a run and nobody has taken.
async fn left_in_inbox(world: &World, id: &RunId) -> Vec<Ask> {
    // A failed look is no reason to stop the run: what was asked is still there afterwards.
    world.journal.commands(id).await.unwrap_or_default().into_iter().map(asked).collect()
}

/// Takes what was asked of a run; what does not fit it any more has no effect.
async fn take_all(world: &World, driver: &mut Driver, asks: Vec<Ask>) -> Result<(), EngineError> {
    for ask in asks {
        match driver.take(now_of(world, driver), ask).await {
            Ok(()) | Err(DriveError::Rejected(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// What a command of another process means.
fn asked(posted: Posted) -> Ask {
    let input = posted.command.map(|command| match command {
        Command::Abort { reason } => Input::Abort { reason },
        Command::Stop => Input::Stop { message: "another process stopped the cast".into() },
        Command::Act { act } => Input::act(act),
        Command::Say { node, text } => Input::Say { node, text },
        Command::Continue { node } => Input::Continue { node },
        Command::Budget { budget } => Input::SetBudget(budget),
        Command::NodeBudgets { node, budgets } => Input::SetNodeBudgets { node, budgets },
    });
    Ask { input, by: Some(Actor::PERSON), command: Some(posted.number) }
}

/// Passes on what other processes ask of a run, until the run no longer listens.
pub async fn watch_inbox(journal: Arc<dyn Journal>, id: RunId, asks: mpsc::UnboundedSender<Ask>) {
    // A command stays in the inbox until its receipt is there; it is passed on once.
    let mut passed_on = 0;
    loop {
        tokio::time::sleep(INBOX_INTERVAL).await;
        // A failed look is no reason to stop the run; the next look may succeed.
        for posted in journal.commands(&id).await.unwrap_or_default() {
            if posted.number <= passed_on {
                continue;
            }
            passed_on = posted.number;
            if asks.send(asked(posted)).is_err() {
                return;
            }
        }
        if asks.is_closed() {
            return;
        }
    }
}
