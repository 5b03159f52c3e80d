use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use materia_contract::{GlobalMode, JOURNAL_VERSION, Pace, Plan, RunCreated, ScriptBinding};
use materia_journal::{Options, SqliteJournal};

use crate::args::{Global, RunOptions};
use crate::failure::{Exit, Failure};
use crate::project::{self, Project};
use crate::run::{self, Drive, Start};
use crate::terminal::Terminal;
use crate::trust::Trust;
use crate::{castid, clean};

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
    if options.virtual_time && options.script.is_none() {
        return Err(Failure::usage(
            "`--virtual-time` needs `--script FILE`: only scripted answers know how long they take",
        ));
    }
    let project = Project::here(global)?;
    let profile = project.profile_dir().map(Path::to_owned);
    let request = args.prompt.join(" ");
    let loadout = args.loadout.as_deref();
    begin(&Beginning { project: &project, profile, loadout, request, options }, terminal)
}

/// A cast that is to begin.
pub(crate) struct Beginning<'a> {
    /// Where.
    pub project: &'a Project,
    /// The folder in which approvals are remembered.
    pub profile: Option<PathBuf>,
    /// What, if not the active loadout.
    pub loadout: Option<&'a str>,
    /// What is asked for.
    pub request: String,
    /// Options of the run.
    pub options: &'a RunOptions,
}

/// Begins a cast and drives it until it rests.
pub(crate) fn begin(asked: &Beginning<'_>, terminal: &mut Terminal) -> Result<Exit, Failure> {
    let (project, options) = (asked.project, asked.options);
    let id = match &options.cast_id {
        Some(text) => project::cast_id(text)?,
        None => castid::fresh(),
    };
    let (loaded, compiled) = project.compile(asked.loadout, terminal)?;
    let script =
        run::script(options.script.as_deref(), options, options.virtual_time, &compiled.plan)?;
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
    if options.planning {
        run::mention_planning(terminal);
    }
    let journal = Arc::new(SqliteJournal::open(&root, Options::default())?);
    let plan = compiled.plan;
    let run_dir = root.join(id.as_str()).to_string_lossy().into_owned();
    let entries = script.as_ref().map_or(0, |script| script.timeline.len());
    let entries = u32::try_from(entries).unwrap_or(u32::MAX);
    let start = Start::Begin(Box::new(created(asked, plan.clone(), run_dir, binding, entries)));
    Drive { project, root, journal, id, plan, script, start }.go(terminal)
}

fn created(
    asked: &Beginning<'_>,
    plan: Plan,
    run_dir: String,
    script: Option<ScriptBinding>,
    timeline: u32,
) -> RunCreated {
    let options = asked.options;
    RunCreated {
        request: asked.request.clone(),
        plan_hash: plan.hash(),
        plan,
        cwd: asked.project.dir.to_string_lossy().into_owned(),
        run_dir,
        pace: if options.interactive { Pace::Interactive } else { Pace::Auto },
        global_mode: if options.planning {
            GlobalMode::Planning
        } else {
            GlobalMode::Implementation
        },
        virtual_time: options.virtual_time,
        script,
        from_cast_id: None,
        fork: None,
        timeline,
        journal_version: JOURNAL_VERSION,
    }
}

fn absolute(path: &Path) -> Result<String, Failure> {
    let path = std::path::absolute(path)
        .map_err(|error| Failure::usage(format!("cannot use `{}`: {error}", path.display())))?;
    Ok(path.to_string_lossy().into_owned())
}
