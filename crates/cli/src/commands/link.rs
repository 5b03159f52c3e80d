use clap::Args;
use materia_compiler::Loaded;
use materia_compiler::link::{Invocation, Linked, unknown_cast};
use materia_contract::{Finding, Refusal, RunId, Severity};
use serde_json::Map;

use crate::args::{Global, RunOptions};
use crate::castid;
use crate::commands::cast::{self, Beginning, Origin, Ready};
use crate::failure::{Exit, Failure};
use crate::findings;
use crate::previous;
use crate::project::{self, Found, Project};
use crate::terminal::Terminal;

/// How many faults are told in the one sentence that says why a link was refused.
const FAULTS_TOLD_MAX: usize = 5;
/// Faults of the command itself, not of what it names.
const USAGE: [&str; 4] =
    ["link::no-target", "link::no-delimiter", "link::no-prompt", "link::bad-cast-id"];

const EXAMPLES: &str = "\
Examples:
  materia link Auto-Plan Build -- add a small settings page
  materia link loadout:Planning-Consult loadout:Full-Auto -- design and build it
  materia link 'loadout:My Review' materia:Narrate -- look at the last commit
  materia link --from last Chain-Context Build -- go on with the next step

A target is `materia:NAME`, `loadout:NAME`, or NAME where only one thing bears it. The graph of
a linked cast is drawn by `materia grid ID`.";

/// Chain materia and loadouts into one cast
///
/// Composes the targets, in their order, into a loadout that exists for this one cast, and runs it:
/// wherever one target would end, the next begins. Nothing is saved, and the active loadout stays
/// what it is.
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
    /// What is asked for; words are joined by one space
    #[arg(value_name = "PROMPT", last = true)]
    prompt: Vec<String>,
    /// Options of the run.
    #[command(flatten)]
    options: RunOptions,
}

/// Runs `link`.
pub(crate) fn link(
    args: &LinkArgs,
    global: &Global,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    cast::refuse_options(&args.options)?;
    let asked = Invocation {
        from: args.from.clone(),
        targets: args.targets.clone(),
        // What parses the arguments does not tell an empty request from a missing delimiter.
        delimited: std::env::args_os().any(|word| word == "--"),
        prompt: args.prompt.clone(),
    };
    let project = Project::here(global)?;
    let (loaded, linked, previous) = compile(&project, &asked, terminal)?;
    let Linked { compiled, mut link } = linked;
    let mut origin = Origin::default();
    if let Some(found) = previous {
        let named = Invocation { from: Some(found.id.to_string()), ..asked.clone() };
        link.invocation = named.typed();
        origin.state =
            Map::from_iter([(previous::VARIABLE.to_owned(), previous::context(&found)?)]);
        origin.from_cast_id = Some(found.id.to_string());
    }
    origin.link = Some(link);
    let profile = project.profile_dir().map(ToOwned::to_owned);
    let (request, options) = (asked.request(), &args.options);
    let asked = Beginning { project: &project, profile, request, options };
    cast::start(&asked, Ready { loaded, compiled, origin }, terminal)
}

/// Composes the targets and finds the cast to continue from; refuses with every fault at once.
fn compile(
    project: &Project,
    asked: &Invocation,
    terminal: &Terminal,
) -> Result<(Loaded, Linked, Option<Found>), Failure> {
    let (loaded, mut found) = materia_compiler::load(&project.sources);
    let (linked, more) = materia_compiler::link::link(&loaded, asked);
    let seen_before = project::has_errors(&found);
    // With errors in the files themselves the compiler only says that there are some.
    found.extend(more.into_iter().filter(|one| !seen_before || one.code != "config::broken"));
    let wanted = asked.from.as_deref().and_then(|id| RunId::parse(id).ok());
    let previous = match wanted.map(|wanted| earlier(project, &wanted)).transpose()? {
        None => None,
        Some(Ok(cast)) => Some(cast),
        Some(Err(why)) => {
            found.extend(unknown_cast(&why));
            None
        }
    };
    findings::show_briefly(&found, &loaded.layers, terminal);
    match linked {
        Some(linked) if !project::has_errors(&found) => Ok((loaded, linked, previous)),
        Some(_) | None => Err(refused(found)),
    }
}

/// The cast to continue from, or why it is not there.
fn earlier(project: &Project, wanted: &RunId) -> Result<Result<Found, String>, Failure> {
    let (root, journal) = project.journal()?;
    let place = format!("the artifact root `{}`", project.shown(&root));
    let Some(journal) = journal else {
        return Ok(Err(castid::unknown(wanted, &place).to_string()));
    };
    match castid::resolve(&journal, wanted, &place) {
        Ok(id) => Ok(Ok(Found { root, journal, id })),
        Err(Failure::Refused(refusal)) if refusal.code == "resolution" => Ok(Err(refusal.message)),
        Err(other) => Err(other),
    }
}

/// Why a link was refused: the faults in one sentence, and each of them as a finding.
fn refused(findings: Vec<Finding>) -> Failure {
    let errors = || findings.iter().filter(|finding| finding.severity == Severity::Error);
    if errors().any(|finding| !finding.code.starts_with("link::")) {
        return project::refused(findings);
    }
    let usage = errors().all(|finding| USAGE.contains(&finding.code.as_str()));
    let told = |finding: &Finding| match &finding.help {
        Some(help) => format!("{} ({help})", finding.message),
        None => finding.message.clone(),
    };
    let mut message: Vec<String> = errors().take(FAULTS_TOLD_MAX).map(told).collect();
    if let Some(more) = errors().count().checked_sub(FAULTS_TOLD_MAX).filter(|more| *more > 0) {
        message.push(format!("and {more} more"));
    }
    let code = if usage { "usage" } else { "resolution" }.to_owned();
    let message = message.join("; ");
    Failure::Refused(Box::new(Refusal { code, message, findings }))
}
