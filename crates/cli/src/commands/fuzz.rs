use std::time::Duration;

use clap::Args;
use materia_app::proof::explore;
use materia_app::proof::fuzz::{self, Options};

use crate::args::Global;
use crate::failure::{Ended, Exit};
use crate::project::Project;
use crate::terminal::Terminal;

/// How many histories lie between two lines of progress.
const TOLD_EVERY: u64 = 200;

/// Play histories by chance, and check each of them
///
/// Each turn gets a random answer: valid, odd, broken or huge. Delays, orders and acts of people are random, too. The laws of
/// the kernel, the verifier and the `properties` of the loadout judge each history. One that fails is made smaller and
/// printed as a script for `cast --virtual-time --script`. Runs no program.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia fuzz --seconds 60\n  materia fuzz Release --seconds 10 --seed 1000\n  materia fuzz --seed 1017 --histories 1\n\nThe seed of the first history is --seed; each further one has the next number. The same seed is the same history.\n\nExit status: 0 nothing was found, 1 something was, 2 bad input."
)]
pub(crate) struct FuzzArgs {
    /// The loadout; otherwise the active one
    #[arg(value_name = "LOADOUT")]
    loadout: Option<String>,
    /// Stop after N seconds
    #[arg(long, value_name = "N", required_unless_present = "histories", value_parser = clap::value_parser!(u64).range(1..))]
    seconds: Option<u64>,
    /// The seed of the first history
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Stop after N histories
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    histories: Option<u64>,
}

/// Runs `fuzz`.
pub(crate) fn fuzz(args: &FuzzArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let project = Project::here(global)?;
    let (loaded, compiled) = project.compile(args.loadout.as_deref(), terminal)?;
    let promised = explore::promised(&loaded, &compiled.plan.loadout);
    let options = Options {
        seed: args.seed,
        histories: args.histories,
        time: args.seconds.map(Duration::from_secs),
        properties: explore::properties(&promised, &compiled.plan)?,
    };
    let progress = |histories: u64| {
        if terminal.watched && histories.is_multiple_of(TOLD_EVERY) {
            terminal.say(format_args!("{histories} histories"));
        }
    };
    let body = fuzz::fuzz(&compiled.plan, &options, progress)?;
    if terminal.json {
        terminal.data(&body)?;
    } else {
        terminal.text(&fuzz::told(&body))?;
    }
    Ok(if body.findings.is_empty() { Exit::Done } else { Exit::Failed })
}
