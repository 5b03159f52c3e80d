use std::path::Path;
use std::sync::Arc;

use clap::Args;
use materia_app::prepare::{self, Asked, Beginning, Origin, Prepared, Ready};

use crate::args::{Global, RunOptions};
use crate::failure::{Exit, Failure};
use crate::findings;
use crate::project::Project;
use crate::run::{Drive, Start};
use crate::terminal::Terminal;
use crate::trust;

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
    begin(&project, &asked, args.loadout.as_deref(), args.options.trust, terminal)
}

/// Begins a cast of a loadout, or of the active one, and drives it until it rests.
pub(crate) fn begin(
    project: &Project,
    asked: &Asked<'_>,
    loadout: Option<&str>,
    trusted: bool,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let (loaded, compiled) = project.compile(loadout, terminal)?;
    let ready = Ready { loaded, compiled, origin: Origin::default() };
    start(project, asked, ready, trusted, terminal)
}

/// Begins a cast of what was compiled and drives it until it rests.
pub(crate) fn start(
    project: &Project,
    asked: &Asked<'_>,
    ready: Ready,
    trusted: bool,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let layers = ready.loaded.layers.clone();
    let beginning = prepare::cast(asked, ready);
    let beginning = beginning.map_err(|failure| findings::of(failure, &layers, terminal))?;
    settle(&beginning.prepared, trusted, terminal)?;
    let journal = Arc::new(terminal.warned(|warnings| beginning.open(warnings))?);
    let Beginning { prepared, root, id, created, .. } = beginning;
    let Prepared { script, answering, .. } = prepared;
    let plan = created.plan.clone();
    let start = Start::Begin(Box::new(created));
    Drive { project, root, journal, id, plan, script, answering, start }.go(terminal)
}

/// Shows what was found while a run was prepared, and has its questions answered.
pub(crate) fn settle(
    prepared: &Prepared,
    trusted: bool,
    terminal: &Terminal,
) -> Result<(), Failure> {
    findings::show(&prepared.findings, &prepared.loaded.layers, terminal);
    for warning in &prepared.warnings {
        terminal.say(format_args!("warning: {warning}"));
    }
    for question in &prepared.questions {
        if !trusted {
            trust::ask(question, terminal)?;
        }
        terminal.warned(|warnings| prepared.approve(question, warnings));
    }
    Ok(())
}
