use clap::Args;
use materia_app::cast::act::step;

use crate::args::{Global, NoRun, RunOptions};
use crate::continuation::Continuation;
use crate::failure::Ended;
use crate::terminal::Terminal;

/// Finish a multi-turn socket: its last answer counts, and the cast goes on
///
/// Only this command finishes it; text from `materia say` is always an instruction.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  materia continue last\n  materia continue last Socket-1")]
pub(crate) struct ContinueArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// The socket; otherwise the only one that waits
    #[arg(value_name = "SOCKET")]
    node: Option<String>,
    /// Whether it is only noted.
    #[command(flatten)]
    note: NoRun,
    /// Options of the run.
    #[command(flatten)]
    options: RunOptions,
}

/// Runs `continue`.
pub(crate) fn finish(args: &ContinueArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let no_run = args.note.no_run;
    Continuation { id: &args.id, options: &args.options, global, no_run }
        .on(terminal, |run| Ok(step::finish(run, args.node.as_deref())?))
}
