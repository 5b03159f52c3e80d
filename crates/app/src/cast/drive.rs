//! Runs one cast until it rests, whether it is new or resumed.
//!
//! A host with one run. The caller brings the observers and gets a handle to stop the run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use materia_contract::script::Script;
use materia_contract::{
    Answerers, CastReport, Command, Do, Folders, GoOnFrom, Plan, RunCreated, RunId,
};
use materia_engine::{
    AppendError, DriveError, EngineError, Lease, Leaving, LoadedRun, Observer, Options, Runner,
    SystemClock, World, blocking,
};
use materia_kernel::Run;
use materia_runners::{
    MockRunner, Runners, ScriptedRunner, StoresFiles, UtilityRunner, WorkspaceRunner,
};
use materia_safe_fs::Anchor;
use materia_workspace::Place;
use tokio::runtime::Handle;

use crate::cast::agents::Answering;
use crate::cast::host::{Host, Setting, Underway};
use crate::cast::prepare::Prepared;
use crate::cast::workspace;
use crate::project::place::CastJournal;
use crate::project::{Found, Project};
use crate::trust::Cleared;
use crate::{Failure, Result};

/// A run that is about to be driven.
pub struct Drive {
    /// The leave to drive it, from the gate of trust.
    pub cleared: Cleared,
    /// The folder that casts are kept in.
    pub root: PathBuf,
    /// Its journal.
    pub journal: Arc<dyn CastJournal>,
    /// Its id.
    pub id: RunId,
    /// Its plan.
    pub plan: Plan,
    /// Where the folders are that its events name.
    pub folders: Folders,
    /// Script that answers its agents.
    pub script: Option<Script>,
    /// Agents that answer where no script does.
    pub answering: Answering,
    /// Who answers, where that is not as the journal has it.
    pub agents: Option<Answerers>,
    /// The program that supervises processes of turns.
    pub supervisor: PathBuf,
    /// Its workspace, where it has one of its own.
    pub own: Option<Place>,
    /// Stores its files for other machines.
    pub stored: Option<Arc<dyn StoresFiles>>,
    /// The files from which a run in a workspace goes on.
    pub go_on: GoOnFrom,
    /// Says when it is handed over to another process.
    pub leave: Leaving,
    /// How it is set going.
    pub start: Start,
}

/// How a run is set going.
pub enum Start {
    /// It begins here.
    Begin(Box<RunCreated>),
    /// A command is applied to it, and it continues. The caller holds its lease and has loaded this very run.
    CarryOn(Lease, Box<LoadedRun>, Box<Command>),
}

/// A run that is driven and has come to rest, or has broken off.
pub struct Driven {
    /// The folder of the cast.
    pub folder: PathBuf,
    /// Its journal.
    pub journal: Arc<dyn CastJournal>,
    /// Its id.
    pub id: RunId,
    /// Where the folders are that its events name.
    pub folders: Folders,
    began_here: bool,
    ended: Result<(), EngineError>,
}

/// Result of a run.
pub enum Outcome {
    /// It rests: its report, and the run that the report was made from.
    Rests(Box<CastReport>, Box<Run>),
    /// It broke off. What was recorded until then is kept.
    BrokeOff {
        /// Why.
        error: DriveError,
        /// How it stands, where that can be read.
        report: Option<Box<CastReport>>,
    },
}

impl Drive {
    /// A run of a project that is set going so. Who answers is as its journal has it.
    pub fn new(
        project: &Project,
        cast: Found,
        (prepared, cleared): (Prepared, Cleared),
        plan: Plan,
        supervisor: PathBuf,
        start: Start,
    ) -> Result<Self> {
        let Found { root, journal, id } = cast;
        let Prepared { script, answering, .. } = prepared;
        let remote = project.remote()?.filter(|_| journal.is_remote());
        let own = match &start {
            Start::Begin(created) => match (project.own_workspace(&id, created)?, &remote) {
                (Some(place), Some(remote)) => {
                    let stored = workspace::begun(project, remote, &id, &place)?;
                    Some((place, Some(stored)))
                }
                (place, _) => place.map(|place| (place, None)),
            },
            Start::CarryOn(_, loaded, _) => {
                workspace::of_run(project, remote.as_ref(), loaded.run())?
            }
        };
        let (own, stored) = own.map_or((None, None), |(place, stored)| (Some(place), stored));
        let mut folders = project.folders(&root, &id);
        if let Some(place) = &own {
            folders.workspace = place.work_dir().to_string_lossy().into_owned();
        }
        Ok(Self {
            cleared,
            folders,
            root,
            journal,
            id,
            plan,
            script,
            answering,
            agents: None,
            supervisor,
            own,
            stored,
            go_on: GoOnFrom::Usual,
            leave: Leaving::default(),
            start,
        })
    }

    /// The path of its project below the top of the repository, if its files are stored for other machines.
    pub fn stored_below(&self) -> Option<String> {
        self.stored.as_ref()?;
        self.own.as_ref()?.below().to_str().map(str::to_owned)
    }

    /// Whether the run was there before.
    pub fn goes_on(&self) -> bool {
        matches!(self.start, Start::CarryOn(..))
    }

