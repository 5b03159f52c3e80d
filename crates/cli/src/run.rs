//! Driving a run in this process, with a person who watches: what every command that starts a run or carries one
//! on shares.

use std::borrow::BorrowMut;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use materia_app::cast::drive::{Drive, Driven, Outcome};
use materia_app::cast::worker;
use materia_contract::{CastReport, CastStatus};
use materia_engine::{AppendError, DriveError, Observer, on_own_thread};
use materia_journal::Views;
use materia_kernel::Run;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use crate::answer;
use crate::event_text;
use crate::failure::{Ended, Exit, Failure};
use crate::live::{Live, Observers};
use crate::narrator::Narrator;
use crate::next_command;
use crate::next_steps::NextSteps;
use crate::notice;
use crate::project::Project;
use crate::terminal::Terminal;

/// How long those who listened may take to end.
const EARS_PATIENCE: Duration = Duration::from_secs(5);

/// A runtime with clock, signals and sockets.
pub(crate) fn runtime(mut builder: impl BorrowMut<Builder>) -> Result<Runtime, Failure> {
    let runtime = builder.borrow_mut().enable_all().build();
    runtime.map_err(|error| Failure::Broken(format!("cannot start: {error}")))
}

/// Drives a run until it rests, and shows how it rests.
pub(crate) fn go(drive: Drive, project: &Project, terminal: &mut Terminal) -> Ended {
    let runtime = self::runtime(Builder::new_current_thread())?;
    // The run has that thread to itself, and may block on the disk. Signals and requests of other processes are
    // handled on another thread.
    let ears = self::runtime(Builder::new_multi_thread().worker_threads(1))?;
    let views = Arc::new(Views::start(&drive.root, &drive.folders));
    let mut story = Narrator::default();
    if drive.goes_on() {
        if let Some(journal) = project.remote()? {
            worker::keep_here(&journal, &drive.id)?;
        }
        if let Err(error) = views.catch_up(&*drive.journal, &drive.id) {
            terminal.say(format_args!("warning: the files beside the journal: {error}"));
        }
        story = Narrator::so_far(&*drive.journal, &drive.id)?;
    }
    let live = Live::new(terminal, &drive.plan, story);
    if let Live::Screen(screen) = &live {
        if drive.goes_on()
            && let Ok(past) = materia_engine::report(&*drive.journal, &drive.id, &drive.folders)
        {
            screen.past(&past);
        }
        let screen = screen.clone();
        ears.spawn(async move { screen.keep_drawing().await });
    }
    materia_runners::name_driver();
    let observers: Vec<Arc<dyn Observer>> = vec![views.clone(), live.observer()];
    let interrupted = Arc::new(AtomicBool::new(false));
    let command = |name: &str| project.command(&format!("{name} {}", drive.id));
    let replay = command("replay");
    let (watching, heard) = (live.clone(), interrupted.clone());
    let resume = command("resume");
    let to_rest = drive.to_rest(Arc::new(Observers(observers)), ears.handle(), |stop| {
        ears.spawn(heed_signals(stop, watching, heard, resume));
    });
    let driven = runtime.block_on(on_own_thread(to_rest));
    live.finish();
    // What is still under way is ended before anything is said about the end.
    drop(runtime);
    // The listeners release the journal here: its last connection closes before this process ends.
    ears.shutdown_timeout(EARS_PATIENCE);
    let restored = driven.as_ref().ok().filter(|driven| driven.journal.times_restored() > 0);
    if let Some(driven) = restored {
        terminal.say(
            "warning: the journal was removed while the cast ran; it was written again from what was still open, and the files beside it are written again",
        );
        // Files that were written before are in folders that no longer exist.
        let root = driven.folder.parent().unwrap_or(&driven.folder);
        let anew = Views::start(root, &driven.folders);
        if let Err(error) = anew.catch_up(&*driven.journal, &driven.id) {
            terminal.say(format_args!("warning: the files beside the journal: {error}"));
        }
    } else if let Err(problem) = views.flush() {
        terminal.say(format_args!(
            "warning: the files beside the journal are not complete: {problem}; `{replay}` repairs them"
        ));
    }
    conclude(driven?, project, interrupted.load(Ordering::Relaxed), terminal)
}

