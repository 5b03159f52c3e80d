use clap::Args;
use materia_app::cast::act::step;

use crate::args::{CarryOptions, Global};
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
    /// Whether it is carried on, and how.
    #[command(flatten)]
    options: CarryOptions,
}

/// Runs `continue`.
pub(crate) fn finish(args: &ContinueArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    Continuation::of(&args.id, &args.options, global)
        .on(terminal, |run| Ok(step::finish(run, args.node.as_deref())?))
}
