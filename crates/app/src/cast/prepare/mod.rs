//! Prepares a run: chooses who answers, collects the questions to approve, and determines how it starts.
//!
//! ```text
//! compile or link ─► Ready ─► cast ─► Untrusted<Beginning> ─┐
//!            a cast, read once ─► going_on ─► Untrusted<GoingOn> ─► questions answered ─► Trusted ─► driven
//! ```
//!
//! Nothing is written before all checks and approvals. The result holds everything that the caller must show:
//! findings, warnings, and trust questions.

mod link;
mod script;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use materia_compiler::{Compiled, Loaded};
use materia_contract::script::Script;
use materia_contract::{
    Answerers, Behavior, Budget, Finding, GlobalMode, JOURNAL_VERSION, JOURNAL_VERSION_OF_PROJECT,
    Link, Plan, Policy, RunCreated, RunId, ScriptBinding, path_tokens,
};
use materia_engine::LoadedRun;
use materia_journal::Options;

use serde_json::{Map, Value};

use crate::cast::agents::{self, Answering, Answers, Asking, Chosen};
use crate::cast::workspace::{self, Wanted};
use crate::options::{Contradiction, Named, RunOptions};
use crate::project::cast_id;
use crate::project::health;
use crate::project::place::CastJournal;
use crate::project::profile;
use crate::project::{self, Project};
use crate::text::sanitize;
use crate::trust::{Begins, Begun, Gate, Runs, Starts, Trusted, Untrusted, Watch};
use crate::{Failure, Result};
pub use link::{Linking, link};

/// Request for a cast.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// The project.
    pub project: &'a Project,
    /// The folder in which approvals are remembered.
    pub approvals: Option<PathBuf>,
    /// Request text.
    pub request: String,
    /// Options of the run.
    pub options: &'a RunOptions,
}

/// A compiled graph, and what else a cast begins with.
#[derive(Debug)]
pub struct Ready {
    /// The configuration it comes from.
    pub loaded: Loaded,
    /// The compiled graph.
    pub compiled: Compiled,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a cast comes from, if it is more than one loadout of its own.
#[derive(Debug, Default)]
pub struct Origin {
    /// Targets of the link.
    pub link: Option<Link>,
    /// The cast it continues from.
    pub from_cast_id: Option<String>,
    /// The variables it begins with.
    pub state: Map<String, Value>,
}

/// A run whose agent sockets all have an answer.
pub struct Prepared {
    /// Script that answers its agents.
    pub script: Option<Script>,
    /// Agents that answer where no script does.
    pub answering: Answering,
    /// The configuration.
    pub loaded: Loaded,
    /// Findings about the agents.
    pub findings: Vec<Finding>,
    /// Other warnings.
    pub warnings: Vec<String>,
    /// The plan with the paths of this machine: what is trusted.
    plan: Plan,
    /// Who answers each socket that no script answers.
    chosen: Chosen,
    /// The file of the script.
    answers: Option<PathBuf>,
    gate: Gate,
}

/// A cast that can go on, as it was read.
pub struct GoingOn {
    /// Who answers, and what it needs.
    pub prepared: Prepared,
    /// The cast.
    pub loaded: LoadedRun,
    id: RunId,
    created: Box<RunCreated>,
}

impl Runs for GoingOn {
    fn id(&self) -> &RunId {
        &self.id
    }

    fn plan(&self) -> &Plan {
        &self.created.plan
    }

    fn starts(&self) -> Starts {
        self.prepared.starts(&self.created)
    }
}

impl GoingOn {
    /// How it began, as its journal has it.
    pub fn created(&self) -> &RunCreated {
        &self.created
    }
}

impl Runs for Beginning {
    fn id(&self) -> &RunId {
        &self.id
    }

    fn plan(&self) -> &Plan {
        &self.created.plan
    }

