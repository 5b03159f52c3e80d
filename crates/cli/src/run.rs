//! Driving a run in this process: what every command that starts a run or carries one on shares.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use materia_app::agents::Answering;
use materia_app::host::{Host, Setting};
use materia_contract::script::Script;
use materia_contract::{
    Answerers, CastReport, CastStatus, Command, Folders, Plan, RunCreated, RunId,
};
use materia_engine::{
    DriveError, EngineError, Journal as _, Lease, LoadedRun, Observer, Options, Runner, SystemClock,
    blocking, load_to_drive, off_thread, on_own_thread,
};
use materia_journal::{SqliteJournal, Views};
use materia_runners::{MockRunner, Runners, ScriptedRunner, UtilityRunner};
use tokio::signal::unix::{SignalKind, signal};

use crate::answer;
use crate::failure::{Exit, Failure};
use crate::live::{Observers, Plain, Screen};
use crate::notice;
use crate::onward;
use crate::project::Project;
use crate::say;
use crate::standing::Standing;
use crate::story::Story;
use crate::terminal::{People, Terminal};

/// A run that is about to be driven.
pub(crate) struct Drive<'a> {
    /// The right to drive it and the run as it was looked at, where it was there before.
    pub carried: Option<Box<(Lease, LoadedRun)>>,
    /// The project it runs in.
    pub project: &'a Project,
    /// The folder that casts are kept in.
    pub root: PathBuf,
    /// Its journal.
    pub journal: Arc<SqliteJournal>,
    /// Its id.
    pub id: RunId,
    /// Its plan.
    pub plan: Plan,
    /// What answers its agents, if a script does.
    pub script: Option<Script>,
    /// What answers them, if no script does.
    pub answering: Answering,
    /// Who answers, where that is not as the journal has it.
    pub agents: Option<Answerers>,
    /// How it is set going.
    pub start: Start,
}

/// How a run is set going.
pub(crate) enum Start {
    /// It begins here.
    Begin(Box<RunCreated>),
    /// A person does something to it, and it goes on.
    CarryOn(Box<Command>),
}

