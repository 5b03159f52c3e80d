use clap::Args;
use materia_app::proof::bounds;

use crate::args::Global;
use crate::failure::{Ended, Exit};
use crate::project::Project;
use crate::terminal::Terminal;

/// Show how many turns a loadout can take at most
///
/// For every socket and for the cast: the largest number of visits, as a formula in the number of
/// work items of each generator, and the attempts that each visit can have. The cost of a turn is
/// estimated from past casts of the project. Runs nothing and needs no trust. Crashes and actions
/// of people are not counted.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia bounds\n  materia bounds Release --items 5\n  materia bounds --json\n\nExit status: 0 if every socket has a bound, 1 if one has none."
)]
pub(crate) struct BoundsArgs {
    /// The loadout; otherwise the active one
    #[arg(value_name = "LOADOUT")]
    loadout: Option<String>,
    /// Print numbers instead of formulas, for lists of N items
    #[arg(long, value_name = "N")]
    items: Option<u64>,
}

/// Runs `bounds`.
pub(crate) fn bounds(args: &BoundsArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let project = Project::here(global)?;
    let (_, compiled) = project.compile(args.loadout.as_deref(), terminal)?;
    let found = bounds::bounds(&project, &compiled.plan, args.items)?;
    if terminal.json {
        terminal.data(&found)?;
    } else {
        terminal.text(&bounds::told(&found))?;
    }
    Ok(if found.bounded { Exit::Done } else { Exit::Failed })
}
