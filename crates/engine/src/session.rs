//! Starts, resumes and ends runs.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use materia_contract::time::VIRTUAL_EPOCH;
use materia_contract::{
    Actor, Command, Do, FilesFound, Input, RunCreated, RunId, RunPlace, WaitReason,
};
use materia_kernel::{Now, Phase, Run};
use tokio::sync::mpsc;
use tracing::Instrument as _;

use crate::drive::wait_for_room;
use crate::load::{drive_loaded, load_to_drive, take_up};
use crate::under_way::UnderWay;
use crate::{
    Asks, DriveError, Driver, EngineError, Epoch, Journal, Lease, Leave, LoadError, LoadedRun,
    Options, Posted, World, apply_command, files, off_thread, real_time, storage, virtual_time,
};

/// How often a run under way looks for commands from other processes, which the database does not report. Its own
/// commits, one for each step, bring none.
const INBOX_INTERVAL: Duration = Duration::from_millis(150);

/// Begins a run and drives it until it rests. Returns how it rests.
pub async fn cast(
    world: &World,
    id: RunId,
    created: impl Into<Arc<RunCreated>>,
    options: Options,
    asks: &mut Asks,
) -> Result<Phase, EngineError> {
    let span = tracing::info_span!("cast", %id);
    let cast = async {
        let (lease, driver) = Box::pin(begun_with_room(world, id, created.into())).await?;
        let options = Options { term: lease.term(), ..options };
        drive(world, &lease, driver, &options, asks, UnderWay::default()).await
    };
    cast.instrument(span).await
}

/// Writes the beginning of a run and starts nothing: the process that resumes it drives it.
pub async fn create(
    world: &World,
    id: RunId,
    created: impl Into<Arc<RunCreated>>,
) -> Result<(), EngineError> {
    begun(world, id, created.into(), Some(1)).await.map(drop)
}

/// A run that has begun. Where its disk is nearly full, nothing of it starts before that is written down.
async fn begun_with_room(
    world: &World,
    id: RunId,
    created: Arc<RunCreated>,
) -> Result<(Lease, Box<Driver>), EngineError> {
    let Some(storage) = storage::full(&created, &*world.journal) else {
        return begun(world, id, created, None).await;
    };
    let (lease, mut driver) = begun(world, id, created, Some(1)).await?;
    driver.take_for(now_of(world, &driver), Input::Measured(storage), None).await?;
    Ok((lease, driver))
}

/// A run with its beginning written down; nothing is started behind the event `until`.
async fn begun(
    world: &World,
    id: RunId,
    created: Arc<RunCreated>,
    until: Option<u64>,
) -> Result<(Lease, Box<Driver>), EngineError> {
    let lease = world.journal.claim(&id).await?;
    if world.journal.head(&id).await.map_err(LoadError::from)?.is_some() {
        return Err(EngineError::Exists(id));
    }
    // Many runs may begin at once.
    wait_for_room(&*world.observer).await;
    let wall = if created.virtual_time { VIRTUAL_EPOCH } else { world.clock.now() };
    let (journal, observer) = (Arc::clone(&world.journal), Arc::clone(&world.observer));
    let mut driver = Box::new(Driver::fresh(id, lease.epoch(), journal, observer));
    let now = Now { at: wall, wall, until };
    driver.take_for(now, Input::Create(created), Actor::PERSON).await?;
    Ok((lease, driver))
}

/// Takes up a run without a driver, carries out a command, and drives the run until it rests; returns its phase.
/// The caller must hold the lease and have [loaded](crate::load_to_drive) the run under it, so that the inspected
/// and approved run is the one that is driven.
pub async fn carry_on(
    world: &World,
    lease: Lease,
    loaded: LoadedRun,
    command: Command,
    options: Options,
    asks: &mut Asks,
) -> Result<Phase, EngineError> {
    let span = tracing::info_span!("cast", id = %loaded.run().id());
    let cast = async {
        let options = Options { term: lease.term(), ..options };
        // In a box: what happens once takes no room in the run from then on.
        let taken_up = Box::pin(taken_up(world, lease.epoch(), loaded, command, &options)).await;
        let (driver, under_way, refused) = taken_up?;
        let phase = drive(world, &lease, driver, &options, asks, under_way).await?;
        refused.map_or(Ok(phase), Err)
    };
    cast.instrument(span).await
}