impl Drive<'_> {
    /// Drives the run until it rests, and shows how it rests.
    pub(crate) fn go(mut self, terminal: &mut Terminal) -> Result<Exit, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::Broken(format!("cannot start: {error}")))?;
        let views = Arc::new(Views::start(&self.root, &self.folders()));
        if matches!(self.start, Start::CarryOn(_)) {
            self.catch_up(&views, terminal);
        }
        let live = Live::new(terminal, &self.plan, self.story()?);
        self.show_past(&live);
        let observers: Vec<Arc<dyn Observer>> = vec![views.clone(), live.observer()];
        let observer: Arc<dyn Observer> = Arc::new(Observers(observers));
        let runner = runner(self.script.as_ref(), &self.answering, &self.plan)?;
        let interrupted = Arc::new(AtomicBool::new(false));
        // The run has this thread to itself, and may wait there for the disk. Whoever listens meanwhile, to
        // signals and to other processes, has another one.
        let ears = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| Failure::Broken(format!("cannot start: {error}")))?;
        let drive = self.drive(observer, runner, &live, &interrupted, ears.handle());
        let result = runtime.block_on(on_own_thread(drive));
        live.finish();
        // What is still under way is ended before anything is said about the end.
        drop(runtime);
        ears.shutdown_background();
        if let Err(problem) = views.flush() {
            terminal.say(format_args!(
                "warning: the files beside the journal are not complete: {problem}; `{}` mends them",
                self.command("replay")
            ));
        }
        let interrupted = interrupted.load(Ordering::Relaxed);
        self.conclude(result, interrupted, terminal)
    }

    /// A host with this one run.
    async fn drive(
        &mut self,
        observer: Arc<dyn Observer>,
        runner: Arc<dyn Runner>,
        live: &Live,
        interrupted: &Arc<AtomicBool>,
        ears: &tokio::runtime::Handle,
    ) -> Result<(), EngineError> {
        let clock = Arc::new(SystemClock);
        let host = Host::new(self.journal.clone(), observer, clock, ears);
        if let Live::Screen(screen) = live {
            let screen = screen.clone();
            ears.spawn(async move { screen.keep_drawing().await });
        }
        let run_for = self.script.as_ref().and_then(|script| script.run_for_ms);
        let timeline = self.script.as_ref().map(|script| script.timeline.as_slice().into());
        let options = Options {
            run_for: run_for.map(Duration::from_millis),
            timeline: timeline.unwrap_or_default(),
            folders: self.folders(),
            agents: self.agents.clone(),
        };
        let (id, setting) = (self.id.clone(), Setting { runner, options });
        let stop = {
            let (host, id) = (host.clone(), self.id.clone());
            move |message: &str| host.ask_to_stop(&id, message)
        };
        ears.spawn(heed_signals(stop, live.clone(), interrupted.clone()));
        match &self.start {
            Start::Begin(created) => host.begin_here(id, (**created).clone(), setting).await?,
            Start::CarryOn(command) => {
                let (lease, loaded) = match self.carried.take() {
                    Some(carried) => *carried,
                    None => {
                        let (reading, wanted) = (self.journal.clone(), id.clone());
                        let lease = self.journal.claim(&id).await?;
                        (lease, off_thread(move || load_to_drive(&*reading, &wanted)).await?)
                    }
                };
                host.carry_on_here(lease, loaded, (**command).clone(), setting).await?
            }
        };
        Ok(())
    }

    /// What has happened so far, as far as it is needed to tell what happens next.
    fn story(&self) -> Result<Story, Failure> {
        match self.start {
            Start::Begin(_) => Ok(Story::default()),
            Start::CarryOn(_) => Ok(Story::so_far(&*self.journal, &self.id)?),
        }
    }

    /// Shows in the live view what had happened before the run is carried on.
    fn show_past(&self, live: &Live) {
        if let (Live::Screen(screen), Start::CarryOn(_)) = (live, &self.start)
            && let Ok(report) = materia_engine::report(&*self.journal, &self.id, &self.folders())
        {
            screen.past(&report);
        }
    }

    /// How a command about this cast is typed.
    fn command(&self, name: &str) -> String {
        self.project.command(&format!("{name} {}", self.id))
    }

    fn folders(&self) -> Folders {
        self.project.folders(&self.root, &self.id)
    }

    fn folder(&self) -> PathBuf {
        self.root.join(self.id.as_str())
    }

    /// Brings the files of a cast up to its journal before it goes on.
    fn catch_up(&self, views: &Views, terminal: &Terminal) {
        if let Err(error) = views.catch_up(&*self.journal, &self.id) {
            terminal.say(format_args!("warning: the files beside the journal: {error}"));
        }
    }

    /// Says how the run ended; where it never began, this is a refusal.
    fn conclude(
        &self,
        result: Result<(), EngineError>,
        interrupted: bool,
        terminal: &mut Terminal,
    ) -> Result<Exit, Failure> {
        if let Err(error) = result {
            return self.broke_off(error, terminal);
        }
        let report = materia_engine::report(&*self.journal, &self.id, &self.folders())
            .map_err(|error| Failure::Broken(error.to_string()))?;
        self.tell(&report, terminal)?;
        if !interrupted {
            notice::waits(&report, self.project, terminal);
        }
        if terminal.json {
            terminal.data(&report)?;
        }
        Ok(match report.status {
            CastStatus::Completed => Exit::Done,
            CastStatus::Waiting if interrupted => Exit::Interrupted,
            CastStatus::Waiting => Exit::Waiting,
            CastStatus::Failed | CastStatus::Aborted | CastStatus::Running => Exit::Failed,
        })
    }

    fn broke_off(&self, error: EngineError, terminal: &mut Terminal) -> Result<Exit, Failure> {
        let error = match error {
            EngineError::Drive(DriveError::Rejected(rejection)) => {
                return Err(Failure::resolution(format!("cast `{}`: {rejection}", self.id)));
            }
            EngineError::Drive(error @ DriveError::Append(_)) => error,
            refused @ (EngineError::Claim(_)
            | EngineError::Load(_)
            | EngineError::Lost(_)
            | EngineError::Exists(_)
            | EngineError::Answered(_)
            | EngineError::OtherBody(_)) => return Err(refused.into()),
        };
        let begins = matches!(self.start, Start::Begin(_));
        if begins && matches!(blocking(&*self.journal).head(&self.id), Ok(None)) {
            // Nothing was written, so there is no cast: its folder goes too.
            let folder = self.folder();
            let _ = std::fs::remove_file(folder.join("lock"));
            let _ = std::fs::remove_dir(folder);
            return Err(Failure::storage(format!("the cast could not begin: {error}")));
        }
        if terminal.json
            && let Ok(report) = materia_engine::report(&*self.journal, &self.id, &self.folders())
        {
            terminal.data(&report)?;
        }
        Err(Failure::Broken(format!(
            "{error}\nWhat was recorded until then is kept. Once that is mended, `{}` carries on.",
            self.command("resume")
        )))
    }

    fn tell(&self, report: &CastReport, terminal: &Terminal) -> Result<(), Failure> {
        terminal.say(say::summary(report));
        if let Some(error) = &report.error {
            for artifact in &error.artifacts {
                let path = self.folder().join(artifact);
                terminal.say(format_args!("  see     {}", self.project.shown(&path)));
            }
        }
        answer::tell(report, terminal);
        terminal.say(format_args!("  folder  {}", self.project.shown(&self.folder())));
        let (run, _) = materia_engine::load(&*self.journal, &self.id)?;
        for way in onward::ways(&Standing::of(&run)) {
            terminal.say(format_args!("  go on   {}", self.project.command(&way)));
        }
        terminal.say(format_args!(
            "  look    {} · {}",
            self.command("show"),
            self.command("events")
        ));
        Ok(())
    }
}

