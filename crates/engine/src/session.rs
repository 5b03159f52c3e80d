//! What a program does with runs: begin one, carry one on, end one.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use materia_contract::time::VIRTUAL_EPOCH;
use materia_contract::{
    Act, Budget, JOURNAL_VERSION, NodeBudgets, NodeId, Pace, RunCreated, RunId, TimelineEntry,
    WaitReason,
};
use materia_kernel::{Input, Phase, Run};
use tokio::sync::mpsc;

use crate::{
    ClaimError, Clock, Command, DriveError, Driver, Journal, LoadError, Observer, Runner, load,
    real_time, virtual_time,
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
}

/// Something asked of a run under way.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    /// Stop in good order.
    Stop {
        /// A sentence for whoever looks at it later.
        message: String,
    },
    /// End for good.
    Abort {
        /// Who, or why.
        reason: String,
    },
    /// Take this, and go on.
    Take(Box<Input>),
}

impl Ask {
    /// Whether the turns in flight end on its account.
    pub(crate) fn ends_turns(&self) -> bool {
        match self {
            Self::Stop { .. } | Self::Abort { .. } => true,
            Self::Take(_) => false,
        }
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
pub async fn cast(
    world: &World,
    id: RunId,
    created: RunCreated,
    options: Options,
    asks: &mut Asks,
) -> Result<Phase, EngineError> {
    let _claim = world.journal.claim(&id)?;
    if world.journal.head(&id).map_err(LoadError::from)?.is_some() {
        return Err(EngineError::Exists(id));
    }
    let now = if created.virtual_time { VIRTUAL_EPOCH } else { world.clock.now() };
    let mut driver = Driver::fresh(id, Arc::clone(&world.journal), Arc::clone(&world.observer));
    driver.take(now, Input::Create(Box::new(created))).await?;
    drive(world, driver, options, asks).await
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
pub async fn carry_on(
    world: &World,
    id: &RunId,
    place: Place<'_>,
    step: Step,
    options: Options,
    asks: &mut Asks,
) -> Result<Phase, EngineError> {
    let _claim = world.journal.claim(id)?;
    let mut driver = take_up(world, id)?;
    // What somebody asked of it while it came to rest comes before what is asked now.
    take_all(world, &mut driver, left_in_inbox(world, id)).await?;
    for input in inputs(driver.run(), place, step) {
        driver.take(now_of(world, &driver), input).await?;
    }
    drive(world, driver, options, asks).await
}

/// What a step of a person means for a run in its present state.
///
/// A run whose process went away is recovered first: its turns in flight are lost, and nothing else
/// may be built on them.
pub(crate) fn inputs(run: &Run, place: Place<'_>, step: Step) -> Vec<Input> {
    let resume_at =
        |pace| Input::Resume { cwd: text(place.cwd), run_dir: text(place.run_dir), pace };
    // What a person does to one thing leaves the pace as it is.
    let resume = || resume_at(Some(run.pace()));
    let crashed = *run.phase() == Phase::Running;
    let out_of_budget =
        matches!(run.phase(), Phase::Waiting(waiting) if waiting.reason == WaitReason::Budget);
    let recovered = |input: Input| if crashed { vec![resume(), input] } else { vec![input] };
    let set = |input: Input| {
        if crashed || out_of_budget { vec![input, resume()] } else { vec![input] }
    };
    match step {
        Step::Resume(speed) => vec![resume_at(speed)],
        Step::Act(act) => recovered(Input::act(act)),
        Step::Recast => {
            vec![Input::Recast { cwd: text(place.cwd), run_dir: text(place.run_dir) }]
        }
        Step::Revive => vec![Input::Revive],
        Step::SetBudget(budget) => set(Input::SetBudget(budget)),
        Step::SetNodeBudgets { node, budgets } => set(Input::SetNodeBudgets { node, budgets }),
        Step::Say { node, text } => recovered(Input::Say { node, text }),
        Step::Continue { node } => recovered(Input::Continue { node }),
    }
}

/// Where a run is now; it may have been moved since it began.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The project folder.
    pub cwd: &'a Path,
    /// The folder of the cast.
    pub run_dir: &'a Path,
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Carries on a run that had stopped, and drives it until it rests.
pub async fn resume(
    world: &World,
    id: &RunId,
    cwd: &Path,
    run_dir: &Path,
    options: Options,
    asks: &mut Asks,
) -> Result<Phase, EngineError> {
    carry_on(world, id, Place { cwd, run_dir }, Step::Resume(None), options, asks).await
}

/// Ends a run that nobody drives.
pub async fn abort(world: &World, id: &RunId, reason: String) -> Result<Phase, EngineError> {
    let _claim = world.journal.claim(id)?;
    let mut driver = take_up(world, id)?;
    driver.take(now_of(world, &driver), Input::Abort { reason }).await?;
    Ok(driver.run().phase().clone())
}

pub(crate) fn take_up(world: &World, id: &RunId) -> Result<Driver, EngineError> {
    let (run, head) = load(world.journal.as_ref(), id)?;
    let found = run.created().map_or(JOURNAL_VERSION, |created| created.journal_version);
    if found > JOURNAL_VERSION {
        return Err(EngineError::Newer { run: id.clone(), found });
    }
    Ok(Driver::new(run, head, Arc::clone(&world.journal), Arc::clone(&world.observer)))
}

/// What time it is for a run: its own, if its time is simulated.
fn now_of(world: &World, driver: &Driver) -> i64 {
    if is_virtual(driver) { driver.run().instant() } else { world.clock.now() }
}

fn is_virtual(driver: &Driver) -> bool {
    driver.run().created().is_some_and(|created| created.virtual_time)
}

async fn drive(
    world: &World,
    mut driver: Driver,
    options: Options,
    asks: &mut Asks,
) -> Result<Phase, EngineError> {
    loop {
        driver = if is_virtual(&driver) {
            virtual_time::drive(world, driver, options.clone(), asks).await?
        } else {
            real_time::drive(world, driver, options.clone(), asks).await?
        };
        // Whoever asked for something while the run came to rest was told that it would be heard.
        let mut left: Vec<Ask> = std::iter::from_fn(|| asks.try_recv().ok()).collect();
        left.extend(left_in_inbox(world, driver.run().id()));
        take_all(world, &mut driver, left).await?;
        if *driver.run().phase() != Phase::Running {
            return Ok(driver.run().phase().clone());
        }
    }
}

/// What other processes have asked of a run and nobody has taken.
fn left_in_inbox(world: &World, id: &RunId) -> Vec<Ask> {
    // A failed look is no reason to stop the run.
    world.journal.take_commands(id).unwrap_or_default().into_iter().map(asked).collect()
}

/// Takes what was asked of a run; what does not fit it any more has no effect.
async fn take_all(world: &World, driver: &mut Driver, asks: Vec<Ask>) -> Result<(), EngineError> {
    for ask in asks {
        match driver.take(now_of(world, driver), real_time::ask_input(ask)).await {
            Ok(()) | Err(DriveError::Rejected(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// What a command of another process means.
fn asked(command: Command) -> Ask {
    match command {
        Command::Abort { reason } => Ask::Abort { reason },
        Command::Stop => Ask::Stop { message: "another process stopped the cast".into() },
        Command::Act { act } => Ask::Take(Box::new(Input::act(act))),
        Command::Say { node, text } => Ask::Take(Box::new(Input::Say { node, text })),
        Command::Continue { node } => Ask::Take(Box::new(Input::Continue { node })),
        Command::Budget { budget } => Ask::Take(Box::new(Input::SetBudget(budget))),
        Command::NodeBudgets { node, budgets } => {
            Ask::Take(Box::new(Input::SetNodeBudgets { node, budgets }))
        }
    }
}

/// Passes on what other processes ask of a run, until the run no longer listens.
pub async fn watch_inbox(journal: Arc<dyn Journal>, id: RunId, asks: mpsc::UnboundedSender<Ask>) {
    loop {
        tokio::time::sleep(INBOX_INTERVAL).await;
        // A failed look is no reason to stop the run; the next look may succeed.
        for command in journal.take_commands(&id).unwrap_or_default() {
            if asks.send(asked(command)).is_err() {
                return;
            }
        }
        if asks.is_closed() {
            return;
        }
    }
}
