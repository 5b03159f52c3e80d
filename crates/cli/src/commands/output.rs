use clap::Args;
use materia_app::views::turn_output::{self, Which};

use crate::args::Global;
use crate::failure::{Ended, Exit};
use crate::project::Project;
use crate::terminal::Terminal;

/// Print what a socket answered
///
/// Prints the newest answer of the cast, or of the socket, word for word. With --json it is parsed: the
/// JSON object in the answer, or the text as a JSON string.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia output last\n  materia output last Plan\n  materia output last Socket-4@2 --json"
)]
pub(crate) struct OutputArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// The socket, and which of its visits; otherwise the newest
    #[arg(value_name = "SOCKET[@VISIT]")]
    which: Option<String>,
}

/// Runs `output`.
pub(crate) fn output(args: &OutputArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let which = Which::parse(args.which.as_deref())?;
    let (_, found) = Project::with_cast(&args.id, global)?;
    let heard = turn_output::find(found.journal(), &found.id, &which)?;
    if terminal.json {
        terminal.data(&heard.parsed())?;
    } else {
        terminal.text(&heard.report.output)?;
    }
    Ok(Exit::Done)
}
