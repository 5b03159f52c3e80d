use clap::Args;
use materia_app::cast::act::step;

use crate::args::{CarryOptions, Global};
use crate::continuation::Continuation;
use crate::failure::Ended;
use crate::terminal::Terminal;

/// Start a turn of a socket by hand
///
/// The turn takes everything that waits there, and TEXT if there is one. It starts regardless of
/// the pace, the mode and the trigger of the socket; only a full socket (maxInFlight) or a spent
/// budget delays it. If the socket asks before it runs, the command is refused while its question
/// is open or denied; --approve answers the question, too. If another process runs the cast, that
/// process gets the command.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia trigger last Socket-3\n  materia trigger last Review \"look at the tests too\"\n  materia trigger last Deploy --approve"
)]
pub(crate) struct TriggerArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// The socket
    #[arg(value_name = "SOCKET")]
    node: String,
    /// Text for the turn; words are joined by one space
    #[arg(value_name = "TEXT")]
    words: Vec<String>,
    /// Approve the turn, too, if the socket asks before it runs
    #[arg(long)]
    approve: bool,
    /// Approve this question and no other: its hash, or eight or more characters of it
    #[arg(long, value_name = "HASH", requires = "approve")]
    hash: Option<String>,
    /// Whether it is carried on, and how.
    #[command(flatten)]
    options: CarryOptions,
}

/// Runs `trigger`.
pub(crate) fn trigger(args: &TriggerArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let message = (!args.words.is_empty()).then(|| args.words.join(" "));
    let (approve, hash) = (args.approve, args.hash.as_deref());
    Continuation::of(&args.id, &args.options, global)
        .on(terminal, |run| Ok(step::trigger(run, &args.node, message, approve, hash)))
}
