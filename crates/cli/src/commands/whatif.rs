use clap::Args;
use materia_app::proof::whatif;

use crate::args::Global;
use crate::failure::{Ended, Exit};
use crate::project::Project;
use crate::terminal::Terminal;

/// Play a recorded cast against the loadout of today
///
/// Every turn gets the answer that the cast has for its socket, work item and attempt, in simulated time; what people
/// did is done again. Shows the turn at which the routes part, the turns that would be asked and that the cast never
/// answered, and the turns that are not reached any more. Runs no program and writes nothing.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia whatif last\n  materia whatif 20261115T0226 Release --json\n\nExit status: 0 the same route, 1 the routes part, 2 the cast cannot be played again."
)]
pub(crate) struct WhatIfArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// The loadout to play against. By default the loadout of the cast, as it is in the project now
    #[arg(value_name = "LOADOUT")]
    loadout: Option<String>,
}

/// Runs `whatif`.
pub(crate) fn whatif(args: &WhatIfArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let (project, found) = Project::with_cast(&args.id, global)?;
    if let Some(loadout) = &args.loadout {
        project.compile(Some(loadout), terminal)?;
    }
    let body = whatif::whatif(&project, &found, args.loadout.as_deref())?;
    if terminal.json {
        terminal.data(&body)?;
    } else {
        terminal.text(&whatif::told(&body))?;
    }
    Ok(if body.same { Exit::Done } else { Exit::Failed })
}
