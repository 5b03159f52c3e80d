//! Chooses who answers the agent sockets of a run: a script, a recording, or installed agents.
//!
//! All checks happen here, before the cast exists: whether each socket has an agent, and whether that agent can
//! enforce the socket's policy.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use materia_compiler::Loaded;
use materia_contract::script::Script;
use materia_contract::{
    Answerer, Answerers, Behavior, Finding, GlobalMode, MOCK, NodeId, Plan, RECORDED,
    ScriptBinding, ToolsDoc,
};
use materia_engine::Runner;
use materia_runners::agents::{
    Agent, AgentRegistry, AgentRunner, NoAgent, Recorder, Recording, ReplayRunner, Rules,
};
use materia_runners::{PlanningSupport, planning_support};

use crate::Result;
use crate::failure::{Failure, Hint};
use crate::options::{Contradiction, Named, RunOptions};
use crate::project;

/// How many sockets with one problem are named.
const SOCKETS_NAMED_MAX: usize = 5;

/// Who answers, where no script does.
pub enum Answering {
    /// No agent has to answer.
    Nobody,
    /// A recording.
    Recorded(Recording, AgentRegistry),
    /// Agents; what they say is recorded into the folder `record`, if there is one.
    Live {
        /// The agents.
        fleet: AgentRegistry,
        /// The folder of the recording, as a person typed it.
        record: Option<PathBuf>,
        /// The folder of the project.
        project: PathBuf,
    },
}

/// Who answers, and what follows from it.
pub struct Answers {
    /// Who answers.
    pub answering: Answering,
    /// Findings about sockets and their chosen agents.
    pub findings: Vec<Finding>,
    /// Who answers each socket that no script answers.
    pub chosen: Chosen,
}

/// Who answers which socket, before their programs were asked anything.
#[derive(Default)]
pub struct Chosen(Vec<(NodeId, Who)>);

enum Who {
    /// No program: a recording, or the provider `mock`.
    Named(&'static str),
    Agent(Box<Agent>),
}

/// A run whose agent sockets need answers.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    /// The folder of its project.
    pub folder: &'a Path,
    /// Its configuration.
    pub loaded: &'a Loaded,
    /// Its plan.
    pub plan: &'a Plan,
    /// Write mode of its turns.
    pub mode: GlobalMode,
    /// The script that answers, and the sockets that it has answers for.
    pub script: Option<(&'a Script, Option<&'a ScriptBinding>)>,
    /// The agents that answered so far, if a cast is resumed.
    pub before: Option<&'a Answerers>,
}

/// The agents of a configuration, with the one that the command line prefers.
pub fn fleet(loaded: &Loaded, provider: Option<&str>) -> AgentRegistry {
    let config = &loaded.config;
    let preferred = provider.map(str::to_owned).or_else(|| config.provider.clone());
    AgentRegistry::new(config.agents.clone(), config.prices.clone().unwrap_or_default(), preferred)
}

/// Finds what answers the agent sockets, and refuses if nothing can answer one of them.
pub fn answering(options: &RunOptions, asking: Asking<'_>) -> Result<Answers> {
    let Asking { folder, loaded, plan, mode, script, .. } = asking;
    // A script answers every socket unless it says that it answers only those it names (D54).
    let all = script.is_some_and(|(script, _)| !script.only);
    refuse_contradictions(options, all)?;
    let preferred = options.provider.as_deref().or(loaded.config.provider.as_deref());
    let (mocked, mut asked): (Vec<_>, Vec<_>) = asked(asking, options, preferred)
        .into_iter()
        .partition(|one| one.provider.as_deref() == Some(MOCK));
    let mut chosen: Vec<(NodeId, Who)> =
        mocked.into_iter().map(|one| (one.node.clone(), Who::Named(MOCK))).collect();
    asked.retain(|_| !all);
    let nobody = |chosen| Answers {
        answering: Answering::Nobody,
        findings: Vec::new(),
        chosen: Chosen(chosen),
    };
    if asked.is_empty() {
        return Ok(nobody(chosen));
    }
    let fleet = fleet(loaded, options.provider.as_deref());
    if let Some(dir) = &options.replay {
        let dir = Named::in_folder(folder, dir);
        let recording =
            Recording::open(&dir.full).map_err(|error| Failure::resolution(error.to_string()))?;
        chosen.extend(asked.iter().map(|one| (one.node.clone(), Who::Named(RECORDED))));
        return Ok(Answers { answering: Answering::Recorded(recording, fleet), ..nobody(chosen) });
    }
    let record = options.record.as_deref().map(|dir| Named::in_folder(folder, dir));
    if let Some(dir) = &record {
        Recorder::check(&dir.full, folder)
            .map_err(|error| Failure::resolution(dir.told(&error)))?;
    }
    let agents = choose(&fleet, &asked, plan, mode)?;
    let mut findings = Vec::new();
    if let Some((unnamed, _)) = agents.iter().zip(&asked).find(|(_, one)| !one.by_author) {
        // The rest was checked when the plan was made.
        findings = materia_compiler::agent_findings(loaded, plan, &unnamed.name);
        if project::has_errors(&findings) {
            return Err(project::refused(findings));
        }
    }
    let nodes = asked.iter().map(|one| one.node.clone());
    chosen.extend(nodes.zip(agents.into_iter().map(|agent| Who::Agent(Box::new(agent)))));
    let record = record.map(|dir| dir.full);
    let answering = Answering::Live { fleet, record, project: folder.to_owned() };
    Ok(Answers { answering, findings, chosen: Chosen(chosen) })
}

