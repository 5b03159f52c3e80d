use std::path::Path;

use clap::Args;
use materia_app::prepare::{self, Asked};

use crate::args::{Global, RunOptions};
use crate::begin::{self, Vouched};
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  materia cast \"add a test for the parser\"
  materia cast --loadout Review look at the last commit
  materia cast --config hello-utility.json
  materia cast --script answers.json --virtual-time go

Ctrl-C stops the cast in good order; `materia resume last` carries on.";

/// Run a loadout, here and now
///
/// Runs the active loadout, or the one that is named, until it completes, fails or needs a
/// person. Every step is durable before the next one starts.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CastArgs {
    /// The loadout to run; otherwise the active one
    #[arg(long, value_name = "NAME")]
    loadout: Option<String>,
    /// What is asked for; words are joined by one space
    #[arg(value_name = "PROMPT")]
    prompt: Vec<String>,
    /// Options of the run.
    #[command(flatten)]
    options: RunOptions,
}

/// Runs `cast`.
pub(crate) fn cast(
    args: &CastArgs,
    global: &Global,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let options = args.options.plain();
    prepare::refuse_options(&options)?;
    let project = Project::here(global)?;
    let approvals = project.profile_dir().map(Path::to_owned);
    let request = args.prompt.join(" ");
    let asked = Asked { project: &project, approvals, request, options: &options };
    let trusted = Vouched::by(&args.options);
    begin::loadout(&project, &asked, args.loadout.as_deref(), trusted, terminal)
}
