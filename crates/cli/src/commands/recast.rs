use clap::Args;
use materia_contract::Do;

use crate::args::{Global, RunOptions};
use crate::continuation::Continuation;
use crate::failure::Ended;
use crate::terminal::Terminal;

/// Try the failed turn of a cast again
///
/// The turn gets the same inputs as before, as its next attempt; everything that had completed
/// stays. Use it for a cast that failed because a program or an agent failed, or because an answer
/// was invalid.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  materia recast last")]
pub(crate) struct RecastArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// Options of the run.
    #[command(flatten)]
    options: RunOptions,
}

/// Runs `recast`.
pub(crate) fn recast(args: &RecastArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    Continuation { id: &args.id, options: &args.options, global, no_run: false }
        .on(terminal, |_| Ok(Do::Recast))
}