    fn starts(&self) -> Starts {
        self.prepared.starts(&self.created)
    }
}

/// A cast that can begin.
pub struct Beginning {
    /// Who answers, and what has to be approved.
    pub prepared: Prepared,
    /// The folder that casts are kept in.
    pub root: PathBuf,
    /// Its id.
    pub id: RunId,
    /// How it begins, as it is kept.
    pub created: RunCreated,
    project: Project,
    own: Option<Wanted>,
    journal: Options,
}

/// Refuses options that do not go together.
pub fn refuse_options(options: &RunOptions) -> Result<()> {
    if options.virtual_time && options.script.is_none() {
        return Err(Contradiction::VirtualTimeWithoutScript.into());
    }
    Ok(())
}

/// Agents that are asked for nothing make something up. A graph of programs alone needs no request.
fn refuse_nothing_asked(asked: &Asked<'_>, plan: &Plan) -> Result<()> {
    let shown = plan.nodes.values().any(|node| matches!(node.behavior, Behavior::Agent { .. }));
    if shown && asked.request.trim().is_empty() && !asked.options.no_request {
        return Err(Contradiction::NoRequest(plan.loadout.clone()).into());
    }
    Ok(())
}

/// Prepares a cast of what was compiled. Nothing is written yet, and nothing has run.
pub fn cast(asked: &Asked<'_>, ready: Ready) -> Result<Untrusted<Beginning>> {
    let (project, options) = (asked.project, asked.options);
    refuse_options(options)?;
    let Ready { loaded, compiled, origin } = ready;
    let id = match &options.cast_id {
        Some(text) => cast_id::chosen(text)?,
        None => cast_id::fresh(),
    };
    let named = options.script.as_deref().map(|path| Named::in_folder(&project.dir, path));
    let mut plan = compiled.plan;
    refuse_nothing_asked(asked, &plan)?;
    let (own, told) = (plan.budget, options.budget);
    plan.budget = Budget {
        max_tokens: told.max_tokens.or(own.max_tokens),
        max_cost: told.max_cost.or(own.max_cost),
        max_turns: told.max_turns.or(own.max_turns),
        ..own
    };
    let script = script::read(named.as_ref(), options, options.virtual_time, &plan)?;
    let mut warnings = Vec::new();
    let binding = match (&script, &named) {
        (Some(script), Some(named)) => {
            Some(script::bind(script, &named.full, &plan, &mut warnings))
        }
        (None, _) | (_, None) => None,
    };
    let asking = Asking {
        folder: &project.dir,
        loaded: &loaded,
        plan: &plan,
        mode: options.mode(),
        script: script.as_ref().map(|script| (script, binding.as_ref())),
        before: None,
    };
    let answers = agents::answering(options, asking)?;
    refuse_doc_root(options.mode(), (project, &loaded), &plan)?;
    let own = workspace::wanted(project, options, compiled.workspace, &plan, &mut warnings)?;
    let root = compiled.artifact_dir;
    let journal = project.options_to_write()?;
    project.refuse_links(&root)?;
    project::refuse_taken_folder(&root, &id)?;
    let gate = Gate::new(asked.approvals.as_deref(), &project.dir);
    let agents = answers.chosen.agents();
    let (link, by_choice) = (origin.link.as_ref(), compiled.by_choice);
    let begins = Begins { loaded: &loaded, plan: &plan, link, by_choice, agents: &agents };
    let question = gate.begins(begins, &mut warnings)?;
    let answered_by = named.map(|named| named.full);
    let mut prepared =
        Prepared::new(gate.clone(), (loaded, script, answers), plan.clone(), answered_by);
    prepared.warnings.splice(0..0, warnings);
    let entries = prepared.script.as_ref().map_or(0, |script| script.timeline.len());
    let created = RunCreated {
        timeline: u32::try_from(entries).unwrap_or(u32::MAX),
        ..created(asked, origin, plan, binding)
    };
    // What is kept does not say where on this machine anything is.
    let created = project.folders(&root, &id).kept(created);
    let project = project.clone();
    let beginning = Beginning { prepared, root, id, created, project, own, journal };
    Ok(gate.holds(beginning, question.into_iter().collect()))
}

/// Prepares a loaded cast to continue. The recorded script answers unless another is given; likewise the agent that
/// answered before.
pub fn going_on(
    project: &Project,
    run: LoadedRun,
    options: &RunOptions,
) -> Result<Untrusted<GoingOn>> {
    let (id, before) = (run.run().id().clone(), run.run().agents().clone());
    let kept = run.run().created().cloned();
    let kept = kept.ok_or_else(|| Failure::storage(format!("cast `{id}` has no beginning")))?;
    let created = &project.places().created(&kept);
    let recorded = created.script.as_ref().map(|script| PathBuf::from(&script.path));
    let path = options.script.clone().or(recorded);
    let named = path.as_deref().map(|path| Named::in_folder(&project.dir, path));
    let (plan, mode) = (&created.plan, created.global_mode);
    let script = script::read(named.as_ref(), options, created.virtual_time, plan)?;
    let (loaded, _) = materia_compiler::load(&project.sources);
    let asking = Asking {
        folder: &project.dir,
        loaded: &loaded,
        plan,
        mode,
        script: script.as_ref().map(|script| (script, created.script.as_ref())),
        before: Some(&before),
    };
    let answers = agents::answering(options, asking)?;
    refuse_doc_root(run.run().global_mode(), (project, &loaded), plan)?;
    let (gate, agents) = (project.gate(), answers.chosen.agents());
    let answered_by = named.map(|named| named.full);
    // A script that the user names now is trusted; one that the journal names needs approval.
    let recorded = answered_by.as_deref().filter(|_| options.script.is_none());
    let begun = Begun { id: &id, created: &kept, plan, answers: recorded };
    let mut warnings = Vec::new();
    let questions = gate.goes_on(begun, (&loaded, &agents), &mut warnings)?;
    let mut prepared =
        Prepared::new(gate.clone(), (loaded, script, answers), plan.clone(), answered_by);
    prepared.warnings.extend(warnings);
    Ok(gate.holds(GoingOn { prepared, loaded: run, id, created: Box::new(kept) }, questions))
}

impl Prepared {
    fn new(
        gate: Gate,
        (loaded, script, answers): (Loaded, Option<Script>, Answers),
        plan: Plan,
        answered_by: Option<PathBuf>,
    ) -> Self {
        let Answers { answering, findings, chosen } = answers;
        let answers = answered_by.filter(|_| script.is_some());
        let warnings = Vec::new();
        Self { script, answering, loaded, findings, warnings, plan, chosen, answers, gate }
    }

