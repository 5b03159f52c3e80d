//! Commands of a person on a cast: the code that `resume`, `say`, `approve` and the like share, for the command line
//! and the server.
//!
//! If another process runs the cast, the command goes to its inbox. Otherwise this process takes the lease and
//! continues the cast ([`crate::cast::drive`]). The kernel decides whether the command fits, before anything is shown or
//! approved.

mod end;
mod fork;
mod note;
mod once;
pub mod step;
mod tell;

pub use end::{Ended, Waiting, end};
pub use fork::{Forking, fork, fork_place};
pub use note::Noted;

use std::path::Path;

use materia_contract::body::Told;
use materia_contract::{
    Actor, Answerers, CastReport, Command, CommandId, Do, GlobalMode, RunCreated,
};
use materia_engine::{ClaimError, DriveError, EngineError, Forked, Lease, LoadedRun, blocking};
use materia_kernel::{Input, Phase, Run, decide};

use crate::cast::prepare::{self, GoingOn};
use crate::options::Contradiction;
use crate::project::{self, Found, Project};
use crate::trust::Untrusted;
use crate::{Failure, Result, RunOptions};
use tell::{Telling, tell};

/// Result of a command.
pub enum Taken {
    /// No other process drives the cast: this one can continue it.
    Here(Box<Held>),
    /// The command was sent to the process that drives it.
    There(Told),
}

/// A cast that only this process can drive now, and the command to apply to it.
pub struct Held {
    /// The cast.
    pub found: Found,
    /// The run, loaded once: the run that is checked and trusted is the run that is driven.
    run: Looked,
    /// The command.
    pub what: Do,
    /// Who asks for it.
    pub sender: Sender,
}

/// The sender of a command, and the name under which the command acts once.
#[derive(Debug, Clone)]
pub struct Sender {
    /// The name, where the sender gave one.
    pub name: Option<CommandId>,
    /// The sender.
    pub actor: Actor,
}

impl Sender {
    /// A person at a terminal, who gives no names.
    pub const PERSON: Self = Self { name: None, actor: Actor::PERSON };

    fn command(self, what: Do) -> Command {
        Command { id: self.name, actor: self.actor, ..Command::person(what) }
    }
}

/// A run that was checked.
enum Looked {
    /// It is stored, and this process holds its lease.
    There(Lease, Box<LoadedRun>),
    /// It is a new fork that is not stored yet.
    Forked(Box<Forked>),
}

/// A cast that continues.
pub struct Going {
    /// The cast.
    pub found: Found,
    /// Its lease.
    pub lease: Lease,
    /// The run.
    pub loaded: LoadedRun,
    /// The command.
    pub command: Command,
}

/// Why a command was not taken.
#[derive(Debug, thiserror::Error)]
pub enum Unfit<E> {
    /// The cast does not accept it in its present state; `run` shows which commands it accepts.
    #[error("cast `{}`: {why}", run.id())]
    Stands {
        /// The run.
        run: Box<Run>,
        /// Why it does not.
        why: String,
    },
    /// Something else was in the way.
    #[error("{0}")]
    Other(E),
}

impl<E: From<Failure>> Unfit<E> {
    fn other(failure: impl Into<Failure>) -> Self {
        Self::Other(failure.into().into())
    }
}

/// Loads a cast that no process drives, or sends the command to its driver. `choose` picks the command from the run.
pub fn take<E: From<Failure>>(
    found: Found,
    options: &RunOptions,
    sender: Sender,
    choose: impl FnOnce(&Run) -> Result<Do, E>,
) -> Result<Taken, Unfit<E>> {
    if options.cast_id.as_deref().is_some_and(|other| other != found.id.as_str()) {
        return Err(Unfit::other(Contradiction::OtherName));
    }
    project::refuse_taken_name(&found.root, &found.id).map_err(Unfit::other)?;
    // What is done is chosen once, in view of the run as it was met first.
    let (mut choose, mut chosen) = (Some(choose), None);
    let mut what = |run: &Run| {
        if let Some(choose) = choose.take() {
            chosen = Some(choose(run)?);
        }
        chosen.clone().ok_or_else(|| Failure::Broken("nothing was chosen".to_owned()).into())
    };
    // Held until the cast rests: what is decided below is decided on the run that goes on.
    let lease = loop {
        match blocking(found.journal()).claim(&found.id) {
            Ok(lease) => break lease,
            Err(held @ ClaimError::Held { .. }) => {
                match tell(&found, held, sender.clone(), &mut what).map_err(Unfit::Other)? {
                    Telling::Told(told) => return Ok(Taken::There(told)),
                    Telling::LetGo => {}
                }
            }
            Err(error @ (ClaimError::Io { .. } | ClaimError::Storage { .. })) => {
                return Err(Unfit::other(error));
            }
        }
    };
    let loaded = materia_engine::load_to_drive(found.journal(), &found.id).map_err(Unfit::other)?;
    let what = what(loaded.run()).map_err(Unfit::Other)?;
    if let Some(why) = unfit(loaded.run(), &what) {
        return Err(Unfit::Stands { run: Box::new(loaded.run().clone()), why });
    }
    let run = Looked::There(lease, Box::new(loaded));
    Ok(Taken::Here(Box::new(Held { found, run, what, sender })))
}

