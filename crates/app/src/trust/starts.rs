//! Checks each start of a program in a cast again: only approved content runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use materia_compiler::{LayerKind, Loaded, Part, PartKind, Program};
use materia_contract::{Behavior, Link, Node, NodeId, Plan};
use materia_engine::{Approves, Pinned, TurnOrder, Work};

use super::agent_files;
use super::fact::Fact;
use super::files;
use super::store::Known;

/// The programs of a cast whose files have to be approved. Those of the user's own configuration are not among them.
#[derive(Debug, Clone, Default)]
pub struct Starts {
    utilities: BTreeMap<NodeId, Program>,
    agents: BTreeMap<String, Vec<Program>>,
    /// Where the casts of the project are, if agents may be asked: what these read in the project counts.
    casts: Option<PathBuf>,
}

impl Starts {
    /// Those of a plan with the paths of this machine, and those of the project's own agents. Without a configuration
    /// every program counts.
    pub fn of(plan: &Plan, link: Option<&Link>, loaded: Option<&Loaded>) -> Self {
        let parts = loaded.map(materia_compiler::parts).unwrap_or_default();
        let placed = placed_by_project(&parts, plan, link);
        let own = |program: &Program| {
            let by_user = link.is_some()
                || loaded.is_some_and(|it| it.config.loadouts.contains_key(&plan.loadout));
            loaded.is_some_and(|loaded| is_users(loaded, (placed, by_user), program))
        };
        let mut utilities = BTreeMap::new();
        for (id, node) in &plan.nodes {
            if let Some(program) = program_of(node).filter(|program| !own(program)) {
                utilities.insert(id.clone(), program);
            }
        }
        let agents = parts.into_iter().filter(|part| part.kind == PartKind::Agent);
        let agents = agents.map(|part| (part.name, part.programs)).collect();
        let casts = loaded.map(materia_compiler::artifact_dir);
        Self { utilities, agents, casts }
    }

    /// The programs of the plan, each once.
    pub(super) fn programs(&self) -> Vec<&Program> {
        let mut programs: Vec<&Program> = Vec::new();
        for program in self.utilities.values() {
            if !programs.contains(&program) {
                programs.push(program);
            }
        }
        programs
    }

    /// The programs that a turn starts.
    fn of_turn(&self, order: &TurnOrder) -> &[Program] {
        match &order.work {
            // A script answers in its place.
            Work::Utility { script: Some(_), .. } | Work::Agent { script: Some(_), .. } => &[],
            Work::Utility { script: None, .. } => {
                self.utilities.get(&order.node).map_or(&[], std::slice::from_ref)
            }
            Work::Agent { provider, .. } => {
                let named = provider.as_ref().and_then(|name| self.agents.get(name));
                named.map_or(&[], Vec::as_slice)
            }
        }
    }
}

/// The program of a node, if it runs one.
pub(super) fn program_of(node: &Node) -> Option<Program> {
    let Behavior::Utility { command, params } = &node.behavior else { return None };
    Some(Program {
        by: node.materia.clone(),
        command: command.clone(),
        params: params.clone(),
        env: node.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        cwd: node.cwd.clone(),
    })
}

/// Whether a graph of the project takes part in a plan: it can give parameters to programs of others.
fn placed_by_project(parts: &[Part], plan: &Plan, link: Option<&Link>) -> bool {
    let named = |part: &Part| match link {
        Some(link) => link.targets.iter().any(|target| target.name == part.name),
        None => plan.loadout == part.name,
    };
    parts.iter().any(|part| part.kind == PartKind::Loadout && named(part))
}

