use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use materia_contract::{GlobalMode, Pace, RunCreated, RunId};
use materia_kernel::Phase;

use crate::args::{Global, RunOptions};
use crate::failure::{Exit, Failure};
use crate::project::{self, Project};
use crate::run::{self, Drive};
use crate::terminal::Terminal;
use crate::trust::Trust;

/// Carry on a cast that was stopped, killed, or waits
///
/// Turns that had ended are not run again; a turn that was under way is run again with the
/// same inputs. Script, simulated time and mode are those the cast began with.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  materia resume last\n  materia resume 20261115T0226")]
pub(crate) struct ResumeArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// Options of the run.
    #[command(flatten)]
    options: RunOptions,
}

/// Runs `resume`.
pub(crate) fn resume(
    args: &ResumeArgs,
    global: &Global,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let options = &args.options;
    let wanted = project::cast_id(&args.id)?;
    let project = Project::here(global)?;
    let found = project.find(&wanted)?;
    if options.cast_id.as_deref().is_some_and(|other| other != found.id.as_str()) {
        return Err(Failure::usage("`--cast-id` cannot give a cast another name"));
    }
    project::refuse_taken_name(&found.root, &found.id)?;
    // The state that will go on, snapshot and all: that is what has to be trusted.
    let (run, _) = materia_engine::load(found.journal(), &found.id)?;
    refuse_ended(run.phase(), &found.id, &project)?;
    let created = run
        .created()
        .ok_or_else(|| Failure::storage(format!("cast `{}` has no beginning", found.id)))?;
    refuse_changes(options, created)?;
    let recorded = created.script.as_ref().map(|script| PathBuf::from(&script.path));
    let path = options.script.clone().or(recorded);
    let script = run::script(path.as_deref(), options, &created.plan)?;
    let trust =
        Trust { profile: project.profile_dir(), project: &project.dir, approved: options.trust };
    trust.allows_resume(&created.plan, terminal)?;
    if created.global_mode == GlobalMode::Planning {
        run::mention_planning(terminal);
    }
    let plan = created.plan.clone();
    let journal = Arc::new(found.journal);
    let drive = Drive {
        project: &project,
        root: found.root,
        journal,
        id: found.id,
        plan,
        script,
        begin: None,
    };
    drive.go(terminal)
}

fn refuse_ended(phase: &Phase, id: &RunId, project: &Project) -> Result<(), Failure> {
    let what = match phase {
        Phase::New | Phase::Running | Phase::Waiting(_) => return Ok(()),
        Phase::Completed => "has completed, so there is nothing left to do",
        Phase::Failed(_) => "has failed and cannot be resumed",
        Phase::Aborted => "was aborted and cannot be resumed",
    };
    Err(Failure::resolution(format!(
        "cast `{id}` {what}; `{}` tells how it ended, `materia cast` begins a new one",
        project.command(&format!("show {id}"))
    )))
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