    /// Drives the run until it rests. `stoppable` gets a function that asks the run to stop in good order; it returns
    /// whether the run received the request.
    pub async fn to_rest(
        self,
        observer: Arc<dyn Observer>,
        ears: &Handle,
        stoppable: impl FnOnce(Box<dyn Fn(&str) -> bool + Send + Sync>),
    ) -> Result<Driven> {
        let setting = self.setting()?;
        let Self { root, journal, id, folders, start, .. } = self;
        let host = Host::new(journal.clone(), observer, Arc::new(SystemClock), ears);
        let (stopped, named) = (host.clone(), id.clone());
        stoppable(Box::new(move |message: &str| stopped.ask_to_stop(&named, message)));
        let began_here = matches!(start, Start::Begin(_));
        let ended = match start {
            Start::Begin(created) => host.begin_here(id.clone(), *created, setting).await,
            Start::CarryOn(lease, loaded, command) => {
                host.carry_on_here(lease, *loaded, *command, setting).await
            }
        };
        let folder = root.join(id.as_str());
        Ok(Driven { folder, journal, id, folders, began_here, ended: ended.map(|_| ()) })
    }

    /// Drives the run on a host with others, in a task of its own. The journal is the host's.
    pub fn among(self, host: &Host) -> Result<Underway> {
        let setting = self.setting()?;
        Ok(match self.start {
            Start::Begin(created) => host.begin(self.id, *created, setting),
            Start::CarryOn(lease, loaded, command) => {
                host.carry_on(lease, *loaded, *command, setting)
            }
        })
    }

    /// Stores the new run and drives nothing, so that another process can drive it. Returns the command that this
    /// process must apply.
    pub async fn leave(self, observer: Arc<dyn Observer>) -> Result<Command> {
        match self.start {
            Start::Begin(created) => {
                let world = World {
                    journal: self.journal,
                    observer,
                    runner: Arc::new(Runners {
                        utility: Arc::new(UtilityRunner::new(self.supervisor)),
                        scripted: None,
                        mock: None,
                        agent: None,
                    }),
                    clock: Arc::new(SystemClock),
                };
                materia_engine::create(&world, self.id, created).await?;
                Ok(Command::person(Do::Resume { pace: None }))
            }
            // The right to drive it is given up here.
            Start::CarryOn(_, _, command) => Ok(*command),
        }
    }

    /// Who answers its agents, as far as they are known by name.
    pub fn providers(&self) -> Vec<String> {
        let agents = match &self.start {
            Start::Begin(created) => &created.agents,
            Start::CarryOn(_, loaded, _) => self.agents.as_ref().unwrap_or(loaded.run().agents()),
        };
        agents.values().map(|who| who.provider.clone()).collect()
    }

    /// Settings of the run for its host.
    fn setting(&self) -> Result<Setting> {
        let script = self.script.as_ref();
        let timeline = script.map(|script| script.timeline.as_slice().into());
        let options = Options {
            run_for: script.and_then(|script| script.run_for_ms).map(Duration::from_millis),
            timeline: timeline.unwrap_or_default(),
            folders: self.folders.clone(),
            agents: self.agents.clone(),
            go_on: self.go_on,
            leave: self.leave.clone(),
            ..Options::default()
        };
        Ok(Setting { runner: self.runner()?, options, cleared: self.cleared.clone() })
    }

    /// Runner of the turns: programs and agents under a supervisor, or the script instead.
    fn runner(&self) -> Result<Arc<dyn Runner>> {
        let scripted = self.script.as_ref().map(|script| {
            let runner: Arc<dyn Runner> = Arc::new(ScriptedRunner::new(script.clone()));
            runner
        });
        let runners = Arc::new(Runners {
            agent: self.answering.runner(&self.supervisor)?,
            utility: Arc::new(UtilityRunner::new(self.supervisor.clone())),
            scripted,
            mock: Some(Arc::new(MockRunner::new(Arc::new(self.plan.clone())))),
        });
        Ok(match &self.own {
            Some(place) => {
                let runner = WorkspaceRunner::new(runners, place.clone());
                Arc::new(match &self.stored {
                    Some(stored) => runner.storing(Arc::clone(stored)),
                    None => runner,
                })
            }
            None => runners,
        })
    }
}

impl Driven {
    /// Says how the run ended; where it never began, this is a refusal.
    pub fn outcome(&mut self) -> Result<Outcome> {
        let Err(error) = std::mem::replace(&mut self.ended, Ok(())) else {
            let (report, run) =
                self.report().map_err(|error| Failure::Broken(error.to_string()))?;
            return Ok(Outcome::Rests(Box::new(report), Box::new(run)));
        };
        let error = match error {
            EngineError::Lost(_) if self.journal.is_remote() => {
                DriveError::Append(AppendError::Storage(error.to_string()))
            }
            EngineError::Drive(DriveError::Rejected(rejection)) => {
                return Err(Failure::resolution(format!("cast `{}`: {rejection}", self.id)));
            }
            EngineError::Drive(error @ DriveError::Append(_)) => error,
            refused @ (EngineError::Claim(_)
            | EngineError::Load(_)
            | EngineError::Lost(_)
            | EngineError::HandedOver(_)
            | EngineError::Exists(_)
            | EngineError::NotApproved(_)
            | EngineError::Leftovers(..)
            | EngineError::Workspace(..)
            | EngineError::Answered(_)
            | EngineError::OtherBody(_)) => return Err(refused.into()),
        };
        if self.began_here && matches!(blocking(&*self.journal).head(&self.id), Ok(None)) {
            // Nothing was written, so there is no cast: its folder goes too.
            if let (Some(root), Some(name)) = (self.folder.parent(), self.folder.file_name()) {
                let _ = Anchor::of(root).folder().and_then(|root| root.remove_folder(name));
            }
            return Err(Failure::storage(format!("the cast could not begin: {error}")));
        }
        let report = self.report().ok().map(|(report, _)| Box::new(report));
        Ok(Outcome::BrokeOff { error, report })
    }

    fn report(&self) -> Result<(CastReport, Run), materia_engine::LoadError> {
        materia_engine::report_at(&*self.journal, &self.id, &self.folders, None)
    }
}
