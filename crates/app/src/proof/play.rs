//! Playing a plan in memory and in simulated time: no program is started, and nothing is written but files in a
//! temporary folder, which is removed.

use std::sync::Arc;
use std::time::Duration;

use materia_contract::{CastReport, Command, Do, Event, Folders, RunCreated, RunId, TimelineEntry};
use materia_engine::{
    DriveError, EngineError, MemoryJournal, Observer, Options, Runner, SystemClock, World,
    blocking, carry_on, cast,
};
use materia_safe_fs::Temporary;
use tokio::sync::mpsc;

use crate::{Failure, Result};

/// The acts of people on a cast.
#[derive(Debug, Clone, Default)]
pub struct Acts {
    /// Those on the run under way, and those of its own timeline.
    pub timeline: Vec<TimelineEntry>,
    /// The configured end of the simulation, if it ends by that.
    pub run_for_ms: Option<u64>,
    /// Those on the run at rest, in order: each carries it on or ends it.
    pub then: Vec<Do>,
}

/// The result of a run that was played.
pub struct Played {
    /// How it rested before each command.
    pub before: Vec<CastReport>,
    /// Why one of the commands was refused; those behind it were not given.
    pub refused: Option<String>,
    /// How it ended.
    pub report: CastReport,
    /// Everything that happened.
    pub events: Vec<Event>,
    /// Its journal.
    pub journal: Arc<MemoryJournal>,
}

/// Plays a run to its rest, and again after each command on it at rest. `runner` answers its turns; the timeline must
/// be in order.
pub fn play(
    id: &RunId,
    created: RunCreated,
    (runner, observer): (Arc<dyn Runner>, Arc<dyn Observer>),
    acts: Acts,
) -> Result<Played> {
    let failed =
        |error: std::io::Error| Failure::storage(format!("nothing can be played: {error}"));
    let folder = Temporary::new("play").map_err(failed)?;
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let folders = Folders {
        project: path("project"),
        workspace: path("project"),
        run_dir: path("cast"),
        profile: path("profile"),
    };
    for name in ["project", "cast"] {
        folder.folder().new_folder(name).map_err(failed)?;
    }
    let journal = Arc::new(MemoryJournal::default());
    let world = World { journal: journal.clone(), observer, runner, clock: Arc::new(SystemClock) };
    let (created, options) = simulated(created, acts.timeline, acts.run_for_ms, &folders);
    let (_nobody, mut asks) = mpsc::unbounded_channel();
    // Where a timeline throws the memory of a run away, it is read again by a task.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(failed)?;
    let begins = cast(&world, id.clone(), created, options.clone(), &mut asks);
    runtime.block_on(begins)?;
    let report = || materia_engine::report(&*journal, id, &folders);
    let (mut before, mut refused) = (Vec::new(), None);
    for act in acts.then {
        before.push(report()?);
        let lease = blocking(&*journal).claim(id)?;
        let loaded = materia_engine::load_to_drive(&*journal, id)?;
        let (command, options) = (Command::person(act), options.clone());
        match runtime.block_on(carry_on(&world, lease, loaded, command, options, &mut asks)) {
            Err(EngineError::Drive(DriveError::Rejected(rejection))) => {
                refused = Some(rejection.to_string());
                break;
            }
            driven => driven?,
        };
    }
    let report = report()?;
    let mut events = Vec::new();
    for record in blocking(&*journal).behind(id, 0) {
        events.push(record?.event()?);
    }
    Ok(Played { before, refused, report, events, journal })
}

/// The beginning and the options of a run in simulated time that works in these folders.
pub(crate) fn simulated(
    created: RunCreated,
    timeline: Vec<TimelineEntry>,
    run_for_ms: Option<u64>,
    folders: &Folders,
) -> (RunCreated, Options) {
    let created = RunCreated {
        virtual_time: true,
        workspace: None,
        timeline: u32::try_from(timeline.len()).unwrap_or(u32::MAX),
        ..created
    };
    let options = Options {
        run_for: run_for_ms.map(Duration::from_millis),
        timeline: timeline.into(),
        folders: folders.clone(),
        ..Options::default()
    };
    (created, options)
}
