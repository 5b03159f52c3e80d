//! Carrying a cast on: what `resume`, `recast`, `revive`, `say`, `continue` and `budget` share.
//!
//! Each of them is one step of a person; then the cast is driven here until it rests. Whether
//! the step fits is the kernel's to say; it is asked before anything is shown or trusted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use materia_app::asking::{self, Asks};
use materia_app::prepare::{self, Prepared};
use materia_app::step::{self, Noted};
use materia_contract::{Answer, CastStatus, Command, CommandId, Do, GlobalMode, RunCreated};
use materia_engine::{ClaimError, Lease, LoadedRun, blocking};
use materia_kernel::{Input, Phase, Run, decide};
use serde_json::json;

use crate::args::{Global, RunOptions};
use crate::begin;
use crate::converse::{self, Onward};
use crate::failure::{Exit, Failure};
use crate::findings;
use crate::onward;
use crate::project::{self, Found, Project};
use crate::run::{self, Drive, Start};
use crate::say;
use crate::standing::Standing;
use crate::terminal::Terminal;

/// How long somebody who told another process something waits for what became of it.
const RECEIPT_PATIENCE: Duration = Duration::from_secs(5);

/// How often is looked for it.
const RECEIPT_LOOK: Duration = Duration::from_millis(30);

/// A cast that a person wants to go on.
pub(crate) struct Carry<'a> {
    /// What the person called it.
    pub id: &'a str,
    /// Options of the run.
    pub options: &'a RunOptions,
    /// Options of every command.
    pub global: &'a Global,
    /// Whether it is only noted.
    pub no_run: bool,
}

impl Carry<'_> {
    /// Takes the step that `choose` names, drives the cast until it rests, and asks on the terminal what it
    /// then asks.
    pub(crate) fn on(
        &self,
        terminal: &mut Terminal,
        choose: impl FnOnce(&Run) -> Result<Do, Failure>,
    ) -> Result<Exit, Failure> {
        let exit = self.once(terminal, choose)?;
        self.converse(exit, terminal)
    }

    /// Asks on the terminal what a cast asks that has come to rest, and carries it on with the answers.
    pub(crate) fn converse(&self, exit: Exit, terminal: &mut Terminal) -> Result<Exit, Failure> {
        if self.options.no_input { Ok(exit) } else { converse::go_on(self, exit, terminal) }
    }

    /// Takes the step that `choose` names, and drives the cast until it rests.
    pub(crate) fn once(
        &self,
        terminal: &mut Terminal,
        choose: impl FnOnce(&Run) -> Result<Do, Failure>,
    ) -> Result<Exit, Failure> {
        let wanted = project::cast_id(self.id)?;
        let project = Project::here(self.global)?;
        let found = project.find(&wanted)?;
        if self.options.cast_id.as_deref().is_some_and(|other| other != found.id.as_str()) {
            return Err(Failure::usage("`--cast-id` cannot give a cast another name"));
        }
        project::refuse_taken_name(&found.root, &found.id)?;
        // Held until the cast rests: what is decided below is decided on the run that goes on.
        let lease = match blocking(found.journal()).claim(&found.id) {
            Ok(lease) => lease,
            Err(held @ ClaimError::Held { .. }) => {
                return tell(&found, held, choose, terminal);
            }
            Err(error @ (ClaimError::Io { .. } | ClaimError::Storage { .. })) => {
                return Err(error.into());
            }
        };
        // Read once: what is looked at and trusted here is the very run that is driven.
        let loaded = materia_engine::load_to_drive(found.journal(), &found.id)?;
        let what = choose(loaded.run())?;
        refuse_unfit(loaded.run(), &what, &project)?;
        say_question(&what, terminal);
        if self.no_run || !step::carries_on(&what) {
            return note(&project, found, &lease, loaded.run(), what, terminal);
        }
        self.drive(&project, found, (lease, loaded), what, terminal)
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

    fn drive(
        &self,
        project: &Project,
        found: Found,
        (lease, loaded): (Lease, LoadedRun),
        what: Do,
        terminal: &mut Terminal,
    ) -> Result<Exit, Failure> {
        let options = self.options;
        let (run, id) = (loaded.run(), &found.id);
        let (before, nothing) = (run.agents(), || format!("cast `{id}` has no beginning"));
        let created = run.created().ok_or_else(|| Failure::storage(nothing()))?;
        refuse_changes(options, created, &what)?;
        let (configured, _) = materia_compiler::load(&project.sources);
        let prepared = prepare::going_on(project, created, before, &options.plain())
            .map_err(|failure| findings::of(failure, &configured.layers, terminal))?;
        begin::settle(&prepared, options.trust, terminal)?;
        let agents = prepared.answerers(&run::supervisor()?)?;
        let agents = Some(agents).filter(|now| now != before);
        let profile = project.profile_dir();
        terminal.warned(|warnings| prepared.go_on(profile, created, warnings))?;
        let Prepared { script, answering, .. } = prepared;
        let Found { root, journal, id } = found;
        let (journal, plan) = (Arc::new(journal), created.plan.clone());
        let (start, carried) = (Start::CarryOn(Box::new(Command::person(what))), (lease, loaded));
        let carried = Some(Box::new(carried));
        let drive =
            Drive { carried, project, root, journal, id, plan, script, answering, agents, start };
        drive.go(terminal)
    }
}

