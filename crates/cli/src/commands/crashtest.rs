use std::path::{Path, PathBuf};

use clap::Args;
use materia_app::RunOptions;
use materia_app::cast::prepare::{self, Asked, Origin, Ready};
use materia_app::proof::crashtest::{self, Options};
use materia_contract::WorkspaceKind;

use crate::args::Global;
use crate::begin;
use crate::failure::{Ended, Exit};
use crate::findings;
use crate::project::Project;
use crate::run;
use crate::terminal::Terminal;

/// The id of every cast that is played.
const CAST_ID: &str = "crashtest";

/// Run a cast with a crash at every point, and compare how it ends
///
/// The script answers, and time is simulated. The cast runs once without a crash, and then once for
/// each point at which memory can be lost: after a decision is durable and before its effects, and
/// after a turn has ended and before its report is durable. After each crash the cast resumes from
/// its journal. Status, visits, variables and files must be the same at the end. The project and
/// its journal do not change.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia crashtest --script answers.json\n  materia crashtest Release --script answers.json --pairs --seed 7\n  materia crashtest --script answers.json --real\n\nExit status: 0 every play comes to the same end, 1 one does not, 2 bad input or not approved."
)]
pub(crate) struct CrashtestArgs {
    /// The loadout; otherwise the active one
    #[arg(value_name = "LOADOUT")]
    loadout: Option<String>,
    /// The script that answers
    #[arg(long, value_name = "FILE")]
    script: PathBuf,
    /// Play each pair of points, too: all of up to 100 points, otherwise 1,000 pairs
    #[arg(long)]
    pairs: bool,
    /// The seed that selects pairs if there are too many
    #[arg(long, value_name = "N", default_value_t = 1, requires = "pairs")]
    seed: u64,
    /// Run utilities that the script does not answer, each play in a new copy of the project
    #[arg(long)]
    pub(super) real: bool,
    /// The request of the cast
    #[arg(long, value_name = "TEXT", default_value = "")]
    request: String,
    /// Approve the project's own configuration and everything that this cast runs, and remember the
    /// approval
    #[arg(long, requires = "real")]
    trust: bool,
}

/// Runs `crashtest`.
pub(crate) fn crashtest(args: &CrashtestArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let project = Project::here(global)?;
    let (loaded, compiled) = project.compile(args.loadout.as_deref(), terminal)?;
    let options = RunOptions {
        script: Some(args.script.clone()),
        virtual_time: true,
        no_request: true,
        cast_id: Some(CAST_ID.to_owned()),
        workspace: Some(WorkspaceKind::Project),
        ..RunOptions::default()
    };
    let asked = Asked {
        project: &project,
        approvals: project.profile_dir().map(Path::to_owned),
        request: args.request.clone(),
        options: &options,
    };
    let layers = loaded.layers.clone();
    let beginning = prepare::cast(&asked, Ready { loaded, compiled, origin: Origin::default() });
    let beginning = beginning.map_err(|failure| findings::of(failure, &layers, terminal))?;
    begin::show(&beginning.what().prepared, terminal);
    let reach = Options { pairs: args.pairs, seed: args.seed };
    let body = if args.real {
        let beginning = begin::settle(beginning, args.trust, &project, terminal)?;
        let supervisor = run::supervisor()?;
        let play = |warnings: &mut Vec<String>| {
            let progress = |play, all| tell(play, all, 1, terminal);
            crashtest::real(&project, &beginning, &supervisor, reach, warnings, progress)
        };
        terminal.warned(play)?
    } else {
        let progress = |play, all| tell(play, all, 500, terminal);
        crashtest::scripted(beginning.what(), reach, progress)?
    };
    if terminal.json {
        terminal.data(&body)?;
    } else {
        terminal.text(&crashtest::told(&body))?;
    }
    Ok(if body.findings.is_empty() { Exit::Done } else { Exit::Failed })
}

/// Shows every so many plays to a person who watches.
fn tell(play: u64, all: u64, every: u64, terminal: &Terminal) {
    if terminal.watched && play.is_multiple_of(every) {
        terminal.say(format_args!("play {play} of {all}"));
    }
}
