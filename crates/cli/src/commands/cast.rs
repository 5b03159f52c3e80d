use std::path::{Path, PathBuf};

use clap::Args;
use materia_app::RunOptions;
use materia_app::cast::prepare::{self, Asked};

use crate::args::{self, Bounds, Global};
use crate::begin::{self, Vouched};
use crate::continuation::Continuation;
use crate::failure::Ended;
use crate::project::Project;
use crate::request_text;
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  materia cast \"add a test for the parser\"
  materia cast --loadout Review look at the last commit
  materia cast --config hello-utility.json
  materia cast --script answers.json --virtual-time go
  git diff | materia cast --loadout Review -
  materia cast --request-file task.md --max-cost 2 --max-turns 40

Ctrl-C stops the cast in good order; `materia resume last` carries on.";

/// Run a loadout in this terminal
///
/// Runs the active loadout, or the one that is named, until it completes, fails or needs a
/// person. Every step is durable before the next one starts.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CastArgs {
    /// The loadout to run; otherwise the active one
    #[arg(long, value_name = "NAME")]
    loadout: Option<String>,
    /// The request; words are joined by one space. `-` alone reads it from standard input
    #[arg(value_name = "PROMPT")]
    prompt: Vec<String>,
    /// Read the request from FILE
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prompt", "no_request"])]
    request_file: Option<PathBuf>,
    /// Begin without a request
    #[arg(long, conflicts_with = "prompt")]
    no_request: bool,
    /// Budget.
    #[command(flatten)]
    bounds: Bounds,
    /// Where its turns work.
    #[command(flatten)]
    workspace: args::Workspace,
    /// Options of the run.
    #[command(flatten)]
    options: args::RunOptions,
}

/// Runs `cast`.
pub(crate) fn cast(args: &CastArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let (no_request, budget) = (args.no_request, args.bounds.budget());
    let plain = args.workspace.with(args.options.plain());
    let options = RunOptions { no_request, budget, ..plain };
    prepare::refuse_options(&options)?;
    let project = Project::here(global)?;
    let approvals = project.profile_dir().map(Path::to_owned);
    let request = match (&args.request_file, args.prompt.as_slice()) {
        (Some(file), _) => request_text::of_file(file)?,
        (None, [one]) if one == "-" => request_text::of_stdin()?,
        (None, words) => words.join(" "),
    };
    let asked = Asked { project: &project, approvals, request, options: &options };
    let loadout = args.loadout.as_deref();
    let (exit, id) =
        begin::loadout(&project, &asked, loadout, Vouched::by(&args.options), terminal)?;
    let carry = Continuation { id: id.as_str(), options: &args.options, global, no_run: false };
    carry.converse(exit, terminal)
}
