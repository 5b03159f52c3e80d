use clap::Args;
use materia_contract::Do;

use crate::args::{Global, RunOptions};
use crate::continuation::Continuation;
use crate::failure::Ended;
use crate::terminal::Terminal;

/// Let an exhausted cast use its edges again, and go on
///
/// For a cast that failed because an edge was taken as often as it may be (`edge_exhausted`), or
/// because it went in circles (`no_advance`). The cast takes the blocked edge now. A spent budget
/// stays spent; raise it with `materia budget`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  materia revive last")]
pub(crate) struct ReviveArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// Options of the run.
    #[command(flatten)]
    options: RunOptions,
}

/// Runs `revive`.
pub(crate) fn revive(args: &ReviveArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    Continuation { id: &args.id, options: &args.options, global, no_run: false }
        .on(terminal, |_| Ok(Do::Revive))
}
