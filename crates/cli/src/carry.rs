//! Carrying a cast on: what `resume`, `recast`, `revive`, `say`, `continue` and `budget` share.
//!
//! What that means is the application's ([`materia_app::act`]); here is how it is shown and asked for.

use std::sync::Arc;

use materia_app::act::{self, Going, Held, Taken, Unfit};
use materia_app::drive::{Drive, Start};
use materia_app::prepare::{GoingOn, Prepared};
use materia_contract::body::Told;
use materia_contract::{CastStatus, Command, Do};
use materia_kernel::Run;

use crate::args::{Global, RunOptions};
use crate::begin;
use crate::failure::{Exit, Failure};
use crate::findings;
use crate::journals;
use crate::onward;
use crate::project::{self, Found, Project};
use crate::run;
use crate::say;
use crate::standing::Standing;
use crate::terminal::Terminal;

/// A cast that a person wants to go on.
pub(crate) struct Carry<'a> {
    /// What the person called it.
    pub id: &'a str,
    /// Options of the run.
    pub options: &'a RunOptions,
    /// Options of every command.
    pub global: &'a Global,
}

impl Carry<'_> {
    /// Takes the step that `choose` names, and drives the cast until it rests.
    pub(crate) fn on(
        &self,
        terminal: &mut Terminal,
        choose: impl FnOnce(&Run) -> Result<Do, Failure>,
    ) -> Result<Exit, Failure> {
        let wanted = project::cast_id(self.id)?;
        let project = Project::here(self.global)?;
        let found = project.find(&wanted)?;
        let found = journals::own(&project, found, self.options.trust_journal, terminal)?;
        match act::take(found, &self.options.plain(), choose) {
            Ok(Taken::Here(held)) => self.drive(&project, *held, None, terminal),
            Ok(Taken::There(told)) => show_told(&told, terminal),
            Err(unfit @ Unfit::Stands { .. }) => Err(refused(&unfit, &project)),
            Err(Unfit::Other(failure)) => Err(failure),
        }
    }

    /// Shows a cast that rests, and leaves it as it is.
    pub(crate) fn as_it_is(&self, terminal: &mut Terminal) -> Result<Exit, Failure> {
        let project = Project::here(self.global)?;
        let found = project.find(&project::cast_id(self.id)?)?;
        let folders = project.folders(&found.root, &found.id);
        let report = materia_engine::report(found.journal(), &found.id, &folders)?;
        terminal.say(say::summary(&report));
        if terminal.json {
            terminal.data(&report)?;
        }
        Ok(match report.status {
            CastStatus::Completed => Exit::Done,
            CastStatus::Waiting => Exit::Waiting,
            CastStatus::Failed | CastStatus::Aborted | CastStatus::Running => Exit::Failed,
        })
    }

    /// Drives a cast that is held until it rests. `words` are said once everything was asked.
    pub(crate) fn drive(
        &self,
        project: &Project,
        held: Held,
        words: Option<String>,
        terminal: &mut Terminal,
    ) -> Result<Exit, Failure> {
        let options = self.options;
        let (configured, _) = materia_compiler::load(&project.sources);
        let (going_on, rest) = held
            .prepare(project, &options.plain())
            .map_err(|failure| findings::of(failure, &configured.layers, terminal))?;
        begin::show(&going_on.what().prepared, terminal);
        let going_on = begin::settle(going_on, options.trust, terminal)?;
        let supervisor = run::supervisor()?;
        let agents = going_on.answerers(&supervisor)?;
        let agents = Some(agents).filter(|now| *now != rest.before);
        terminal.warned(|warnings| going_on.go_on(project.profile_dir(), warnings))?;
        let plan = going_on.created().plan.clone();
        let (GoingOn { prepared, loaded, .. }, cleared) = going_on.release();
        let Going { found: Found { root, journal, id }, lease, loaded, what } =
            rest.go_on(loaded)?;
        if let Some(words) = words {
            terminal.say(words);
        }
        let Prepared { script, answering, .. } = prepared;
        let (journal, folders) = (Arc::new(journal), project.folders(&root, &id));
        let start = Start::CarryOn(lease, Box::new(loaded), Box::new(Command::person(what)));
        let drive = Drive {
            cleared,
            root,
            journal,
            id,
            plan,
            folders,
            script,
            answering,
            agents,
            supervisor,
            start,
        };
        run::go(drive, project, terminal)
    }
}

/// Says what whoever drives the cast made of it.
fn show_told(told: &Told, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let id = &told.cast_id;
    match told.events.as_deref() {
        Some([first, ..]) => terminal.say(format_args!(
            "cast `{id}` is under way and has been told: event {first} follows from it"
        )),
        Some([]) => {
            terminal
                .say(format_args!("cast `{id}` is under way and has been told; nothing changed"));
        }
        None => terminal.say(format_args!(
            "cast `{id}` is under way and will hear of it; it has not answered yet"
        )),
    }
    if terminal.json {
        terminal.data(told)?;
    }
    Ok(Exit::Done)
}

/// A command that the cast does not take as it stands, and what can be done instead.
pub(crate) fn refused<E: std::fmt::Display>(unfit: &Unfit<E>, project: &Project) -> Failure {
    let Unfit::Stands { run, .. } = unfit else { return Failure::resolution(unfit.to_string()) };
    let advice = onward::advice(&Standing::of(run), project);
    Failure::resolution(format!("{unfit}; {advice}"))
}