impl Chosen {
    /// The names of the agents that would be asked, each once.
    pub fn agents(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (_, who) in &self.0 {
            if let Who::Agent(agent) = who
                && !names.contains(&agent.name)
            {
                names.push(agent.name.clone());
            }
        }
        names
    }

    /// Who answers each socket, with what their programs say their versions are (D46). Programs are started
    /// for that, so whatever the project says about them must have been approved.
    pub fn answerers(&self, supervisor: &Path) -> Result<Answerers> {
        let mut distinct: Vec<Agent> = Vec::new();
        for (_, who) in &self.0 {
            if let Who::Agent(agent) = who
                && !distinct.iter().any(|known| known.name == agent.name)
            {
                distinct.push((**agent).clone());
            }
        }
        let mut versions = Vec::new();
        if !distinct.is_empty() {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(|error| Failure::Broken(format!("cannot start: {error}")))?;
            versions = runtime.block_on(materia_runners::agents::versions(supervisor, &distinct));
        }
        let version = |agent: &Agent| {
            let said = versions.iter().find(|(name, _)| *name == agent.name);
            said.map(|(_, version)| version.clone())
        };
        let answerers = self.0.iter().map(|(node, who)| {
            let (provider, program_version, model) = match who {
                Who::Named(name) => ((*name).to_owned(), None, None),
                Who::Agent(agent) => (agent.name.clone(), version(agent), agent.model.clone()),
            };
            (node.clone(), Answerer { provider, program_version, model })
        });
        Ok(answerers.collect())
    }
}

fn refuse_contradictions(options: &RunOptions, scripted: bool) -> Result<(), Contradiction> {
    match (options.record.is_some(), options.replay.is_some()) {
        (true, true) => Err(Contradiction::RecordAndReplay),
        (true, false) if scripted => Err(Contradiction::RecordAndScript),
        (false, true) if scripted => Err(Contradiction::ReplayAndScript),
        (true | false, false) | (false, true) => Ok(()),
    }
}

/// A socket that asks an agent.
struct Asked<'a> {
    node: &'a NodeId,
    /// The provider of the socket, if one was chosen.
    provider: Option<String>,
    /// Whether the author of the socket chose it.
    by_author: bool,
    tools: Option<&'a ToolsDoc>,
}

/// The sockets that the script does not answer. Their provider: the one the author names, else the one the command
/// line names, else the one that answered so far (D46).
fn asked<'a>(asking: Asking<'a>, options: &RunOptions, preferred: Option<&str>) -> Vec<Asked<'a>> {
    let told = options.provider.as_deref();
    let keys = asking.script.and_then(|(_, binding)| binding).map(|binding| &binding.keys);
    let nodes = asking.plan.nodes.iter().filter_map(|(node, found)| match &found.behavior {
        Behavior::Agent { .. } if keys.is_some_and(|keys| keys.contains_key(node)) => None,
        Behavior::Agent { provider, tools, .. } => {
            let before = asking.before.and_then(|before| before.get(node));
            let before = before.map(|it| it.provider.as_str()).filter(|name| *name != RECORDED);
            let chosen = provider.as_deref().or(told).or(before).or(preferred);
            Some(Asked {
                node,
                provider: chosen.map(str::to_owned),
                by_author: provider.is_some(),
                tools: tools.as_ref(),
            })
        }
        Behavior::Utility { .. } => None,
    });
    nodes.collect()
}

