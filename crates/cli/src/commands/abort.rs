use clap::Args;
use materia_app::cast::act;
use materia_contract::CastStatus;

use crate::args::Global;
use crate::event_text;
use crate::failure::{Ended, Exit};
use crate::journals;
use crate::project::Project;
use crate::run;
use crate::terminal::Terminal;

/// End a cast for good
///
/// The running turn is stopped with every process it started. Files that it wrote stay. An aborted
/// cast cannot be resumed.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  materia abort last")]
pub(crate) struct AbortArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// Trust a journal that your materia did not begin here, and end its cast
    #[arg(long)]
    trust_journal: bool,
}

/// Runs `abort`.
pub(crate) fn abort(args: &AbortArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let (project, found) = Project::with_cast(&args.id, global)?;
    let found = journals::own(&project, found, args.trust_journal, terminal)?;
    let report = match act::end(&project, found, &run::supervisor()?)? {
        act::Ended::Now(report) => *report,
        act::Ended::Asked(waiting) => {
            let who = &waiting.who;
            terminal.say(format_args!("Asking {who}, which runs the cast, to end it."));
            waiting.over()?
        }
    };
    terminal.say(event_text::summary(&report));
    if terminal.json {
        terminal.data(&report)?;
    }
    // The other process may have reached another end first.
    Ok(if report.status == CastStatus::Aborted { Exit::Done } else { Exit::Failed })
}
