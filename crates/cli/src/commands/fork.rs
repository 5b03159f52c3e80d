use clap::Args;
use materia_app::cast::act::{self, Forking, Unfit};

use crate::args::{Global, RunOptions};
use crate::cast_id;
use crate::continuation::{self, Continuation};
use crate::failure::Ended;
use crate::journals;
use crate::project::{self, Project};
use crate::terminal::Terminal;

/// Begin a new cast that shares the history of another up to an event
///
/// The new cast has everything the old one had at that event: state, inputs, budgets, timers. A turn
/// that was under way there runs again. The old cast is not touched. Files are not part of a fork:
/// both casts work in the project as it is now.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia fork last\n  materia fork last --at 42\n  materia fork 20261115T0226 --at 7 --cast-id second-try"
)]
pub(crate) struct ForkArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// The last event that is shared; of a cast that failed, by default the one before the turn that failed
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,
    /// Options of the run.
    #[command(flatten)]
    options: RunOptions,
}

/// Runs `fork`.
pub(crate) fn fork(args: &ForkArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let (project, found) = Project::with_cast(&args.id, global)?;
    let found = journals::own(&project, found, args.options.trust_journal, terminal)?;
    let id = match &args.options.cast_id {
        Some(text) => cast_id::chosen(text)?,
        None => cast_id::fresh(),
    };
    project::refuse_taken_folder(&found.root, &id)?;
    let original = found.id.clone();
    let at = match args.at {
        Some(at) => at,
        None => act::fork_place(&found)?,
    };
    let (run, _) = materia_engine::load(found.journal(), &found.id)?;
    let own = run.created().is_some_and(|created| created.workspace.is_some());
    let files = if own {
        format!("its workspace has the files as of event {at}")
    } else {
        "files are not part of a fork and are as they are now".to_owned()
    };
    let shares = format!("cast `{id}` shares events 1 to {at} of `{original}`; {files}");
    let options = RunOptions { cast_id: None, ..args.options.clone() };
    let carry = Continuation { id: id.as_str(), options: &options, global, no_run: false };
    match act::fork(found, at, &id, options.interactive, None) {
        Ok(Forking::GoesOn(held)) => carry.drive(&project, *held, Some(shares), terminal),
        Ok(Forking::Rests) => {
            terminal.say(shares);
            carry.as_it_is(terminal)
        }
        Err(unfit @ Unfit::Stands { .. }) => Err(continuation::refused(&unfit, &project)),
        Err(Unfit::Other(failure)) => Err(failure.into()),
    }
}
