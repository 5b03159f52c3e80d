//! Continues a cast: shared by `resume`, `recast`, `revive`, `say`, `continue` and `budget`.
//!
//! [`materia_app::cast::act`] does the work; this module shows the results and prompts.

use materia_app::cast::act::{self, Going, Held, Noted, Sender, Taken, Unfit, step};
use materia_app::cast::drive::{Drive, Start};
use materia_app::cast::prepare::GoingOn;
use materia_app::views::questions::{self, Asks};
use materia_contract::Do;
use materia_contract::body::Told;
use materia_kernel::Run;

use crate::args::{CarryOptions, Global, RunOptions};
use crate::begin;
use crate::detach;
use crate::event_text;
use crate::failure::{Ended, Exit, Failure};
use crate::findings;
use crate::interactive::{self, NextAct};
use crate::journals;
use crate::next_command;
use crate::next_steps::NextSteps;
use crate::project::Project;
use crate::run;
use crate::terminal::Terminal;

/// A cast that a person wants to go on.
pub(crate) struct Continuation<'a> {
    /// Id as the person typed it.
    pub id: &'a str,
    /// Options of the run.
    pub options: &'a RunOptions,
    /// Options of every command.
    pub global: &'a Global,
    /// Whether it is only noted.
    pub no_run: bool,
}

impl<'a> Continuation<'a> {
    /// The cast that a command names, which is carried on unless the command says otherwise.
    pub(crate) fn of(id: &'a str, options: &'a CarryOptions, global: &'a Global) -> Self {
        Self { id, options: &options.run, global, no_run: options.no_run }
    }

    /// Takes the step that `choose` names, drives the cast until it rests, and asks on the terminal what it
    /// then asks.
    pub(crate) fn on(
        &self,
        terminal: &mut Terminal,
        choose: impl FnOnce(&Run) -> Result<Do, Failure>,
    ) -> Ended {
        let exit = self.once(terminal, choose)?;
        self.converse(exit, terminal)
    }

    /// Asks on the terminal what a cast asks that has come to rest, and carries it on with the answers.
    pub(crate) fn converse(&self, exit: Exit, terminal: &mut Terminal) -> Ended {
        let asks = !self.options.no_input && !self.options.detach;
        let exit = if asks { interactive::go_on(self, exit, terminal)? } else { exit };
        let fails = exit == Exit::Unsatisfied && self.options.strict_end;
        Ok(if fails { Exit::Failed } else { exit })
    }

    /// Takes the step that `choose` names, and drives the cast until it rests.
    fn once(
        &self,
        terminal: &mut Terminal,
        choose: impl FnOnce(&Run) -> Result<Do, Failure>,
    ) -> Ended {
        let (project, found) = Project::with_cast(self.id, self.global)?;
        let found = journals::own(&project, found, self.options.trust_journal, terminal)?;
        let mut question = None;
        let choose = |run: &Run| {
            let what = choose(run)?;
            if self.options.detach && !matches!(what, Do::Resume { .. } | Do::Recast | Do::Revive) {
                return Err(Failure::usage(format!(
                    "`--detach` works with `cast`, `link`, `resume`, `recast`, `revive` and `fork`; `{}` continues the cast in this terminal, unless you add `--no-run`",
                    what.name()
                )));
            }
            question = answered_question(&what);
            Ok(what)
        };
        let taken = act::take(found, &self.options.plain(), Sender::PERSON, choose);
        if let Some(question) = question.filter(|_| taken.is_ok()) {
            terminal.say(question);
        }
        match taken {
            Ok(Taken::Here(held)) if self.no_run || !step::carries_on(&held.what) => {
                note(&project, *held, terminal)
            }
            Ok(Taken::Here(held)) => self.drive(&project, *held, None, terminal),
            Ok(Taken::There(told)) => show_told(&told, terminal),
            Err(unfit @ Unfit::Stands { .. }) => Err(refused(&unfit, &project)),
            Err(Unfit::Other(failure)) => Err(failure),
        }
    }

