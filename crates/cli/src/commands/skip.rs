use clap::Args;
use materia_contract::Do;

use crate::args::{CarryOptions, Global};
use crate::continuation::Continuation;
use crate::failure::Ended;
use crate::terminal::Terminal;

/// Skip the current item of a loop and move on to the next
///
/// The item counts as not satisfied. What waits for it inside the loop is dropped; text that you
/// sent to a socket stays. After the last item the loop takes its `not_satisfied` exit. While a
/// turn works on the item, the command is refused: wait for the turn, or stop the cast first. A
/// cast that failed inside the loop goes on.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia skip last\n  materia skip last workItems --reason \"not worth a fourth try\"\n  materia skip last --no-run"
)]
pub(crate) struct SkipArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// The loop; without it, the innermost one that works on an item
    #[arg(value_name = "LOOP")]
    region: Option<String>,
    /// The reason; it is stored with the item
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Whether it is carried on, and how.
    #[command(flatten)]
    options: CarryOptions,
}

/// Runs `skip`.
pub(crate) fn skip(args: &SkipArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let reason = args.reason.clone().filter(|reason| !reason.trim().is_empty());
    let region = args.region.clone();
    Continuation::of(&args.id, &args.options, global)
        .on(terminal, |_| Ok(Do::Skip { region, reason }))
}
