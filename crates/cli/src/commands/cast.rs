use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use materia_compiler::{Compiled, Loaded};
use materia_contract::{GlobalMode, JOURNAL_VERSION, Link, Pace, Plan, RunCreated, ScriptBinding};
use materia_journal::{Options, SqliteJournal};
use serde_json::{Map, Value};

use crate::args::{Global, RunOptions};
use crate::failure::{Exit, Failure};
use crate::project::{self, Project};
use crate::run::{self, Drive, Start};
use crate::terminal::Terminal;
use crate::trust::Trust;
use crate::{agents, castid, clean, profile};

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
    let options = &args.options;
    refuse_options(options)?;
    let project = Project::here(global)?;
    let profile = project.profile_dir().map(Path::to_owned);
    let request = args.prompt.join(" ");
    let asked = Beginning { project: &project, profile, request, options };
    begin(&asked, args.loadout.as_deref(), terminal)
}

/// Refuses options that do not go together.
pub(crate) fn refuse_options(options: &RunOptions) -> Result<(), Failure> {
    if options.virtual_time && options.script.is_none() {
        return Err(Failure::usage(
            "`--virtual-time` needs `--script FILE`: only scripted answers know how long they take",
        ));
    }
    Ok(())
}

/// A cast that is to begin.
pub(crate) struct Beginning<'a> {
    /// Where.
    pub project: &'a Project,
    /// The folder in which approvals are remembered.
    pub profile: Option<PathBuf>,
    /// What is asked for.
    pub request: String,
    /// Options of the run.
    pub options: &'a RunOptions,
}

/// A compiled graph, and what else the cast begins with.
pub(crate) struct Ready {
    /// The configuration it comes from.
    pub loaded: Loaded,
    /// What runs.
    pub compiled: Compiled,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a cast comes from, if it is more than one loadout of its own.
#[derive(Default)]
pub(crate) struct Origin {
    /// What its graph was linked from.
    pub link: Option<Link>,
    /// The cast it continues from.
    pub from_cast_id: Option<String>,
    /// The variables it begins with.
    pub state: Map<String, Value>,
}

/// Begins a cast of a loadout, or of the active one, and drives it until it rests.
pub(crate) fn begin(
    asked: &Beginning<'_>,
    loadout: Option<&str>,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let (loaded, compiled) = asked.project.compile(loadout, terminal)?;
    start(asked, Ready { loaded, compiled, origin: Origin::default() }, terminal)
}

/// Begins a cast of what was compiled and drives it until it rests.
pub(crate) fn start(
    asked: &Beginning<'_>,
    ready: Ready,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let (project, options) = (asked.project, asked.options);
    let Ready { loaded, mut compiled, origin } = ready;
    let id = match &options.cast_id {
        Some(text) => project::cast_id(text)?,
        None => castid::fresh(),
    };
    let script =
        run::script(options.script.as_deref(), options, options.virtual_time, &compiled.plan)?;
    let (plan, scripted) = (&compiled.plan, script.is_some());
    let (answering, commands) =
        agents::answering(options, plan, mode(options), scripted, &loaded, terminal)?;
    compiled.commands.extend(commands);
    let binding = match (&script, &options.script) {
        (Some(script), Some(path)) => {
            for key in materia_runners::unmatched_keys(script, &compiled.plan) {
                terminal.say(format_args!(
                    "warning: the script's `{}` is neither a socket nor a materia of this loadout",
                    clean::one_line(&key, 100)
                ));
            }
            Some(materia_runners::bind(script, &absolute(path)?, &compiled.plan))
        }
        (None, _) | (_, None) => None,
    };
    let root = compiled.artifact_dir.clone();
    project::refuse_taken_name(&root, &id)?;
    let trust =
        Trust { profile: asked.profile.as_deref(), project: &project.dir, approved: options.trust };
    trust.allows_cast(&loaded, &compiled, terminal)?;
    let scripts = materia_compiler::needed_scripts(&loaded, &compiled.plan);
    profile::ready(project.profile_dir(), &scripts)?;
    if options.planning {
        run::mention_planning(terminal);
    }
    let journal = Arc::new(SqliteJournal::open(&root, Options::default())?);
    let plan = compiled.plan;
    let run_dir = root.join(id.as_str()).to_string_lossy().into_owned();
    let entries = script.as_ref().map_or(0, |script| script.timeline.len());
    let created = RunCreated {
        timeline: u32::try_from(entries).unwrap_or(u32::MAX),
        ..created(asked, origin, plan.clone(), run_dir, binding)
    };
    let start = Start::Begin(Box::new(created));
    Drive { project, root, journal, id, plan, script, answering, start }.go(terminal)
}

fn created(
    asked: &Beginning<'_>,
    origin: Origin,
    plan: Plan,
    run_dir: String,
    script: Option<ScriptBinding>,
) -> RunCreated {
    let options = asked.options;
    RunCreated {
        request: asked.request.clone(),
        plan_hash: plan.hash(),
        plan,
        cwd: asked.project.dir.to_string_lossy().into_owned(),
        run_dir,
        pace: if options.interactive { Pace::Interactive } else { Pace::Auto },
        global_mode: mode(options),
        virtual_time: options.virtual_time,
        script,
        fork: None,
        timeline: 0,
        from_cast_id: origin.from_cast_id,
        link: origin.link,
        state: origin.state,
        journal_version: JOURNAL_VERSION,
    }
}

fn mode(options: &RunOptions) -> GlobalMode {
    if options.planning { GlobalMode::Planning } else { GlobalMode::Implementation }
}

fn absolute(path: &Path) -> Result<String, Failure> {
    let path = std::path::absolute(path)
        .map_err(|error| Failure::usage(format!("cannot use `{}`: {error}", path.display())))?;
    Ok(path.to_string_lossy().into_owned())
}
