use clap::{Args, ValueEnum};
use materia_contract::{Do, GlobalMode, Pace};

use crate::args::{CarryOptions, Global, RunOptions};
use crate::continuation::Continuation;
use crate::failure::Ended;
use crate::terminal::Terminal;

/// Change how a cast runs: its pace, or what its turns may write
///
/// With AUTO the scheduler starts turns, with INTERACTIVE people start them. With PLANNING turns
/// write only in the documents folder, with IMPLEMENTATION each socket's policy applies; a running
/// turn keeps the stricter of the two. Nothing is interrupted and nothing is lost. AUTO resumes a
/// cast that no process runs; the other values do not.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  materia mode last AUTO\n  materia mode last PLANNING")]
pub(crate) struct ModeArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// The mode from now on
    #[arg(value_name = "VALUE", ignore_case = true)]
    value: Value,
    /// Whether it is carried on, and how.
    #[command(flatten)]
    options: CarryOptions,
}

/// Pause a cast: start no more turns, the same as `mode ID INTERACTIVE`
///
/// Running turns continue to their end, also if the cast runs in another terminal. After `materia
/// resume` the cast starts turns automatically again, there or here.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  materia pause last")]
pub(crate) struct PauseArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// Options of the run.
    #[command(flatten)]
    options: RunOptions,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Value {
    #[value(name = "AUTO")]
    Auto,
    #[value(name = "INTERACTIVE")]
    Interactive,
    #[value(name = "PLANNING")]
    Planning,
    #[value(name = "IMPLEMENTATION")]
    Implementation,
}

/// Runs `mode`.
pub(crate) fn mode(args: &ModeArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let what = match args.value {
        Value::Auto => Do::Mode { value: Pace::Auto },
        Value::Interactive => Do::Mode { value: Pace::Interactive },
        Value::Planning => Do::GlobalMode { value: GlobalMode::Planning },
        Value::Implementation => Do::GlobalMode { value: GlobalMode::Implementation },
    };
    Continuation::of(&args.id, &args.options, global).on(terminal, |_| Ok(what))
}

/// Runs `pause`.
pub(crate) fn pause(args: &PauseArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let no_run = true;
    Continuation { id: &args.id, options: &args.options, global, no_run }
        .on(terminal, |_| Ok(Do::Pause))
}