/// State of a cast that is held here, without the run itself, which waits for approval.
pub struct Hold {
    /// The cast.
    pub found: Found,
    /// The command.
    pub what: Do,
    sender: Sender,
    /// Who answered so far.
    pub before: Answerers,
    place: Place,
}

/// Where a run is that waits at the gate.
enum Place {
    /// It is stored, and this process holds its lease.
    There(Lease),
    /// Nothing of it is written yet.
    Forked(Box<Forked>),
}

impl Hold {
    /// Everything was asked: the run goes on as it came through the gate. A fork is written now.
    pub fn go_on(self, loaded: LoadedRun) -> Result<Going> {
        let Self { found, what, sender, place, .. } = self;
        let (lease, loaded) = match place {
            Place::There(lease) => (lease, loaded),
            Place::Forked(forked) => fork::write(*forked, &found, &found.id)?,
        };
        let command = sender.command(what);
        Ok(Going { found, lease, loaded, command })
    }
}

impl Held {
    /// A run whose lease the caller holds and that was read under it, for a command that fits it.
    pub(crate) fn of(
        found: Found,
        lease: Lease,
        loaded: LoadedRun,
        what: Do,
        sender: Sender,
    ) -> Self {
        Self { found, run: Looked::There(lease, Box::new(loaded)), what, sender }
    }

    /// Whether a turn, or a cast that rested, would have to start after this.
    pub fn starts_something(&self) -> bool {
        let run = match &self.run {
            Looked::There(_, loaded) => loaded.run(),
            Looked::Forked(forked) => forked.loaded().run(),
        };
        note::starts_something(run, &self.what)
    }

    /// Notes what is done to the cast, and carries nothing on (D59). Nothing runs, so nothing has to be trusted.
    pub fn note(self, project: &Project, supervisor: &Path) -> Result<(Noted, Box<CastReport>)> {
        let Self { found: Found { root, journal, id }, run, what, sender } = self;
        let Looked::There(lease, loaded) = run else {
            return Err(Failure::resolution(format!("cast `{id}` is not written yet")));
        };
        let folders = project.folders(&root, &id);
        let place = (root.as_path(), &journal, supervisor);
        let command = sender.command(what);
        let noted = note::note(place, &folders, &lease, loaded.run(), command)?;
        let report = materia_engine::report(&*journal, &id, &folders)?;
        Ok((noted, Box::new(report)))
    }

    /// Prepares that the cast goes on. The run waits at the gate of trust, as it was read.
    pub fn prepare(
        self,
        project: &Project,
        options: &RunOptions,
    ) -> Result<(Untrusted<GoingOn>, Hold)> {
        let Self { found, run, what, sender } = self;
        let (loaded, place) = match run {
            Looked::There(lease, loaded) => (*loaded, Place::There(lease)),
            Looked::Forked(forked) => (forked.loaded().clone(), Place::Forked(forked)),
        };
        let missing = || Failure::storage(format!("cast `{}` has no beginning", found.id));
        let created = loaded.run().created().ok_or_else(missing)?;
        refuse_changes(options, created, &what)?;
        if matches!(place, Place::There(_)) {
            project.refuse_elsewhere(&found, created)?;
        }
        let before = loaded.run().agents().clone();
        let going_on = prepare::going_on(project, loaded, options)?;
        Ok((going_on, Hold { found, what, sender, before, place }))
    }
}

/// Records a refusal in a cast that no process drives: a retry with the same command id gets the same answer.
pub fn refuse(project: &Project, found: &Found, command: Command, supervisor: &Path) -> Result<()> {
    let folders = project.folders(&found.root, &found.id);
    let lease = blocking(found.journal()).claim(&found.id)?;
    let asked = (command, supervisor);
    match once::once(&found.journal, &found.root, &folders, (&lease, &found.id), asked) {
        Ok(()) | Err(EngineError::Drive(DriveError::Rejected(_))) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Why a run does not take a command as it stands.
fn unfit(run: &Run, what: &Do) -> Option<String> {
    if matches!(what, Do::Continue { .. }) && *run.phase() == Phase::Running {
        return Some("its process went away in the middle of a turn".to_owned());
    }
    rejection(run, what)
}

/// Asks the kernel whether it would do that; why not, if not.
fn rejection(run: &Run, what: &Do) -> Option<String> {
    decide(run, run.ts(), Input::act(what.clone())).err().map(|rejection| rejection.to_string())
}

/// A run keeps the settings it began with; to ask for others is to misunderstand it.
fn refuse_changes(options: &RunOptions, created: &RunCreated, what: &Do) -> Result<()> {
    if options.virtual_time && !created.virtual_time {
        return Err(Contradiction::RealTime.into());
    }
    if options.planning && created.global_mode != GlobalMode::Planning {
        return Err(Contradiction::NotPlanning.into());
    }
    if options.interactive && !matches!(what, Do::Resume { .. }) {
        return Err(Contradiction::PaceOfAct.into());
    }
    Ok(())
}