/// A run that does what a command asks, and the turns of its that live on. If commands that waited set the run going, it
/// must be driven even if this command is refused; the refusal comes with it.
async fn taken_up(
    world: &World,
    epoch: Epoch,
    loaded: LoadedRun,
    command: Command,
    options: &Options,
) -> Result<(Box<Driver>, UnderWay, Option<EngineError>), EngineError> {
    let id = &loaded.run().id().clone();
    let mut driver = drive_loaded(loaded, &world.journal, &world.observer, epoch)?;
    clear(world, &driver, options).await?;
    // Commands that are already in the inbox come before this command.
    let rested = *driver.run().phase() != Phase::Running;
    take_all(world, &mut driver, left_in_inbox(world, id).await).await?;
    let woken = rested && *driver.run().phase() == Phase::Running;
    let now = now_of(world, &driver);
    driver.measure_first(now).await?;
    // Turns that were started just now have no process yet; there is nothing to recover.
    let under_way = if woken { None } else { rejoined(world, &driver, options).await };
    if let Some(agents) = options.agents.clone() {
        driver.take_for(now_of(world, &driver), Input::SetAgents(agents), Actor::PERSON).await?;
    }
    let state = match (woken, under_way.is_some()) {
        (true, _) => TakenUp::Woken,
        (false, true) => TakenUp::Alive,
        (false, false) => TakenUp::Resting,
    };
    let found = match state {
        TakenUp::Resting => files::found(world, &driver, options.go_on).await?,
        TakenUp::Alive | TakenUp::Woken => None,
    };
    let refused = match do_first(world, &mut driver, command, (state, found)).await {
        Ok(()) => None,
        Err(error) if woken && is_refusal(&error) => Some(error),
        Err(error) => return Err(error),
    };
    Ok((driver, under_way.unwrap_or_default(), refused))
}

/// Whether a command was refused, and the run is as it was.
fn is_refusal(error: &EngineError) -> bool {
    matches!(
        error,
        EngineError::Drive(DriveError::Rejected(_))
            | EngineError::Answered(_)
            | EngineError::OtherBody(_)
    )
}

/// The turns in flight of a run whose process went away, if all of them live on.
async fn rejoined(world: &World, driver: &Driver, options: &Options) -> Option<UnderWay> {
    if is_virtual(driver) || *driver.run().phase() != Phase::Running {
        return None;
    }
    UnderWay::rejoined((world, options), driver).await
}

/// Ends processes that earlier turns of a run have left. It runs for a waiting run, too: its state does not show
/// whether its process crashed.
async fn clear(world: &World, driver: &Driver, options: &Options) -> Result<(), EngineError> {
    let run = driver.run();
    // Before its first turn there is nothing to look for, among all processes of the machine.
    if is_virtual(driver) || run.usage().turns == 0 {
        return Ok(());
    }
    let run_dir = PathBuf::from(&*options.folders.found(run.run_dir()));
    let cleared = world.runner.clear(run.id(), &run_dir).await;
    cleared.map_err(|left| EngineError::Leftovers(run.id().clone(), left))
}

/// How a run was found that is taken up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TakenUp {
    /// It rests, or its process went away.
    Resting,
    /// Its process went away, and its turns live on.
    Alive,
    /// It rested, and what was left for it has just set it going.
    Woken,
}

