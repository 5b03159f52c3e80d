//! Who answers the agent sockets of a run: a script, a recording, or agents that are installed.
//!
//! Everything that can be known beforehand is found out here, before there is a cast: whether an
//! agent is there for each socket, and whether it can be held to the socket's rules.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use materia_compiler::{LayerKind, Loaded, ProjectCommand};
use materia_contract::{Behavior, Finding, GlobalMode, NodeId, Plan, ToolsDoc};
use materia_engine::Runner;
use materia_runners::agents::{
    Agent, AgentRunner, Fleet, NoAgent, Recorder, Recording, ReplayRunner, Rules,
};
use materia_runners::{PlanningSupport, planning_support};

use crate::failure::{Failure, Hint};
use crate::options::{Contradiction, Named, RunOptions};
use crate::project;

/// Who answers, where no script does.
pub enum Answering {
    /// Nobody has to.
    Nobody,
    /// A recording.
    Recorded(Recording, Fleet),
    /// Agents; what they say is recorded into the folder, if there is one.
    Live(Fleet, Option<PathBuf>),
}

/// Who answers, and what follows from it.
pub struct Answers {
    /// Who answers.
    pub answering: Answering,
    /// What the project itself says about the agents that will be asked.
    pub commands: Vec<ProjectCommand>,
    /// What was found about the sockets that ask the agent that was chosen for them.
    pub findings: Vec<Finding>,
}

impl From<Answering> for Answers {
    fn from(answering: Answering) -> Self {
        Self { answering, commands: Vec::new(), findings: Vec::new() }
    }
}

/// A run for which somebody has to answer.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    /// The folder of its project.
    pub folder: &'a Path,
    /// Its configuration.
    pub loaded: &'a Loaded,
    /// Its plan.
    pub plan: &'a Plan,
    /// What its turns may write.
    pub mode: GlobalMode,
    /// Whether a script answers.
    pub scripted: bool,
}

/// The agents of a configuration, with the one that the command line prefers.
pub fn fleet(loaded: &Loaded, provider: Option<&str>) -> Fleet {
    let config = &loaded.config;
    let preferred = provider.map(str::to_owned).or_else(|| config.provider.clone());
    Fleet::new(config.agents.clone(), config.prices.clone().unwrap_or_default(), preferred)
}

/// Finds out who answers, and refuses where somebody is asked whom nobody can answer.
pub fn answering(options: &RunOptions, asking: Asking<'_>) -> Result<Answers, Failure> {
    let Asking { folder, loaded, plan, mode, scripted } = asking;
    refuse_contradictions(options, scripted)?;
    let asked = asked(plan);
    if scripted || asked.is_empty() {
        return Ok(Answering::Nobody.into());
    }
    let fleet = fleet(loaded, options.provider.as_deref());
    if let Some(dir) = &options.replay {
        let dir = Named::in_folder(folder, dir);
        let recording =
            Recording::open(&dir.full).map_err(|error| Failure::resolution(error.to_string()))?;
        return Ok(Answering::Recorded(recording, fleet).into());
    }
    let record = options.record.as_deref().map(|dir| Named::in_folder(folder, dir));
    if let Some(dir) = &record {
        Recorder::check(&dir.full).map_err(|error| Failure::resolution(dir.told(&error)))?;
    }
    let agents = choose(&fleet, &asked, plan, mode)?;
    let mut findings = Vec::new();
    if asked.iter().any(|one| one.provider.is_none())
        && let Ok(chosen) = fleet.choose(None)
    {
        // The rest was checked when the plan was made.
        findings = materia_compiler::agent_findings(loaded, plan, &chosen.name);
        if project::has_errors(&findings) {
            return Err(project::refused(findings));
        }
    }
    let commands = project_commands(loaded, &agents);
    let answering = Answering::Live(fleet, record.map(|dir| dir.full));
    Ok(Answers { answering, commands, findings })
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
    provider: Option<&'a str>,
    tools: Option<&'a ToolsDoc>,
}

fn asked(plan: &Plan) -> Vec<Asked<'_>> {
    let nodes = plan.nodes.iter().filter_map(|(node, found)| match &found.behavior {
        Behavior::Agent { provider, tools, .. } => {
            Some(Asked { node, provider: provider.as_deref(), tools: tools.as_ref() })
        }
        Behavior::Utility { .. } => None,
    });
    nodes.collect()
}

/// The agents that will be asked; every socket without one is named at once.
fn choose(
    fleet: &Fleet,
    asked: &[Asked<'_>],
    plan: &Plan,
    mode: GlobalMode,
) -> Result<Vec<Agent>, Failure> {
    let sandbox = planning_support() == PlanningSupport::Enforced;
    let (mut agents, mut problems) = (Vec::<Agent>::new(), String::new());
    for Asked { node, provider, tools } in asked {
        let problem = match fleet.choose(*provider) {
            Ok(agent) => {
                let doc_root = plan.doc_root.clone();
                let rules = Rules { tools: tools.cloned(), mode, doc_root, sandbox };
                let problem = agent.check(&rules).err().map(|error| error.to_string());
                if !agents.iter().any(|known| known.name == agent.name) {
                    agents.push(agent);
                }
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
        if let Some(problem) = problem {
            let _ = write!(problems, "\n  socket `{node}`: {problem}");
        }
    }
    if problems.is_empty() {
        return Ok(agents);
    }
    let message = format!("not every agent can be asked:{problems}");
    Err(Failure::resolution(message).hint(Hint::FindAgents))
}

/// What the project itself says about the agents that will be asked: it decides which program is
/// started and what that sees, so it needs the same trust as a command.
fn project_commands(loaded: &Loaded, agents: &[Agent]) -> Vec<ProjectCommand> {
    let own = agents.iter().filter_map(|agent| {
        let layer = loaded.agent_layer(&agent.name).filter(|it| it.kind == LayerKind::Project)?;
        let doc = loaded.config.agents.get(&agent.name)?;
        let mut command = vec![agent.program()];
        command.extend(doc.command.iter().flatten().skip(1).cloned());
        command.extend(doc.args.iter().cloned());
        command.extend(doc.env.iter().map(|name| format!("(sees ${name})")));
        let (materia, file) = (format!("agent {}", agent.name), layer.shown.clone());
        Some(ProjectCommand { materia, command, file })
    });
    own.collect()
}

impl Answering {
    /// What performs the agent turns, if anything has to. A recording begins here.
    pub fn runner(&self, supervisor: &Path) -> Result<Option<Arc<dyn Runner>>, Failure> {
        Ok(match self {
            Self::Nobody => None,
            Self::Recorded(recording, fleet) => {
                Some(Arc::new(ReplayRunner::new(recording.clone(), fleet.clone())))
            }
            Self::Live(fleet, record) => {
                let runner = AgentRunner::new(supervisor.to_owned(), fleet.clone());
                let Some(dir) = record else { return Ok(Some(Arc::new(runner))) };
                let recorder =
                    Recorder::create(dir).map_err(|error| Failure::storage(error.to_string()))?;
                Some(Arc::new(runner.with_recorder(recorder)))
            }
        })
    }
}