/// Whether a program of a plan belongs to a shipped materia or to one of the user, with nothing added by the project.
fn is_users(
    loaded: &Loaded,
    (placed_by_project, placed_by_user): (bool, bool),
    program: &Program,
) -> bool {
    let layer = loaded.materia_layer(&program.by).map(|layer| layer.kind);
    let Some(doc) = loaded.config.materia.get(&program.by) else { return false };
    if layer.is_none_or(|kind| kind == LayerKind::Project) {
        return false;
    }
    let env = doc.env.iter().map(|(name, value)| (name.clone(), value.clone()));
    let as_it_is = doc.params.clone().unwrap_or_default() == program.params
        && env.collect::<Vec<_>>() == program.env
        && doc.cwd == program.cwd;
    let shipped = layer == Some(LayerKind::Shipped) && as_it_is;
    if (placed_by_project && !shipped) || (!as_it_is && !placed_by_user) {
        return false;
    }
    match (&doc.command, &doc.script) {
        // As it would run: a path is seen from the folder of its configuration.
        (Some(_), _) => materia_compiler::materia_program(loaded, &program.by)
            .is_some_and(|now| now.command.first() == program.command.first()),
        (None, Some(script)) => program.command.get(1).is_some_and(|path| {
            Path::new(path).is_absolute() && Path::new(path).ends_with(&script.name)
        }),
        (None, None) => false,
    }
}

/// Approvals of a project.
#[derive(Debug, Default)]
pub(super) struct Approved {
    /// The project.
    pub(super) project: PathBuf,
    /// Approvals from the store.
    pub(super) known: Known,
    /// Approvals of this process.
    pub(super) news: Vec<Fact>,
}

impl Approved {
    pub(super) fn has(&self, fact: &Fact) -> bool {
        self.known.has(fact) || self.news.iter().any(|news| news.is(fact))
    }

    /// Whether something of this name was approved, as it is or otherwise.
    fn knows(&self, fact: &Fact) -> bool {
        let named = |news: &Fact| news.kind == fact.kind && news.name == fact.name;
        self.known.before(fact).is_some() || self.news.iter().any(named)
    }

    /// Says that something is not approved as it is.
    fn changed(&self, fact: &Fact) -> String {
        let how =
            if self.knows(fact) { "changed since it was approved" } else { "was not approved" };
        let name = crate::text::sanitize::one_line(&fact.name, 200);
        format!("{} `{name}` {how}", fact.kind.word())
    }

    /// The files of these programs in a folder, if each is approved as it is now; otherwise which is not.
    fn files(&self, folder: &Path, programs: &[Program]) -> Result<Vec<Pinned>, String> {
        let mut pinned = Vec::new();
        for (fact, place) in files::looked_at(folder, programs) {
            if !self.has(&fact) {
                return Err(self.changed(&fact));
            }
            pinned.push(place);
        }
        Ok(pinned)
    }
}

/// Checks the starts of a cast against the approvals.
pub(crate) struct Watch {
    pub(super) approved: Arc<Approved>,
    pub(super) starts: Starts,
    /// The folder whose files are looked at: the project, or a copy of it.
    pub(super) folder: PathBuf,
}

impl Watch {
    /// Refuses where a file of one of these agents' programs is not as it was approved.
    pub(crate) fn agents(&self, names: &[String]) -> Result<(), String> {
        let programs = names.iter().filter_map(|name| self.starts.agents.get(name));
        programs
            .clone()
            .try_for_each(|programs| self.approved.files(&self.folder, programs).map(drop))
    }
}

impl Watch {
    /// Refuses where a file of the project that agents take commands from is not as it was approved.
    fn read_by_agents(&self, folder: &Path) -> Result<(), String> {
        let Some(casts) = &self.starts.casts else { return Ok(()) };
        let home = materia_runners::agents::user_home();
        let found = agent_files::of(folder, casts, home.as_deref())
            .map_err(|failure| failure.to_string())?;
        let counts = |fact: &&Fact| {
            // An empty list counts only if it was not empty before.
            !fact.shown.is_empty() || self.approved.knows(fact)
        };
        match found.facts.iter().filter(counts).find(|fact| !self.approved.has(fact)) {
            None => Ok(()),
            Some(fact) => Err(self.approved.changed(fact)),
        }
    }
}

impl Approves for Watch {
    fn look(&self, order: &TurnOrder) -> Result<Vec<Pinned>, String> {
        if let Work::Agent { script: None, .. } = &order.work {
            match &order.files {
                None => self.read_by_agents(&self.folder)?,
                // The copy has what was committed, which need not be what was approved.
                Some(_) => self.read_by_agents(&order.cwd).map_err(|why| {
                    format!("{why} as it is in the workspace `{}`", order.cwd.display())
                })?,
            }
        }
        self.approved.files(&self.folder, self.starts.of_turn(order))
    }
}