/// Does what a command asks to a run that was just taken up.
async fn do_first(
    world: &World,
    driver: &mut Driver,
    command: Command,
    (state, found): (TakenUp, Option<FilesFound>),
) -> Result<(), EngineError> {
    let what = command.what.clone();
    let posted = Posted::from(command);
    if let Some(id) = &posted.id
        && let Some(receipt) =
            world.journal.receipt(driver.run().id(), id).await.map_err(LoadError::from)?
    {
        let same = receipt.body.is_none() || receipt.body == posted.body;
        return Err(if same {
            EngineError::Answered(Box::new(receipt))
        } else {
            EngineError::OtherBody(id.clone())
        });
    }
    // The sender knows the run as it rested, not as it is once it was recovered.
    let meant = driver.is_meant(&posted);
    let Steps { before, asked, after } = match state {
        // Nothing was lost, so there is nothing to recover.
        TakenUp::Alive => alive(driver.run(), what),
        TakenUp::Woken => Steps { before: None, asked: Input::act(what), after: None },
        TakenUp::Resting => steps(driver.run(), what, found),
    };
    if meant.is_ok()
        && let Some(before) = before
    {
        driver.take_for(now_of(world, driver), before, Actor::PERSON).await?;
    }
    let unexpecting = match (&meant, &posted.command) {
        (Ok(()), Ok(command)) => {
            let command = Command { expected_seq: None, ..command.clone() };
            Posted { command: Ok(command), ..posted }
        }
        (Ok(()) | Err(_), _) => posted,
    };
    driver.obey_with(now_of(world, driver), &unexpecting, Ok(asked)).await?;
    if let Some(after) = after {
        driver.take_for(now_of(world, driver), after, Actor::PERSON).await?;
    }
    Ok(())
}

/// A command as inputs for a run that was just taken up.
pub(crate) struct Steps {
    /// An input that must come first, such as a recovery.
    pub(crate) before: Option<Input>,
    /// The command itself.
    pub(crate) asked: Input,
    /// An input that must follow.
    pub(crate) after: Option<Input>,
}

/// The inputs of a command for a run without a driver whose turns are still alive.
fn alive(run: &Run, what: Do) -> Steps {
    let asked = if let Do::Resume { pace } = what {
        Do::Mode { value: pace.unwrap_or(run.pace()) }
    } else {
        what
    };
    Steps { before: None, asked: Input::act(asked), after: None }
}

/// The inputs of a command for a run in its present state.
///
/// A run whose process went away is recovered first, because its turns in flight are lost.
pub(crate) fn steps(run: &Run, what: Do, found: Option<FilesFound>) -> Steps {
    let place = RunPlace { files: found, ..RunPlace::named() };
    // A command on a single node does not change the pace.
    let resume = || Input::taken_up(Do::Resume { pace: Some(run.pace()) }, place.clone());
    let crashed = *run.phase() == Phase::Running;
    let out_of_budget =
        matches!(run.phase(), Phase::Waiting(waiting) if waiting.reason == WaitReason::Budget);
    let (before, after) = match &what {
        Do::Resume { .. } | Do::Recast | Do::Revive | Do::Stop { .. } | Do::Abort { .. } => {
            (false, false)
        }
        Do::Budget { .. } | Do::NodeBudget { .. } => (false, crashed || out_of_budget),
        Do::Say { .. }
        | Do::Skip { .. }
        | Do::Continue { .. }
        | Do::Offer { .. }
        | Do::Trigger { .. }
        | Do::Approve { .. }
        | Do::Deny { .. }
        | Do::Mode { .. }
        | Do::Pause
        | Do::GlobalMode { .. }
        | Do::Crash => (crashed, false),
    };
    let (before, after) = (before.then(resume), after.then(resume));
    let asked = if matches!(what, Do::Resume { .. } | Do::Recast) {
        Input::taken_up(what, place)
    } else {
        Input::act(what)
    };
    Steps { before, asked, after }
}

/// Carries on a run that had stopped, and drives it until it rests.
pub async fn resume(
    world: &World,
    id: &RunId,
    options: Options,
    asks: &mut Asks,
) -> Result<Phase, EngineError> {
    let command = Command::person(Do::Resume { pace: None });
    let lease = world.journal.claim(id).await?;
    let (reading, wanted) = (Arc::clone(&world.journal), id.clone());
    let loaded = off_thread(move || load_to_drive(&*reading, &wanted)).await?;
    carry_on(world, lease, loaded, command, options, asks).await
}