    /// Stores that a run was begun or resumed here with consent, so that it may continue here.
    fn note(
        &self,
        (id, created): (&RunId, &RunCreated),
        watch: &Watch,
        warnings: &mut Vec<String>,
    ) {
        let (plan, answers) = (&self.plan, self.answers.as_deref());
        self.gate.has_begun(Begun { id, created, plan, answers }, watch, warnings);
    }

    /// The programs whose files have to be approved.
    fn starts(&self, created: &RunCreated) -> Starts {
        Starts::of(&self.plan, created.link.as_ref(), Some(&self.loaded))
    }

    /// Who answers each socket. Programs are asked for their versions.
    fn answerers(&self, watch: &Watch, supervisor: &Path) -> Result<Answerers> {
        watch
            .agents(&self.chosen.agents())
            .map_err(|why| Failure::trust(format!("{why}; nothing ran")))?;
        self.chosen.answerers(supervisor)
    }
}

impl Trusted<GoingOn> {
    /// Who answers each socket. Programs are asked for their versions.
    pub fn answerers(&self, supervisor: &Path) -> Result<Answerers> {
        self.prepared.answerers(&self.watch(self.starts()), supervisor)
    }

    /// The cast goes on: what its plan needs is put in place.
    pub fn go_on(&self, warnings: &mut Vec<String>) -> Result<()> {
        self.prepared.note((&self.id, &self.created), &self.watch(self.starts()), warnings);
        self.ready(warnings)
    }