/// Says how the run ended; where it never began, this is a refusal.
fn conclude(
    mut driven: Driven,
    project: &Project,
    interrupted: bool,
    terminal: &mut Terminal,
) -> Ended {
    let (report, run) = match driven.outcome()? {
        Outcome::Rests(report, run) => (*report, run),
        Outcome::BrokeOff {
            error: error @ DriveError::Append(AppendError::Displaced(_)), ..
        } => {
            return Err(Failure::Broken(format!(
                "{error}\nThe cast was stopped, and its turns with it."
            )));
        }
        // The servers are away, or another machine drives it: the cast rests, as far as this machine knows.
        Outcome::BrokeOff { error, report } if driven.journal.is_remote() => {
            terminal.say(format_args!(
                "{error}\nThe cast was stopped here. What was recorded until then is kept; `{}` goes on.",
                project.command(&format!("resume {}", driven.id))
            ));
            if let Some(report) = report.filter(|_| terminal.json) {
                terminal.data(&report)?;
            }
            return Ok(Exit::Waiting);
        }
        Outcome::BrokeOff { error, report } => {
            if terminal.json
                && let Some(report) = report
            {
                terminal.data(&report)?;
            }
            return Err(Failure::Broken(format!(
                "{error}\nWhat was recorded until then is kept. When that is fixed, `{}` goes on.",
                project.command(&format!("resume {}", driven.id))
            )));
        }
    };
    tell(&driven, (&report, &run), project, terminal);
    if !interrupted {
        notice::waits(&report, project, terminal);
    }
    if terminal.json {
        terminal.data(&report)?;
    }
    let exit = exit_of(&report);
    Ok(if exit == Exit::Waiting && interrupted { Exit::Interrupted } else { exit })
}

/// The exit status that a cast at rest gives.
pub(crate) fn exit_of(report: &CastReport) -> Exit {
    match report.status {
        CastStatus::Completed if report.verdict == Some(false) => Exit::Unsatisfied,
        CastStatus::Completed => Exit::Done,
        CastStatus::Waiting => Exit::Waiting,
        CastStatus::Failed | CastStatus::Aborted | CastStatus::Running => Exit::Failed,
    }
}

fn tell(
    driven: &Driven,
    (report, run): (&CastReport, &Run),
    project: &Project,
    terminal: &Terminal,
) {
    terminal.say(event_text::summary(report));
    if let Some(error) = &report.error {
        for artifact in &error.artifacts {
            let path = driven.folder.join(artifact);
            terminal.say(format_args!("  see     {}", project.shown(&path)));
        }
    }
    answer::tell(report, project, terminal);
    terminal.say(format_args!("  folder  {}", project.shown(&driven.folder)));
    for way in next_command::ways(&NextSteps::of(run)) {
        terminal.say(format_args!("  go on   {}", project.command(&way)));
    }
    let command = |name: &str| project.command(&format!("{name} {}", driven.id));
    if report.workspace.is_some() && report.status == CastStatus::Completed {
        let apply = project.command(&format!("workspace {} --apply", driven.id));
        terminal.say(format_args!("  get it  {apply}"));
    }
    terminal.say(format_args!("  look    {} · {}", command("show"), command("events")));
}

/// The first signal stops the run in good order; the second ends the process at once.
async fn heed_signals(
    stop: Box<dyn Fn(&str) -> bool + Send + Sync>,
    live: Live,
    interrupted: Arc<AtomicBool>,
    resume: String,
) {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let [Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)] = kinds.map(signal) else {
        live.say("warning: signals cannot be heard; Ctrl-C ends the process at once");
        return;
    };
    loop {
        let name = tokio::select! {
            _ = interrupt.recv() => "Ctrl-C",
            _ = terminate.recv() => "SIGTERM",
            _ = hangup.recv() => "SIGHUP",
        };
        if interrupted.swap(true, Ordering::Relaxed) {
            live.say(&format!("{name}: left at once; `{resume}` goes on."));
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
        live.say(&format!("{name}: stopping in good order; once more leaves at once."));
        // If the run does not receive it, the run has just ended by itself.
        let _ = stop(&format!("stopped by {name}"));
    }
}

/// The program that supervises what turns start: this one.
pub(crate) fn supervisor() -> Result<PathBuf, Failure> {
    // The name in /proc stays right when the file is replaced while this process runs.
    let own = Path::new("/proc/self/exe");
    if own.exists() {
        return Ok(own.to_owned());
    }
    std::env::current_exe()
        .map_err(|error| Failure::Broken(format!("cannot find this program: {error}")))
}
