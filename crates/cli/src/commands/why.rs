use clap::Args;
use materia_engine::WhyError;

use crate::args::Global;
use crate::clean;
use crate::failure::{Exit, Failure};
use crate::project::{self, Project};
use crate::terminal::Terminal;

/// Say why a socket ran, or why it did not
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia why last Socket-4\n  materia why last Socket-4 --at 12"
)]
pub(crate) struct WhyArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// The socket
    #[arg(value_name = "NODE")]
    node: String,
    /// As of this event instead of the end
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,
}

/// Runs `why`.
pub(crate) fn why(
    args: &WhyArgs,
    global: &Global,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let wanted = project::cast_id(&args.id)?;
    let found = Project::here(global)?.find(&wanted)?;
    let why = materia_engine::why(found.journal(), &found.id, &args.node, args.at);
    let why = why.map_err(|error| match error {
        WhyError::Load(error) => error.into(),
        WhyError::UnknownNode { .. } | WhyError::NoSuchEvent { .. } => {
            Failure::resolution(error.to_string())
        }
    })?;
    if terminal.json {
        terminal.data(&why)?;
        return Ok(Exit::Done);
    }
    writeln!(terminal.out, "{}", clean::clean(&why.sentence))?;
    for fact in &why.because {
        let seq = fact.seq.map(|seq| format!("event {seq}: ")).unwrap_or_default();
        writeln!(terminal.out, "  {seq}{}", clean::clean(&fact.text))?;
    }
    Ok(Exit::Done)
}