    /// The same without a note that it may go on here again.
    pub(crate) fn ready(&self, warnings: &mut Vec<String>) -> Result<()> {
        profile::still_ready(self.prepared.loaded.shelf(), &self.prepared.plan, warnings)?;
        warn_of_bounds(&self.created, warnings);
        Ok(())
    }
}

impl Trusted<Beginning> {
    /// Who answers each socket. Programs are asked for their versions.
    pub fn answerers(&self, supervisor: &Path) -> Result<Answerers> {
        self.prepared.answerers(&self.watch(self.starts()), supervisor)
    }

    /// The cast may begin: its journal, with all that its plan needs in place.
    pub fn open(&self, warnings: &mut Vec<String>) -> Result<Arc<dyn CastJournal>> {
        self.prepared.note((&self.id, &self.created), &self.watch(self.starts()), warnings);
        let scripts = materia_compiler::needed_scripts(&self.prepared.loaded, &self.created.plan);
        profile::ready(self.prepared.loaded.shelf(), &scripts, warnings)?;
        warn_of_bounds(&self.created, warnings);
        let journal = self.project.open_journal(&self.root, self.journal.clone())?;
        project::keep_out_of_version_control(&self.root, &self.project.dir, warnings);
        Ok(journal)
    }

    /// The cast as it begins with these agents. Its workspace is made here, where it has one of its own.
    pub fn created(&self, agents: Answerers) -> Result<RunCreated> {
        let created = RunCreated { agents, ..self.created.clone() };
        let Some(own) = &self.own else { return Ok(created) };
        let workspace = Some(own.make(&self.project, &self.id)?);
        Ok(RunCreated { workspace, journal_version: JOURNAL_VERSION, ..created })
    }
}

fn created(
    asked: &Asked<'_>,
    origin: Origin,
    plan: Plan,
    script: Option<ScriptBinding>,
) -> RunCreated {
    let options = asked.options;
    RunCreated {
        request: asked.request.clone(),
        plan_hash: plan.hash(),
        plan,
        cwd: path_tokens::WORKSPACE.to_owned(),
        run_dir: path_tokens::RUN_DIR.to_owned(),
        pace: options.pace(),
        global_mode: options.mode(),
        virtual_time: options.virtual_time,
        script,
        agents: Answerers::default(),
        fork: None,
        timeline: 0,
        from_cast_id: origin.from_cast_id,
        link: origin.link,
        state: origin.state,
        key: None,
        workspace: None,
        approved: None,
        journal_version: JOURNAL_VERSION_OF_PROJECT,
    }
}

/// Refuses Planning where the only folder that turns may write to is no folder for documents alone. It is checked
/// again before each turn.
fn refuse_doc_root(
    mode: GlobalMode,
    (project, loaded): (&Project, &Loaded),
    plan: &Plan,
) -> Result<()> {
    let unfit = match mode {
        GlobalMode::Planning => materia_compiler::unfit_doc_root(loaded, &plan.doc_root),
        GlobalMode::Implementation => None,
    };
    // A turn that may write to the profile could approve anything.
    let root = project.dir.join(&plan.doc_root);
    let profile = project.profile_dir().and_then(|profile| profile.canonicalize().ok());
    let holds_profile = profile.is_some_and(|profile| profile.starts_with(&root));
    let holds_profile = holds_profile && mode == GlobalMode::Planning;
    let unfit = unfit.or(holds_profile.then_some("holds your profile"));
    let Some(what) = unfit else { return Ok(()) };
    let root = sanitize::one_line(&plan.doc_root, 300);
    Err(Failure::resolution(format!(
        "under Planning turns may write to the folder `{root}` alone, and that {what}; name another in `docRoot`"
    )))
}

/// Says so where the kernel of this machine cannot hold turns to what the cast asks of them.
fn warn_of_bounds(created: &RunCreated, warnings: &mut Vec<String>) {
    let bounds = |policy: &Policy| policy.write.is_some() || policy.network == Some(false);
    let bounded = created.plan.nodes.values().any(|node| node.policy.as_ref().is_some_and(bounds));
    if bounded || created.global_mode == GlobalMode::Planning {
        warnings.extend(health::confinement_gaps(materia_runners::machine()));
    }
}