    /// Shows a cast that rests, and leaves it as it is.
    pub(crate) fn as_it_is(&self, terminal: &mut Terminal) -> Ended {
        let (project, found) = Project::with_cast(self.id, self.global)?;
        let folders = project.folders(&found.root, &found.id);
        let report = materia_engine::report(found.journal(), &found.id, &folders)?;
        terminal.say(event_text::summary(&report));
        if terminal.json {
            terminal.data(&report)?;
        }
        Ok(run::exit_of(&report))
    }

    /// Drives a cast that is held until it rests. `words` are said once everything was asked.
    pub(crate) fn drive(
        &self,
        project: &Project,
        held: Held,
        words: Option<String>,
        terminal: &mut Terminal,
    ) -> Ended {
        let options = self.options;
        let (configured, _) = materia_compiler::load(&project.sources);
        let (going_on, rest) = held
            .prepare(project, &options.plain())
            .map_err(|failure| findings::of(failure, &configured.layers, terminal))?;
        begin::show(&going_on.what().prepared, terminal);
        let going_on = begin::settle(going_on, options.trust, project, terminal)?;
        let supervisor = run::supervisor()?;
        let agents = going_on.answerers(&supervisor)?;
        let agents = Some(agents).filter(|now| *now != rest.before);
        terminal.warned(|warnings| going_on.go_on(warnings))?;
        let (plan, mode) = (going_on.created().plan.clone(), going_on.created().global_mode);
        let own = going_on.created().workspace.is_some();
        let (GoingOn { prepared, loaded, .. }, cleared) = going_on.release();
        let Going { found, lease, loaded, command } = rest.go_on(loaded)?;
        if let Some(words) = words {
            terminal.say(words);
        }
        if !own {
            let cast = (found.root.as_path(), &found.id);
            begin::warn_of_others(project, cast, &plan, mode, terminal);
        }
        let start = Start::CarryOn(lease, Box::new(loaded), Box::new(command));
        let drive = Drive::new(project, found, (prepared, cleared), plan, supervisor, start)?;
        let drive = Drive { agents, go_on: options.go_on, ..drive };
        detach::go(drive, project, options.provider.as_deref(), options.detach, terminal)
    }
}

impl NextAct for Continuation<'_> {
    fn asks(&self) -> Result<Option<Asks>, Failure> {
        let (project, found) = Project::with_cast(self.id, self.global)?;
        let (run, _) = materia_engine::load(found.journal(), &found.id)?;
        let mut asks = questions::of(&run);
        if let Some(Asks::Approval(approval)) = &mut asks {
            approval.shown_by = approval.shown_by.as_deref().map(|words| project.command(words));
        }
        Ok(asks)
    }

    fn does(&self, what: Do, terminal: &mut Terminal) -> Ended {
        self.once(terminal, |_| Ok(what))
    }
}

/// Notes a step and carries nothing on (D59).
fn note(project: &Project, held: Held, terminal: &mut Terminal) -> Ended {
    let said = matches!(held.what, Do::Say { .. });
    let (noted, report) = held.note(project, &run::supervisor()?)?;
    let id = &report.cast_id;
    let resume = project.command(&format!("resume {id}"));
    terminal.say(match noted {
        Noted::Done => event_text::summary(&report),
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

/// Which question a step answers (D56), as a sentence.
fn answered_question(what: &Do) -> Option<String> {
    let (node, hash) = step::answers(what)?;
    Some(format!("{} answers question {hash} of `{node}`", what.name()))
}

/// Prints how the process that drives the cast handled the command.
fn show_told(told: &Told, terminal: &mut Terminal) -> Ended {
    let id = &told.cast_id;
    match told.events.as_deref() {
        Some([first, ..]) => terminal.say(format_args!(
            "cast `{id}` is running and took the command: see event {first}"
        )),
        Some([]) => {
            terminal
                .say(format_args!("cast `{id}` is running and took the command; nothing changed"));
        }
        None => terminal.say(format_args!(
            "cast `{id}` is running and has not taken the command yet; the command waits in its inbox"
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
    let advice = next_command::advice(&NextSteps::of(run), project);
    Failure::resolution(format!("{unfit}; {advice}"))
}
