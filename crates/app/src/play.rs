//! Playing a plan in memory and in simulated time: no program is started, and nothing is written but files in a
//! temporary folder, which is removed.

use std::sync::Arc;
use std::time::Duration;

use materia_contract::{CastReport, Event, Folders, RunCreated, RunId, TimelineEntry};
use materia_engine::{
    MemoryJournal, Observer, Options, PAGE_BYTES, Runner, SystemClock, World, blocking, cast,
};
use materia_safe_fs::Temporary;
use tokio::sync::mpsc;

use crate::Failure;

/// The result of a run that was played.
pub struct Played {
    /// How it ended.
    pub report: CastReport,
    /// Everything that happened.
    pub events: Vec<Event>,
    /// Its journal.
    pub journal: Arc<MemoryJournal>,
}

/// Plays a run to its rest. `runner` answers its turns; the timeline must be in order.
pub fn play(
    id: &RunId,
    created: RunCreated,
    (runner, observer): (Arc<dyn Runner>, Arc<dyn Observer>),
    timeline: Vec<TimelineEntry>,
    run_for_ms: Option<u64>,
) -> Result<Played, Failure> {
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
    let (created, options) = simulated(created, timeline, run_for_ms, &folders);
    let (_nobody, mut asks) = mpsc::unbounded_channel();
    // Where a timeline throws the memory of a run away, it is read again by a task.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(failed)?.block_on(cast(&world, id.clone(), created, options, &mut asks))?;
    let report = materia_engine::report(&*journal, id, &folders)?;
    let mut events = Vec::new();
    loop {
        let after = events.last().map_or(0, |event: &Event| event.seq);
        let page = blocking(&*journal).read(id, after, PAGE_BYTES)?;
        for record in &page.records {
            events.push(record.event().map_err(|error| Failure::storage(error.to_string()))?);
        }
        if page.end {
            return Ok(Played { report, events, journal });
        }
    }
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
