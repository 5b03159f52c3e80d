use clap::Args;
use materia_contract::{Do, GoOnFrom, Pace};

use crate::args::{Global, RunOptions};
use crate::continuation::Continuation;
use crate::failure::Ended;
use crate::project::Project;
use crate::terminal::Terminal;

/// Resume a cast that was stopped, was killed, or waits
///
/// Turns that had ended are not run again; a turn that was under way is run again with the same
/// inputs. The cast keeps its script, simulated time and mode. A paused cast starts turns
/// automatically again.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  materia resume last\n  materia resume 20261115T0226")]
pub(crate) struct ResumeArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// In a workspace: undo changes that were made since the last turn
    #[arg(long, conflicts_with_all = ["from_base", "detach"])]
    put_back: bool,
    /// In a workspace that is gone: begin again with the files of its base
    #[arg(long, conflicts_with = "detach")]
    from_base: bool,
    /// Options of the run.
    #[command(flatten)]
    options: RunOptions,
}

/// Runs `resume`.
pub(crate) fn resume(args: &ResumeArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let pace = args.options.interactive.then_some(Pace::Interactive);
    let go_on = match (args.put_back, args.from_base) {
        (true, _) => GoOnFrom::PutBack,
        (_, true) => GoOnFrom::Found,
        (false, false) => GoOnFrom::Usual,
    };
    if args.from_base {
        let (project, found) = Project::with_cast(&args.id, global)?;
        let (run, _) = materia_engine::load(found.journal(), &found.id)?;
        if let Some(created) = run.created() {
            project.make_workspace_again(&found.id, created)?;
        }
    }
    let options = RunOptions { go_on, ..args.options.clone() };
    Continuation { id: &args.id, options: &options, global, no_run: false }
        .on(terminal, |_| Ok(Do::Resume { pace }))
}
