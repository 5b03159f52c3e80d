use clap::Args;
use materia_contract::Do;

use crate::args::{Global, NoRun, RunOptions};
use crate::continuation::Continuation;
use crate::failure::{Exit, Failure};
use crate::terminal::Terminal;

/// End the present item of a loop and move on to the next
///
/// The item counts as not satisfied. What waits for it inside the loop is dropped; what you have said to a socket
/// stays. Behind the last item the loop is left by its `not_satisfied` exit. While a turn is at work on the item
/// nothing is skipped: wait for it, or stop the cast first. A cast that failed inside the loop goes on.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia skip last\n  materia skip last workItems --reason \"not worth a fourth try\"\n  materia skip last --no-run"
)]
pub(crate) struct SkipArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// The loop; without it, the innermost one that is at work on an item
    #[arg(value_name = "LOOP")]
    region: Option<String>,
    /// Why; it is kept with the item
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Whether it is only noted.
    #[command(flatten)]
    note: NoRun,
    /// Options of the run.
    #[command(flatten)]
    options: RunOptions,
}

/// Runs `skip`.
pub(crate) fn skip(
    args: &SkipArgs,
    global: &Global,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let reason = args.reason.clone().filter(|reason| !reason.trim().is_empty());
    let region = args.region.clone();
    Continuation { id: &args.id, options: &args.options, global, no_run: args.note.no_run }
        .on(terminal, |_| Ok(Do::Skip { region, reason }))
}
