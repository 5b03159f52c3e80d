use clap::Args;
use materia_app::views::blame;
use materia_contract::NodeId;

use crate::args::Global;
use crate::failure::{Ended, Exit, Failure};
use crate::project::Project;
use crate::terminal::Terminal;

/// Show where every part of a prompt comes from
///
/// Each part of the prompt has its source beside it: a materia and its file, a person, an earlier turn, or Materia itself,
/// with the event that holds the words. For a utility the fields of its input are traced. With `--path` a variable is
/// traced to the turn that set it, and on to the turns behind that one.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia blame last Socket-4\n  materia blame last Socket-4@2 --json\n  materia blame last --path state.summary\n\nExit status: 0 done, 2 there is no such cast, socket, visit or variable."
)]
pub(crate) struct BlameArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// The socket, and the visit behind an `@`; otherwise its last visit
    #[arg(
        value_name = "SOCKET[@VISIT]",
        required_unless_present = "path",
        conflicts_with = "path"
    )]
    node: Option<String>,
    /// Trace a variable, such as `state.summary`
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
}

/// Runs `blame`.
pub(crate) fn blame(args: &BlameArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let (project, found) = Project::with_cast(&args.id, global)?;
    let body = match (&args.path, &args.node) {
        (Some(path), _) => blame::variable(&project, &found, path)?,
        (None, node) => {
            let (socket, visit) = turn(node.as_deref().unwrap_or_default())?;
            blame::turn(&project, &found, &socket, visit)?
        }
    };
    if terminal.json {
        terminal.data(&body)?;
    } else {
        terminal.text(&blame::told(&body))?;
    }
    Ok(Exit::Done)
}

/// Reads `Socket-4` or `Socket-4@2`.
fn turn(text: &str) -> Result<(NodeId, Option<u32>), Failure> {
    let Some((socket, visit)) = text.split_once('@') else { return Ok((NodeId::new(text), None)) };
    let number = visit.parse().ok().filter(|visit| *visit > 0);
    let number = number.ok_or_else(|| {
        Failure::usage(format!("`{}` is no visit; write it like Socket-4@2", visit.escape_debug()))
    })?;
    Ok((NodeId::new(socket), Some(number)))
}