/// What shows the run while it is under way.
#[derive(Clone)]
enum Live {
    Plain(Arc<Plain>, People),
    Screen(Arc<Screen>),
}

impl Live {
    fn new(terminal: &Terminal, plan: &Plan, story: Story) -> Self {
        if terminal.watched && !terminal.json {
            Self::Screen(Arc::new(Screen::new(plan, story)))
        } else {
            Self::Plain(Arc::new(Plain::new(terminal.err.clone(), story)), terminal.err.clone())
        }
    }

    fn observer(&self) -> Arc<dyn Observer> {
        match self {
            Self::Plain(plain, _) => plain.clone(),
            Self::Screen(screen) => screen.clone(),
        }
    }

    fn say(&self, words: &str) {
        match self {
            Self::Plain(_, err) => err.say(words),
            Self::Screen(screen) => screen.say(words),
        }
    }

    fn finish(&self) {
        match self {
            Self::Plain(..) => {}
            Self::Screen(screen) => screen.finish(),
        }
    }
}

/// The first signal stops the run in good order; the second ends the process at once.
async fn heed_signals(
    stop: impl Fn(&str) -> bool,
    live: Live,
    interrupted: Arc<AtomicBool>,
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
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
        live.say(&format!("{name}: stopping in good order; once more leaves at once."));
        // Where nobody hears it, the run has just ended by itself.
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

/// What performs turns: programs and agents under a supervisor, or the script in their place.
fn runner(
    script: Option<&Script>,
    answering: &Answering,
    plan: &Plan,
) -> Result<Arc<dyn Runner>, Failure> {
    let supervisor = supervisor()?;
    let scripted = script.map(|script| {
        let runner: Arc<dyn Runner> = Arc::new(ScriptedRunner::new(script.clone()));
        runner
    });
    Ok(Arc::new(Runners {
        agent: answering.runner(&supervisor)?,
        utility: Arc::new(UtilityRunner::new(supervisor)),
        scripted,
        mock: Some(Arc::new(MockRunner::new(Arc::new(plan.clone())))),
    }))
}
