use clap::Args;
use materia_app::views::compare::{self, Side};

use crate::args::Global;
use crate::failure::{Ended, Exit};
use crate::project::{self, Project};
use crate::terminal::Terminal;

/// Put two casts side by side
///
/// Turns are aligned by socket, work item and attempt: the same, different, or only in one of them. A
/// fork is compared from where it forked. Nothing is run and nothing is changed.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia compare last second-try\n  materia compare 20261115T0226 last --json\n\nExit status: 0 whether they differ or not."
)]
pub(crate) struct CompareArgs {
    /// The one cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    a: String,
    /// The other one
    #[arg(value_name = "ID")]
    b: String,
}

/// Runs `compare`.
pub(crate) fn compare(args: &CompareArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let (project, a) = Project::with_cast(&args.a, global)?;
    let b = project.find(&project::cast_id(&args.b)?)?;
    let [one, other] = [&a, &b].map(|found| Side {
        journal: found.journal(),
        id: &found.id,
        folders: project.folders(&found.root, &found.id),
    });
    let found = compare::compare(&one, &other)?;
    if terminal.json {
        terminal.data(&found)?;
    } else {
        terminal.text(&compare::told(&found))?;
    }
    Ok(Exit::Done)
}