/// Carries out a command on a run without a driver, and does not drive the run. The caller must hold the lease.
pub async fn only_do(
    world: &World,
    lease: &Lease,
    id: &RunId,
    command: Command,
) -> Result<Phase, EngineError> {
    let mut driver = take_up(&world.journal, &world.observer, id, lease.epoch()).await?;
    driver.obey(now_of(world, &driver), &command.into(), Vec::new()).await?;
    Ok(driver.run().phase().clone())
}

/// The present time of a run: its own, if its time is simulated. A clock that was set back does not take the run
/// back: it continues from its last event.
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
    driver: Box<Driver>,
    options: &Options,
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
        () = options.leave.asked(Leave::AtOnce) => Err(EngineError::HandedOver(id)),
    }
}

async fn to_rest(
    world: &World,
    mut driver: Box<Driver>,
    options: &Options,
    asks: &mut Asks,
    mut under_way: UnderWay,
) -> Result<Phase, EngineError> {
    loop {
        let under_way = std::mem::take(&mut under_way);
        driver = if is_virtual(&driver) {
            // In a box: a run at rest in memory is then no larger than the way it is driven.
            Box::pin(virtual_time::drive(world, driver, options, asks)).await?
        } else {
            Box::pin(real_time::drive(world, driver, options, asks, under_way)).await?
        };
        if options.leave.is_asked() && *driver.run().phase() == Phase::Running {
            return Err(EngineError::HandedOver(driver.run().id().clone()));
        }
        // Commands that were accepted while the run began to rest are carried out now.
        let mut left: Vec<Posted> =
            std::iter::from_fn(|| asks.try_recv().ok()).map(|it| *it).collect();
        left.extend(left_in_inbox(world, driver.run().id()).await);
        Box::pin(take_all(world, &mut driver, left)).await?;
        if *driver.run().phase() != Phase::Running {
            if *driver.run().phase() != Phase::Completed {
                files::rests(world, &driver).await;
            } else if driver.run().files().is_some() {
                world.runner.completed(driver.run().id()).await;
            }
            let status = driver.run().phase().status().word();
            tracing::info!(status, events = driver.run().seq(), "at rest");
            return Ok(driver.run().phase().clone());
        }
    }
}

/// Commands of other processes that wait in the inbox of a run.
async fn left_in_inbox(world: &World, id: &RunId) -> Vec<Posted> {
    // A failed look is no reason to stop the run: what was asked is still there afterwards.
    world.journal.commands(id).await.unwrap_or_default()
}

/// Takes what was asked of a run; what does not fit it any more has no effect.
async fn take_all(
    world: &World,
    driver: &mut Driver,
    left: Vec<Posted>,
) -> Result<(), EngineError> {
    for posted in left {
        let now = |driver: &Driver| now_of(world, driver);
        apply_command::obey(driver, &mut UnderWay::default(), posted, now).await?;
    }
    Ok(())
}

/// Passes on what other processes ask of a run, until the run no longer listens.
pub async fn watch_inbox(
    journal: Arc<dyn Journal>,
    id: RunId,
    asks: mpsc::UnboundedSender<Box<Posted>>,
) {
    // A command stays in the inbox until its receipt is there; it is passed on once.
    let mut passed_on = BTreeSet::new();
    loop {
        tokio::time::sleep(INBOX_INTERVAL).await;
        // A failed look is no reason to stop the run; the next look may succeed.
        let Ok(waiting) = journal.commands(&id).await else { continue };
        // Commands that left the inbox do not come again.
        passed_on.retain(|id| waiting.iter().any(|posted| posted.id.as_ref() == Some(id)));
        for posted in waiting {
            if posted.id.clone().is_some_and(|id| passed_on.insert(id))
                && asks.send(Box::new(posted)).is_err()
            {
                return;
            }
        }
        if asks.is_closed() {
            return;
        }
    }
}