/// The agent of each socket; every socket without one is named at once.
fn choose(
    fleet: &AgentRegistry,
    asked: &[Asked<'_>],
    plan: &Plan,
    mode: GlobalMode,
) -> Result<Vec<Agent>> {
    let sandbox = planning_support() == PlanningSupport::Enforced;
    let mut agents = Vec::<Agent>::new();
    // Sockets that have the same problem are reported together.
    let mut problems: Vec<(String, Vec<&NodeId>)> = Vec::new();
    for Asked { node, provider, tools, .. } in asked {
        let problem = match fleet.choose(provider.as_deref()) {
            Ok(agent) => {
                let doc_root = plan.doc_root.clone();
                let rules = Rules { tools: tools.cloned(), mode, doc_root, sandbox };
                let problem = agent.check(&rules).err().map(|error| error.to_string());
                agents.push(agent);
                problem
            }
            Err(NoAgent::None { looked_for }) => {
                return Err(Failure::resolution(format!(
                    "socket `{node}` asks an agent, and no agent is installed (looked for {} in \
                     every folder of PATH)",
                    looked_for.join(", ")
                ))
                .hint(Hint::FindAgents));
            }
            Err(
                error @ (NoAgent::Unknown { .. }
                | NoAgent::NotInstalled { .. }
                | NoAgent::NoCommand { .. }),
            ) => Some(error.to_string()),
        };
        let Some(problem) = problem else { continue };
        match problems.iter_mut().find(|(known, _)| *known == problem) {
            Some((_, nodes)) => nodes.push(node),
            None => problems.push((problem, vec![node])),
        }
    }
    if problems.is_empty() {
        return Ok(agents);
    }
    let message = match problems.as_slice() {
        [(problem, nodes)] => format!("{problem} ({})", named(nodes)),
        several => several.iter().fold("some agents cannot be used:".to_owned(), |all, one| {
            format!("{all}\n  {}: {}", named(&one.1), one.0)
        }),
    };
    Err(Failure::resolution(message).hint(Hint::FindAgents))
}

/// Sockets by their names; of many only the first ones.
fn named(nodes: &[&NodeId]) -> String {
    let shown: Vec<String> =
        nodes.iter().take(SOCKETS_NAMED_MAX).map(|node| format!("`{node}`")).collect();
    let things = if nodes.len() == 1 { "socket" } else { "sockets" };
    match nodes.len().saturating_sub(SOCKETS_NAMED_MAX) {
        0 => format!("{things} {}", shown.join(", ")),
        more => format!("{things} {} and {more} more", shown.join(", ")),
    }
}

impl Answering {
    /// Variables that agents of these names need, of those that `is_set`: a login by a variable, and what the
    /// configuration passes on.
    pub fn needs(&self, names: &[&str], is_set: impl Fn(&str) -> bool) -> Vec<String> {
        let Self::Live { fleet, .. } = self else { return Vec::new() };
        let mut needed = Vec::new();
        for agent in names.iter().filter_map(|name| fleet.named(name).ok()) {
            let keys = agent.adapter().probe().keys;
            let added = agent.settings.env.iter().filter(|name| !name.ends_with('*'));
            needed.extend(keys.iter().map(|name| (*name).to_owned()));
            needed.extend(added.cloned());
        }
        needed.retain(|name| is_set(name));
        needed.sort();
        needed.dedup();
        needed
    }

    /// The runner for agent turns; `None` if no turn needs one. A new recording starts here.
    pub fn runner(&self, supervisor: &Path) -> Result<Option<Arc<dyn Runner>>> {
        Ok(match self {
            Self::Nobody => None,
            Self::Recorded(recording, fleet) => {
                Some(Arc::new(ReplayRunner::new(recording.clone(), fleet.clone())))
            }
            Self::Live { fleet, record, project } => {
                let runner = AgentRunner::new(supervisor.to_owned(), fleet.clone());
                let Some(dir) = record else { return Ok(Some(Arc::new(runner))) };
                let recorder = Recorder::create(dir, project)
                    .map_err(|error| Failure::storage(error.to_string()))?;
                Some(Arc::new(runner.with_recorder(recorder)))
            }
        })
    }
}
