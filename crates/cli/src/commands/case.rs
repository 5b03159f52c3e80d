use std::path::PathBuf;

use clap::Args;
use materia_app::proof::recorded::case;
use materia_contract::body::CaseBody;

use crate::args::Global;
use crate::failure::{Ended, Exit};
use crate::project::Project;
use crate::terminal::Terminal;
use crate::typed_path;

/// Make a test case from a cast that has run
///
/// The case has the answers of the cast as a script, what people did on a timeline, and expects the same visits, end
/// and variables. No program runs in it. It is played in memory before it is written. The configuration of the
/// project goes into it if that makes the graph that the cast ran; otherwise the case runs on the configuration
/// that the project has then.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia case last -o materia-tests/lost-update.json\n  materia case 20261115T0226\n\nExit status: 0 done, 2 the cast cannot become a case."
)]
pub(crate) struct CaseArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// The file to write; without it the case is printed
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Leave the configuration out: the case then tests the one that the project has
    #[arg(long)]
    no_config: bool,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
}

/// Runs `case`.
pub(crate) fn case(args: &CaseArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let (project, found) = Project::with_cast(&args.id, global)?;
    let made = case::of(&project, &found, !args.no_config)?;
    let own = made.config.is_some();
    let text = format!("{:#}\n", serde_json::json!(made));
    let Some(file) = &args.output else {
        if terminal.json {
            terminal.data(&made)?;
        } else {
            write!(terminal.out, "{text}")?;
        }
        return Ok(Exit::Done);
    };
    typed_path::write(file, text.as_bytes(), args.force)?;
    let on = if own { "its own configuration" } else { "the configuration of the project" };
    terminal.say(format_args!(
        "Cast `{}` is a case in {}; it runs on {on}. `materia test {}` runs it.",
        found.id,
        file.display(),
        file.display()
    ));
    if terminal.json {
        let file = file.display().to_string();
        terminal.data(&CaseBody { cast_id: found.id.clone(), file, own_config: own })?;
    }
    Ok(Exit::Done)
}