impl Onward for Carry<'_> {
    fn asks(&self) -> Result<Option<Asks>, Failure> {
        let found = Project::here(self.global)?.find(&project::cast_id(self.id)?)?;
        let (run, _) = materia_engine::load(found.journal(), &found.id)?;
        Ok(asking::of(&run))
    }

    fn does(&self, what: Do, terminal: &mut Terminal) -> Result<Exit, Failure> {
        self.once(terminal, |_| Ok(what))
    }
}

/// Notes a step and carries nothing on (D59).
fn note(
    project: &Project,
    found: Found,
    lease: &Lease,
    run: &Run,
    what: Do,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let Found { root, journal, id } = found;
    let (journal, folders) = (Arc::new(journal), project.folders(&root, &id));
    let said = matches!(what, Do::Say { .. });
    let noted = step::note((&root, &journal), &folders, lease, run, what)?;
    let report = materia_engine::report(&*journal, &id, &folders)?;
    let resume = project.command(&format!("resume {id}"));
    terminal.say(match noted {
        Noted::Done => say::summary(&report),
        Noted::Left => format!("cast `{id}`: noted; `{resume}` carries it on and does that first"),
    });
    if said && noted == Noted::Done {
        terminal.say(format_args!("  go on   {resume}"));
    }
    if terminal.json {
        terminal.data(&report)?;
    }
    Ok(Exit::Done)
}

/// Says which question a step answers (D56).
fn say_question(what: &Do, terminal: &Terminal) {
    if let Some((node, hash)) = step::answers(what) {
        terminal.say(format_args!("{} answers question {hash} of `{node}`", what.name()));
    }
}

/// Leaves word for the process that drives the cast, where the step can be taken there.
fn tell(
    found: &Found,
    held: ClaimError,
    choose: impl FnOnce(&Run) -> Result<Do, Failure>,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let (run, _) = materia_engine::load(found.journal(), &found.id)?;
    let what = step::where_driven(choose(&run)?);
    if let Do::Recast | Do::Revive = what {
        return Err(held.into());
    }
    say_question(&what, terminal);
    if let Some(why) = rejection(&run, &what) {
        return Err(Failure::resolution(format!("{held}: {why}")));
    }
    let posting = blocking(found.journal()).post(&found.id, &Command::person(what))?;
    let id = &found.id;
    let answer = receipt(found, &posting.id)?;
    match &answer {
        Some(Answer::Refused { reason }) => {
            return Err(Failure::resolution(format!("cast `{id}`: {reason}")));
        }
        Some(Answer::Done { first, last }) if first <= last => terminal.say(format_args!(
            "cast `{id}` is under way and has been told: event {first} follows from it"
        )),
        Some(Answer::Done { .. }) => {
            terminal
                .say(format_args!("cast `{id}` is under way and has been told; nothing changed"));
        }
        None => terminal.say(format_args!(
            "cast `{id}` is under way and will hear of it; it has not answered yet"
        )),
    }
    if terminal.json {
        let events = match answer {
            Some(Answer::Done { first, last }) => Some((first..=last).collect::<Vec<u64>>()),
            Some(Answer::Refused { .. }) | None => None,
        };
        terminal.data(&json!({ "castId": id, "told": true, "events": events }))?;
    }
    Ok(Exit::Done)
}

/// Waits a little for what became of a command. It is kept whoever waits for it.
fn receipt(found: &Found, id: &CommandId) -> Result<Option<Answer>, Failure> {
    let begun = Instant::now();
    while begun.elapsed() < RECEIPT_PATIENCE {
        if let Some(receipt) = blocking(found.journal()).receipt(&found.id, id)? {
            return Ok(Some(receipt.answer));
        }
        std::thread::sleep(RECEIPT_LOOK);
    }
    Ok(None)
}

/// Refuses a step that the cast does not take as it stands, and says what can be done instead.
fn refuse_unfit(run: &Run, what: &Do, project: &Project) -> Result<(), Failure> {
    if matches!(what, Do::Continue { .. }) && *run.phase() == Phase::Running {
        let why = "its process went away in the middle of a turn";
        return Err(unfit(run, why, project));
    }
    match rejection(run, what) {
        None => Ok(()),
        Some(why) => Err(unfit(run, &why, project)),
    }
}

fn unfit(run: &Run, why: &str, project: &Project) -> Failure {
    let advice = onward::advice(&Standing::of(run), project);
    Failure::resolution(format!("cast `{}`: {why}; {advice}", run.id()))
}

/// Asks the kernel whether it would do that; why not, if not.
fn rejection(run: &Run, what: &Do) -> Option<String> {
    decide(run, run.ts(), Input::act(what.clone())).err().map(|rejection| rejection.to_string())
}

/// A run keeps the settings it began with; to ask for others is to misunderstand it.
fn refuse_changes(options: &RunOptions, created: &RunCreated, what: &Do) -> Result<(), Failure> {
    let refuse =
        |what: &str| Err(Failure::usage(format!("{what}; a cast keeps what it began with")));
    if options.virtual_time && !created.virtual_time {
        return refuse("the cast runs in real time");
    }
    if options.planning && created.global_mode != GlobalMode::Planning {
        return refuse("the cast does not run in Planning mode");
    }
    if options.interactive && !matches!(what, Do::Resume { .. }) {
        let message = "`--interactive` goes with a beginning or with `resume`; `materia pause` changes the pace of a cast";
        return Err(Failure::usage(message));
    }
    Ok(())
}
