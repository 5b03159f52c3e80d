use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use materia_contract::{CastStatus, Command, Do, RunId};
use materia_engine::{
    ClaimError, DriveError, EngineError, Journal, Observer, SystemClock, World, blocking,
    status_after,
};
use materia_journal::Views;
use materia_runners::{Runners, UtilityRunner};

use crate::args::Global;
use crate::failure::{Exit, Failure};
use crate::project::{self, Found, Project};
use crate::say;
use crate::terminal::Terminal;

/// How long a process that drives the cast may take to end it.
const PATIENCE: Duration = Duration::from_secs(15);
/// How often is looked whether it has.
const LOOK: Duration = Duration::from_millis(50);
/// How many events at the end are read for the status.
const TAIL_EVENTS: u64 = 64;

/// End a cast for good
///
/// The turn under way is stopped with everything it started. What it had written stays. An
/// aborted cast cannot be resumed.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  materia abort last")]
pub(crate) struct AbortArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
}

/// Runs `abort`.
pub(crate) fn abort(
    args: &AbortArgs,
    global: &Global,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let wanted = project::cast_id(&args.id)?;
    let project = Project::here(global)?;
    let Found { root, journal, id } = project.find(&wanted)?;
    let folders = project.folders(&root, &id);
    let journal = Arc::new(journal);
    let (run, _) = materia_engine::load(&*journal, &id)?;
    refuse_ended(run.phase().status(), &id)?;
    let views = Arc::new(Views::start(&root, &folders));
    match end_it(&journal, &views, &id) {
        Err(EngineError::Claim(ClaimError::Held { pid, .. })) => {
            let who = pid.map(|pid| format!("process {pid}"));
            let who = who.unwrap_or_else(|| "another process".to_owned());
            terminal.say(format_args!("Asking {who}, which runs the cast, to end it."));
            blocking(&*journal).post(&id, &command())?;
            wait(&*journal, &id, &who)?;
        }
        Err(EngineError::Drive(DriveError::Rejected(why))) => {
            return Err(Failure::resolution(format!("cast `{id}`: {why}")));
        }
        Err(EngineError::Drive(error)) => {
            return Err(Failure::storage(format!("cast `{id}` could not be ended: {error}")));
        }
        result => result?,
    }
    let report = materia_engine::report(&*journal, &id, &folders)?;
    terminal.say(say::summary(&report));
    if terminal.json {
        terminal.data(&report)?;
    }
    // The other process may have reached another end first.
    Ok(if report.status == CastStatus::Aborted { Exit::Done } else { Exit::Failed })
}

fn command() -> Command {
    Command::person(Do::Abort { reason: Some("a person ended it".to_owned()) })
}

fn refuse_ended(status: CastStatus, id: &RunId) -> Result<(), Failure> {
    match status {
        CastStatus::Running | CastStatus::Waiting => Ok(()),
        CastStatus::Completed | CastStatus::Failed | CastStatus::Aborted => Err(
            Failure::resolution(format!("cast `{id}` has ended already: it is {}", status.word())),
        ),
    }
}

/// Ends a cast that nobody drives.
fn end_it(
    journal: &Arc<materia_journal::SqliteJournal>,
    views: &Arc<Views>,
    id: &RunId,
) -> Result<(), EngineError> {
    let lease = blocking(&**journal).claim(id)?;
    // Views that cannot be mended now are mended by the next replay.
    let _ = views.catch_up(&**journal, id);
    let observer: Arc<dyn Observer> = views.clone();
    let runner = Runners {
        utility: Arc::new(UtilityRunner::new("/proc/self/exe".into())),
        scripted: None,
        mock: None,
        agent: None,
    };
    let world = World {
        journal: journal.clone(),
        observer,
        runner: Arc::new(runner),
        clock: Arc::new(SystemClock),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|source| ClaimError::Io { run: id.clone(), source })?;
    runtime.block_on(materia_engine::only_do(&world, &lease, id, command()))?;
    Ok(())
}

/// Waits until the process that drives the cast has ended it.
fn wait(journal: &dyn Journal, id: &RunId, who: &str) -> Result<(), Failure> {
    let begun = Instant::now();
    loop {
        match status(journal, id)? {
            Some(CastStatus::Completed | CastStatus::Failed | CastStatus::Aborted) => return Ok(()),
            Some(CastStatus::Running | CastStatus::Waiting) | None => {}
        }
        if begun.elapsed() > PATIENCE {
            return Err(Failure::Broken(format!(
                "{who} has not ended cast `{id}` within {} s; it is asked to and may still do so",
                PATIENCE.as_secs()
            )));
        }
        std::thread::sleep(LOOK);
    }
}

/// The status as the last events say; `None` where they say nothing of it.
fn status(journal: &dyn Journal, id: &RunId) -> Result<Option<CastStatus>, Failure> {
    let Some(head) = blocking(journal).head(id)? else { return Ok(None) };
    let tail = blocking(journal).records(id, head.seq.saturating_sub(TAIL_EVENTS), 1_024)?;
    Ok(tail.iter().rev().find_map(|record| status_after(&record.kind)))
}
