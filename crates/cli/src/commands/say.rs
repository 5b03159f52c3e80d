use clap::Args;
use materia_contract::{Do, NodeId, Plan};

use crate::args::{Global, RunOptions};
use crate::continuation::Continuation;
use crate::failure::{Ended, Failure};
use crate::terminal::Terminal;

/// Send text to a socket as one more input
///
/// A multi-turn socket that waits answers it in the same session and waits again. No text finishes
/// the socket; only `materia continue` does. Any other socket takes it with its next turn.
#[derive(Args, Debug)]
#[command(
    override_usage = "materia say [OPTIONS] <ID> [SOCKET] <TEXT>...",
    after_help = "Examples:\n  materia say last \"split the second item\"\n  materia say last Socket-1 split the second item"
)]
pub(crate) struct SayArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// Text to send; words are joined by one space. If the first word is a socket's id and more words follow, it names
    /// the socket; otherwise the text goes to the socket that waits
    #[arg(value_name = "TEXT", required = true)]
    words: Vec<String>,
    /// Options of the run.
    #[command(flatten)]
    options: RunOptions,
}

/// Runs `say`.
pub(crate) fn say(args: &SayArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    if args.words.iter().all(|word| word.trim().is_empty()) {
        return Err(Failure::usage(
            "there is nothing to say; `materia continue` finishes a socket",
        ));
    }
    Continuation { id: &args.id, options: &args.options, global, no_run: false }.on(
        terminal,
        |run| {
            let (node, text) = addressed(&args.words, run.created().map(|created| &created.plan));
            Ok(Do::Say { node, text })
        },
    )
}

/// Whom the words are for, if they say so, and the rest of them.
fn addressed(words: &[String], plan: Option<&Plan>) -> (Option<NodeId>, String) {
    match words {
        [first, rest @ ..] if !rest.is_empty() && plan.is_some_and(|p| p.node(first).is_some()) => {
            (Some(NodeId::new(first.as_str())), rest.join(" "))
        }
        all => (None, all.join(" ")),
    }
}
