use clap::Args;
use materia_contract::{Do, NodeId};

use crate::args::{Global, RunOptions};
use crate::carry::Carry;
use crate::failure::{Exit, Failure};
use crate::terminal::Terminal;

/// Start a turn of a socket by hand
///
/// The turn takes everything that waits there, and TEXT if there is one. It starts whatever the pace,
/// the mode or the trigger of the socket; only a full socket (maxInFlight) or a spent budget makes
/// it wait. A cast that is under way in another process is told.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia trigger last Socket-3\n  materia trigger last Review \"look at the tests too\""
)]
pub(crate) struct TriggerArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// The socket
    #[arg(value_name = "NODE")]
    node: String,
    /// What it is told; words are joined by one space
    #[arg(value_name = "TEXT")]
    words: Vec<String>,
    /// Options of the run.
    #[command(flatten)]
    options: RunOptions,
}

/// Runs `trigger`.
pub(crate) fn trigger(
    args: &TriggerArgs,
    global: &Global,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let message = (!args.words.is_empty()).then(|| args.words.join(" "));
    let what = Do::Trigger { node: NodeId::new(args.node.as_str()), message };
    Carry { id: &args.id, options: &args.options, global }.on(terminal, |_| Ok(what))
}
