use clap::Args;
use materia_app::cast::prepare::{self, Asked};
use materia_compiler::link::Invocation;

use crate::args::{Bounds, Global, RunOptions, Workspace};
use crate::begin::{self, Vouched};
use crate::continuation::Continuation;
use crate::failure::Ended;
use crate::findings;
use crate::project::Project;
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  materia link Auto-Plan Build -- add a small settings page
  materia link loadout:Planning-Consult loadout:Full-Auto -- design and build it
  materia link 'loadout:My Review' materia:Narrate -- look at the last commit
  materia link --from last Chain-Context Build -- go on with the next step

A target is `materia:NAME`, `loadout:NAME`, or NAME if only one thing has that name. The graph of
a linked cast is drawn by `materia grid ID`.";

/// Chain materia and loadouts into one cast
///
/// Composes the targets, in their order, into a loadout that exists for this one cast, and runs it:
/// wherever one target would end, the next begins. Nothing is saved, and the active loadout does
/// not change.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
#[command(override_usage = "materia link [OPTIONS] [--from ID] TARGET… -- PROMPT…")]
pub(crate) struct LinkArgs {
    /// Continue from a cast: what it left is in `state.previousCastContext`
    #[arg(long, value_name = "ID")]
    from: Option<String>,
    /// Materia and loadouts, in the order in which they run
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// The request; words are joined by one space
    #[arg(value_name = "PROMPT", last = true)]
    prompt: Vec<String>,
    /// Budget.
    #[command(flatten)]
    bounds: Bounds,
    /// Where its turns work.
    #[command(flatten)]
    workspace: Workspace,
    /// Options of the run.
    #[command(flatten)]
    options: RunOptions,
}

/// Runs `link`.
pub(crate) fn link(args: &LinkArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let budget = args.bounds.budget();
    let plain = args.workspace.with(args.options.plain());
    let options = materia_app::RunOptions { budget, ..plain };
    prepare::refuse_options(&options)?;
    let asked = Invocation {
        from: args.from.clone(),
        targets: args.targets.clone(),
        // What parses the arguments does not tell an empty request from a missing delimiter.
        delimited: std::env::args_os().any(|word| word == "--"),
        prompt: args.prompt.clone(),
    };
    let project = Project::here(global)?;
    let request = asked.request();
    let linking = prepare::link(&project, asked)?;
    let checked = &linking.checked;
    findings::show_briefly(&checked.findings, &checked.loaded.layers, &project, terminal);
    let ready = linking.ready()?;
    let approvals = project.profile_dir().map(ToOwned::to_owned);
    let asked = Asked { project: &project, approvals, request, options: &options };
    let (exit, id) = begin::ready(&project, &asked, ready, Vouched::by(&args.options), terminal)?;
    let carry = Continuation { id: id.as_str(), options: &args.options, global, no_run: false };
    carry.converse(exit, terminal)
}
