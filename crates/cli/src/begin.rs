//! Starts a cast: shows the findings, asks the trust questions, then runs it.

use std::path::Path;

use materia_app::cast::concurrent as concurrent_casts;
use materia_app::cast::drive::{Drive, Start};
use materia_app::cast::prepare::{self, Asked, Beginning, Origin, Prepared, Ready};
use materia_app::trust::{Question, Trusted, Untrusted};
use materia_compiler::LayerKind;
use materia_contract::{GlobalMode, Plan, RunId};

use crate::args::RunOptions;
use crate::detach;
use crate::failure::{Exit, Failure};
use crate::findings;
use crate::journals;
use crate::project::{Found, Project};
use crate::run;
use crate::terminal::Terminal;
use crate::trust;

/// Begins a cast of a loadout, or of the active one, and drives it until it rests.
pub(crate) fn loadout(
    project: &Project,
    asked: &Asked<'_>,
    loadout: Option<&str>,
    trusted: Vouched,
    terminal: &mut Terminal,
) -> Result<(Exit, RunId), Failure> {
    let (loaded, compiled) = project.compile(loadout, terminal)?;
    let shipped = |layer: &materia_compiler::Layer| layer.kind == LayerKind::Shipped;
    if loaded.layers.iter().all(shipped)
        && let Some(above) = project.configured_above()
    {
        terminal.say(format_args!("warning: {above}"));
    }
    let made = Ready { loaded, compiled, origin: Origin::default() };
    ready(project, asked, made, trusted, terminal)
}

/// Approvals that the command line itself gives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vouched {
    /// Approves the project's configuration (`--trust`).
    pub project: bool,
    /// The journal that is there.
    pub journal: bool,
    /// Whether the cast is handed to a server.
    pub detach: bool,
}

impl Vouched {
    /// As the options of a run say.
    pub(crate) fn by(options: &RunOptions) -> Self {
        Self { project: options.trust, journal: options.trust_journal, detach: options.detach }
    }
}

/// Begins a cast of what was compiled and drives it until it rests.
pub(crate) fn ready(
    project: &Project,
    asked: &Asked<'_>,
    made: Ready,
    trusted: Vouched,
    terminal: &mut Terminal,
) -> Result<(Exit, RunId), Failure> {
    let layers = made.loaded.layers.clone();
    let beginning = prepare::cast(asked, made);
    let beginning = beginning.map_err(|failure| findings::of(failure, &layers, terminal))?;
    show(&beginning.what().prepared, terminal);
    let beginning = settle(beginning, trusted.project, project, terminal)?;
    journals::own_at(project, &beginning.root, trusted.journal, terminal)?;
    let supervisor = run::supervisor()?;
    let agents = beginning.answerers(&supervisor)?;
    let journal = terminal.warned(|warnings| beginning.open(warnings))?;
    let created = beginning.created(agents)?;
    let (Beginning { prepared, root, id, .. }, cleared) = beginning.release();
    let (plan, begun) = (created.plan.clone(), id.clone());
    if created.workspace.is_none() {
        warn_of_others(project, (&root, &id), &plan, created.global_mode, terminal);
    }
    let start = Start::Begin(Box::new(created));
    let cast = Found { root, journal, id };
    let drive = Drive::new(project, cast, (prepared, cleared), plan, supervisor, start)?;
    let provider = asked.options.provider.as_deref();
    Ok((detach::go(drive, project, provider, trusted.detach, terminal)?, begun))
}

/// Says which other casts are driven in this folder, where either may change files (D66).
pub(crate) fn warn_of_others(
    project: &Project,
    (root, id): (&Path, &RunId),
    plan: &Plan,
    mode: GlobalMode,
    terminal: &Terminal,
) {
    let others = concurrent_casts::others(project, root, id, plan, mode);
    if let Some(warning) = concurrent_casts::warning(&others) {
        terminal.say(format_args!("warning: {warning}"));
    }
}

/// Shows what was found while a run was prepared.
pub(crate) fn show(prepared: &Prepared, terminal: &Terminal) {
    findings::show(&prepared.findings, &prepared.loaded.layers, terminal);
    for warning in &prepared.warnings {
        terminal.say(format_args!("warning: {warning}"));
    }
}

/// Has the questions answered that stand between something and its run.
pub(crate) fn settle<T>(
    waiting: Untrusted<T>,
    trusted: bool,
    project: &Project,
    terminal: &Terminal,
) -> Result<Trusted<T>, Failure> {
    let answer = |question: &Question| {
        if trusted { Ok(()) } else { trust::ask(question, project, terminal) }
    };
    terminal.warned(|warnings| waiting.settle(answer, warnings))
}
