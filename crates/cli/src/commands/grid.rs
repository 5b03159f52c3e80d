use clap::Args;
use materia_contract::{Plan, RefusalCode, RunId};

use crate::args::Global;
use crate::failure::{Ended, Exit, Failure};
use crate::grid::{self, Look};
use crate::project::Project;
use crate::terminal::Terminal;

/// Draw a loadout, or the graph of a cast, as text
///
/// `▶` marks where a cast begins, `▼` and `▲` are the heads of arrows (`▲` leads back), words on
/// an arrow say when it is taken. Loops, marked `↻`, stand below. A graph that is wider than 200
/// columns is printed as a list: each socket with its ways out, in the order they are tried.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  materia grid\n  materia grid Review\n  materia grid last\n  \
                         materia grid --ascii")]
pub(crate) struct GridArgs {
    /// A loadout, or a cast; otherwise the active loadout
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Nothing but ASCII
    #[arg(long)]
    ascii: bool,
    /// A list instead of a picture
    #[arg(long)]
    list: bool,
}

/// Runs `grid`.
pub(crate) fn grid(args: &GridArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let project = Project::here(global)?;
    let plan = plan(args, &project, terminal)?;
    let look = Look { ascii: args.ascii, list: args.list };
    if terminal.json {
        terminal.data(&grid::data(&plan))?;
    } else {
        let drawing = grid::text(&plan, look);
        if drawing.too_large {
            terminal
                .say("the graph is too large for a picture of 200 columns; here it is as a list");
        }
        terminal.out.write_all(drawing.text.as_bytes())?;
    }
    Ok(Exit::Done)
}

/// A loadout of that name, or else the plan of a cast of that name.
fn plan(args: &GridArgs, project: &Project, terminal: &Terminal) -> Result<Plan, Failure> {
    if let Some(name) = &args.name {
        let (loaded, _) = materia_compiler::load(&project.sources);
        if !loaded.config.loadouts.contains_key(name) {
            return of_cast(name, project);
        }
    }
    Ok(project.compile(args.name.as_deref(), terminal)?.1.plan)
}

fn of_cast(name: &str, project: &Project) -> Result<Plan, Failure> {
    let neither = || Failure::resolution(format!("`{name}` is neither a loadout nor a cast here"));
    if materia_app::archive::is_meant(name) {
        // It says that an archive is only read.
        crate::project::cast_id(name)?;
    }
    let wanted = RunId::parse(name).map_err(|_| neither())?;
    let found = project.find(&wanted).map_err(|error| {
        let unknown =
            matches!(&error, Failure::Refused(refusal) if refusal.code == RefusalCode::Resolution);
        if unknown { neither() } else { error }
    })?;
    let (run, _) = materia_engine::load(found.journal(), &found.id)?;
    run.created().map(|created| created.plan.clone()).ok_or_else(neither)
}
