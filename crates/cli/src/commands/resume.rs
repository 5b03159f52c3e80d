use clap::Args;
use materia_contract::{Do, Pace};

use crate::args::{Global, RunOptions};
use crate::carry::Carry;
use crate::failure::{Exit, Failure};
use crate::terminal::Terminal;

/// Carry on a cast that was stopped, killed, or waits
///
/// Turns that had ended are not run again; a turn that was under way is run again with the
/// same inputs. Script, simulated time and mode are those the cast began with. A cast
/// that was paused goes on by itself again.
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
    let pace = args.options.interactive.then_some(Pace::Interactive);
    Carry { id: &args.id, options: &args.options, global, no_run: false }
        .on(terminal, |_| Ok(Do::Resume { pace }))
}
