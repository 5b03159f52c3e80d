use clap::Args;
use materia_app::heard::{self, Which};

use crate::args::Global;
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::terminal::Terminal;

/// Print the streams of a turn: standard output, standard error, an agent's transcript
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  materia logs last Test\n  materia logs last Socket-4@2")]
pub(crate) struct LogsArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// The socket, and which of its visits; otherwise the newest
    #[arg(value_name = "SOCKET[@VISIT]")]
    which: String,
}

/// Runs `logs`.
pub(crate) fn logs(
    args: &LogsArgs,
    global: &Global,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let which = Which::parse(Some(&args.which))?;
    let (_, found) = Project::with_cast(&args.id, global)?;
    let heard = heard::find(found.journal(), &found.id, &which)?;
    let streams = heard::streams(heard, &found.root.join(found.id.as_str()));
    if terminal.json {
        terminal.data(&streams)?;
        return Ok(Exit::Done);
    }
    let whose = format!("{} visit {}, attempt {}", streams.socket, streams.visit, streams.attempt);
    let parts = [
        ("stdout", Some(streams.stdout)),
        ("stderr", Some(streams.stderr)),
        ("transcript", streams.transcript),
    ];
    for (name, text) in parts {
        let Some(text) = text.filter(|text| !text.is_empty()) else { continue };
        terminal.out.flush()?;
        terminal.say(format_args!("--- {name} of {whose}"));
        terminal.text(&text)?;
    }
    Ok(Exit::Done)
}
