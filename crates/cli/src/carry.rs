//! Carrying a cast on: what `resume`, `recast`, `revive`, `say`, `continue` and `budget` share.
//!
//! Each of them is one step of a person; then the cast is driven here until it rests. Whether
//! the step fits is the kernel's to say; it is asked before anything is shown or trusted.

use std::path::PathBuf;
use std::sync::Arc;

use materia_contract::{GlobalMode, Pace, RunCreated};
use materia_engine::Step;
use materia_kernel::{Input, Run, decide, outstanding};

use crate::agents;
use crate::args::{Global, RunOptions};
use crate::failure::{Exit, Failure};
use crate::project::{self, Found, Project};
use crate::run::{self, Drive, Start};
use crate::standing::Standing;
use crate::terminal::Terminal;
use crate::trust::Trust;

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
        choose: impl FnOnce(&Run) -> Result<Step, Failure>,
    ) -> Result<Exit, Failure> {
        let wanted = project::cast_id(self.id)?;
        let project = Project::here(self.global)?;
        let found = project.find(&wanted)?;
        if self.options.cast_id.as_deref().is_some_and(|other| other != found.id.as_str()) {
            return Err(Failure::usage("`--cast-id` cannot give a cast another name"));
        }
        project::refuse_taken_name(&found.root, &found.id)?;
        // What somebody else drives changes under our eyes, so that is said first.
        drop(found.journal().claim(&found.id)?);
        // The state that will go on, snapshot and all: that is what has to be trusted.
        let (run, _) = materia_engine::load(found.journal(), &found.id)?;
        let step = choose(&run)?;
        refuse_unfit(&run, &step, &project)?;
        let created = run
            .created()
            .ok_or_else(|| Failure::storage(format!("cast `{}` has no beginning", found.id)))?;
        self.drive(&project, found, created, step, terminal)
    }

    fn drive(
        &self,
        project: &Project,
        found: Found,
        created: &RunCreated,
        step: Step,
        terminal: &mut Terminal,
    ) -> Result<Exit, Failure> {
        let options = self.options;
        refuse_changes(options, created)?;
        let recorded = created.script.as_ref().map(|script| PathBuf::from(&script.path));
        let path = options.script.clone().or(recorded);
        let script = run::script(path.as_deref(), options)?;
        let (loaded, _) = materia_compiler::load(&project.sources);
        let (plan, mode) = (&created.plan, created.global_mode);
        let (answering, commands) =
            agents::answering(options, plan, mode, script.is_some(), &loaded, terminal)?;
        let trust = Trust {
            profile: project.profile_dir(),
            project: &project.dir,
            approved: options.trust,
        };
        trust.allows_commands(&loaded, &commands, terminal)?;
        trust.allows_resume(&created.plan, terminal)?;
        if created.global_mode == GlobalMode::Planning {
            run::mention_planning(terminal);
        }
        let Found { root, journal, id } = found;
        let (journal, plan) = (Arc::new(journal), created.plan.clone());
        let start = Start::CarryOn(step);
        Drive { project, root, journal, id, plan, script, answering, start }.go(terminal)
    }
}

/// Refuses a step that the cast does not take as it stands, and says what can be done instead.
fn refuse_unfit(run: &Run, step: &Step, project: &Project) -> Result<(), Failure> {
    let standing = Standing::of(run);
    let said = matches!(step, Step::Say { .. } | Step::Continue { .. });
    let why = if said && outstanding(run).next().is_some() {
        "its process went away in the middle of a turn".to_owned()
    } else {
        let nowhere = String::new;
        let input = match step.clone() {
            Step::Resume => Input::Resume { cwd: nowhere(), run_dir: nowhere() },
            Step::Recast => Input::Recast { cwd: nowhere(), run_dir: nowhere() },
            Step::Revive => Input::Revive,
            Step::SetBudget(budget) => Input::SetBudget(budget),
            Step::SetNodeBudgets { node, budgets } => Input::SetNodeBudgets { node, budgets },
            Step::Say { node, text } => Input::Say { node, text },
            Step::Continue { node } => Input::Continue { node },
        };
        match decide(run, run.ts(), input) {
            Ok(_) => return Ok(()),
            Err(rejection) => rejection.to_string(),
        }
    };
    Err(Failure::resolution(format!("cast `{}`: {why}; {}", run.id(), standing.advice(project))))
}

/// A run keeps the settings it began with; to ask for others is to misunderstand it.
fn refuse_changes(options: &RunOptions, created: &RunCreated) -> Result<(), Failure> {
    let refuse =
        |what: &str| Err(Failure::usage(format!("{what}; a cast keeps what it began with")));
    if options.virtual_time && !created.virtual_time {
        return refuse("the cast runs in real time");
    }
    if options.planning && created.global_mode != GlobalMode::Planning {
        return refuse("the cast does not run in Planning mode");
    }
    if options.interactive && created.pace != Pace::Interactive {
        return refuse("the cast does not run in INTERACTIVE pace");
    }
    Ok(())
}
