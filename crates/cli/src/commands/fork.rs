use std::sync::Arc;

use clap::Args;
use materia_contract::{Do, Pace};
use materia_engine::{Clock, Journal, SystemClock, blocking, fork_at, wait};
use materia_kernel::Phase;

use crate::args::{Global, RunOptions};
use crate::carry::Carry;
use crate::castid;
use crate::failure::{Exit, Failure};
use crate::project::{self, Project};
use crate::terminal::Terminal;

/// Begin a new cast that shares the history of another up to an event
///
/// The new cast has everything the old one had at that event: state, inputs, budgets, timers. A turn
/// that was under way there runs again. The old cast is not touched.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia fork last --at 42\n  materia fork 20261115T0226 --at 7 --cast-id second-try"
)]
pub(crate) struct ForkArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// The last event that is shared
    #[arg(long, value_name = "SEQ")]
    at: u64,
    /// Options of the run.
    #[command(flatten)]
    options: RunOptions,
}

/// Runs `fork`.
pub(crate) fn fork(
    args: &ForkArgs,
    global: &Global,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let wanted = project::cast_id(&args.id)?;
    let project = Project::here(global)?;
    let found = project.find(&wanted)?;
    let id = match &args.options.cast_id {
        Some(text) => castid::chosen(text)?,
        None => castid::fresh(),
    };
    project::refuse_taken_folder(&found.root, &id)?;
    if blocking(found.journal()).head(&id)?.is_some() {
        return Err(Failure::resolution(format!("there is a cast `{id}` already")));
    }
    let original = found.id.clone();
    let journal: Arc<dyn Journal> = Arc::new(found.journal);
    {
        let lease = blocking(&*journal).claim(&id)?;
        let (journal, now) = (Arc::clone(&journal), Some(SystemClock.now()));
        let written = fork_at(journal, &original, args.at, &id, lease.epoch(), now);
        wait(written).map_err(|error| Failure::resolution(error.to_string()))?;
    }
    terminal.say(format_args!("cast `{id}` shares events 1 to {} of `{original}`", args.at));
    let options = RunOptions { cast_id: None, ..args.options.clone() };
    let carry = Carry { id: id.as_str(), options: &options, global, no_run: false };
    let (run, _) = materia_engine::load(&*journal, &id)?;
    drop(journal);
    if *run.phase() == Phase::Running {
        let asked = options.interactive.then_some(Pace::Interactive);
        carry.on(terminal, |run| Ok(Do::Resume { pace: Some(asked.unwrap_or(run.pace())) }))
    } else {
        carry.as_it_is(terminal)
    }
}
