//! Known agents: chooses one for each socket, and knows how to start it.
//!
//! The order: the socket's own `provider`, the provider named for the cast by a person or the configuration, the first
//! installed one of claude, codex, gemini, pi, and last the agents of the configuration, in its order.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use materia_contract::{
    AgentDoc, AgentProtocol, GlobalMode, PricesDoc, ToolsDoc, Uuid, program_places,
};

use super::acp::Acp;
use super::{
    Adapter, AdapterError, AgentSettings, Ask, Grant, Prices, Reach, SessionPlan, by_name, native,
};

/// Why there is no agent for a socket.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoAgent {
    /// It is unknown.
    #[error("there is no agent `{name}`; known are {}", .known.join(", "))]
    Unknown {
        /// Requested name.
        name: String,
        /// Known names.
        known: Vec<String>,
    },
    /// It is known and not there.
    #[error(
        "the agent `{name}` is not installed: no program `{program}` in any folder of PATH; {install}"
    )]
    NotInstalled {
        /// Its name.
        name: String,
        /// The program that was looked for.
        program: String,
        /// How to get it.
        install: String,
    },
    /// None was named and none is there.
    #[error("no agent is installed; looked for {}", .looked_for.join(", "))]
    None {
        /// The programs that were looked for.
        looked_for: Vec<String>,
    },
    /// It has a protocol and no command.
    #[error(
        "the agent `{name}` speaks a protocol, and the configuration does not say which program to start: it needs a `command`"
    )]
    NoCommand {
        /// Its name.
        name: String,
    },
}

/// The rules that an agent is to be held to.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// The tools of the socket, if its author said so.
    pub tools: Option<ToolsDoc>,
    /// Write mode of the turns.
    pub mode: GlobalMode,
    /// The folder of documents.
    pub doc_root: String,
    /// Whether the kernel can hold a process to its folders.
    pub sandbox: bool,
}

/// One agent, ready to be asked.
#[derive(Clone)]
pub struct Agent {
    /// Its name, as authors write it.
    pub name: String,
    /// How it is started and what it costs.
    pub settings: AgentSettings,
    /// The model where a materia names none.
    pub model: Option<String>,
    /// How long it may say nothing, if the configuration says so.
    pub idle: Option<Duration>,
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Native(&'static dyn Adapter),
    Acp(Arc<Acp>),
}

impl Agent {
    /// Adapter of its program.
    pub fn adapter(&self) -> &dyn Adapter {
        match &self.kind {
            Kind::Native(adapter) => *adapter,
            Kind::Acp(acp) => acp.as_ref(),
        }
    }

    /// Whether it can be held to the rules of a socket; what the compiler cannot know before an
    /// agent is chosen is found out here, before anything runs.
    pub fn check(&self, rules: &Rules) -> Result<(), AdapterError> {
        let mut ask = Ask {
            prompt: String::new(),
            cwd: PathBuf::new(),
            run_dir: PathBuf::new(),
            scratch: PathBuf::new(),
            session: SessionPlan::Fresh { id: Uuid::nil() },
            tools: rules.tools.clone(),
            mode: rules.mode,
            doc_root: rules.doc_root.clone(),
            confined: false,
            network: None,
            model: None,
            schema: None,
            settings: self.settings.clone(),
        };
        let bounded = match rules.mode {
            GlobalMode::Planning => true,
            GlobalMode::Implementation => looks_only(&ask),
        };
        ask.confined = bounded && rules.sandbox;
        self.adapter().launch(&ask).map(drop)
    }

    /// The program that is started.
    pub fn program(&self) -> String {
        let own = self.settings.program.as_ref().and_then(|program| program.first());
        match (own, &self.kind) {
            (Some(program), _) => program.clone(),
            (None, Kind::Native(adapter)) => adapter.probe().program.to_owned(),
            (None, Kind::Acp(acp)) => acp.command.first().cloned().unwrap_or_default(),
        }
    }
}

/// The user's home, where agents keep what is the user's own.
pub fn user_home() -> Option<PathBuf> {
    env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// All agents that there could be.
#[derive(Debug, Clone, Default)]
pub struct AgentRegistry {
    agents: Vec<(String, AgentDoc)>,
    prices: Prices,
    preferred: Option<String>,
    path: Option<OsString>,
    home: Option<PathBuf>,
}

impl AgentRegistry {
    /// The agents of a configuration in this process's environment; `preferred` is the one for
    /// sockets that name none.
    pub fn new(
        agents: impl IntoIterator<Item = (String, AgentDoc)>,
        prices: PricesDoc,
        preferred: Option<String>,
    ) -> Self {
        Self {
            agents: agents.into_iter().collect(),
            prices: Prices::with(prices),
            preferred,
            path: env::var_os("PATH"),
            home: user_home(),
        }
    }

    /// The same agents, with their folders in another home than the environment names.
    #[must_use]
    pub fn with_home(self, home: PathBuf) -> Self {
        Self { home: Some(home), ..self }
    }

    /// The names of all agents, in the order in which one is looked for.
    pub fn names(&self) -> Vec<String> {
        let known = native().into_iter().map(|adapter| adapter.name().to_owned());
        let own = self.agents.iter().map(|(name, _)| name.clone());
        known.chain(own.filter(|name| by_name(name).is_none())).collect()
    }

    /// The agent for a socket that names this one, or none.
    pub fn choose(&self, named: Option<&str>) -> Result<Agent, NoAgent> {
        if let Some(name) = named.or(self.preferred.as_deref()) {
            let agent = self.named(name)?;
            return match self.find(&agent) {
                Some(_) => Ok(agent),
                None => Err(NoAgent::NotInstalled {
                    name: name.to_owned(),
                    program: agent.program(),
                    install: format!("`{}` installs it", agent.adapter().probe().install),
                }),
            };
        }
        let mut looked_for = Vec::new();
        for agent in self.names().iter().filter_map(|name| self.named(name).ok()) {
            if self.find(&agent).is_some() {
                return Ok(agent);
            }
            looked_for.push(agent.program());
        }
        Err(NoAgent::None { looked_for })
    }

    /// The agent of that name, installed or not.
    pub fn named(&self, name: &str) -> Result<Agent, NoAgent> {
        let doc = self.agents.iter().find(|(known, _)| known == name).map(|(_, doc)| doc);
        let unknown = || NoAgent::Unknown { name: name.to_owned(), known: self.names() };
        let kind = match (doc.and_then(|doc| doc.protocol), by_name(name)) {
            (Some(AgentProtocol::Acp), _) => {
                let command = doc.and_then(|doc| doc.command.clone()).unwrap_or_default();
                if command.is_empty() {
                    return Err(NoAgent::NoCommand { name: name.to_owned() });
                }
                Kind::Acp(Arc::new(Acp { name: name.to_owned(), command }))
            }
            (None, Some(adapter)) => Kind::Native(adapter),
            (None, None) => return Err(unknown()),
        };
        let doc = doc.cloned().unwrap_or_default();
        Ok(Agent {
            name: name.to_owned(),
            settings: AgentSettings {
                program: doc.command,
                env: doc.env,
                args: doc.args,
                retries: doc.retries,
                max_cost: doc.max_turn_cost,
                home: self.home.clone(),
                state_dir: state_dir(&kind),
                prices: self.prices.clone(),
            },
            model: doc.model,
            idle: doc.idle_ms.map(Duration::from_millis),
            kind,
        })
    }

    /// The agent whose stream was recorded. It need not be there: nothing is started.
    pub(super) fn recorded(&self, name: &str) -> Result<Agent, NoAgent> {
        match self.named(name) {
            // A recording names agents that this configuration may not have.
            Err(NoAgent::Unknown { .. } | NoAgent::NoCommand { .. }) => Ok(Agent {
                name: name.to_owned(),
                settings: AgentSettings { prices: self.prices.clone(), ..AgentSettings::default() },
                model: None,
                idle: None,
                kind: Kind::Acp(Arc::new(Acp { name: name.to_owned(), command: Vec::new() })),
            }),
            known => known,
        }
    }

    /// Where the program of an agent is, if it is anywhere.
    pub fn find(&self, agent: &Agent) -> Option<PathBuf> {
        find_program(&agent.program(), self.path.as_deref())
    }

    /// The home folder, as far as it is known.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }
}

/// Value of the variable that moves an agent's state folder. Only shipped adapters have one.
fn state_dir(kind: &Kind) -> Option<PathBuf> {
    let Kind::Native(adapter) = kind else { return None };
    let value = env::var_os(adapter.home()?.variable).filter(|value| !value.is_empty())?;
    std::path::absolute(PathBuf::from(value)).ok()
}

/// Looks for a program as the system would: by its path, or in the absolute folders of `path`.
pub(super) fn find_program(program: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    if program.is_empty() {
        return None;
    }
    program_places(program, path).into_iter().find(|place| is_executable(place))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Whether a turn should change nothing at all. The kernel holds it to that whatever its mode, beside the
/// agent's own rules, which the agent could be talked out of.
pub(super) fn looks_only(ask: &Ask) -> bool {
    Grant::reach(ask) == Reach::Nothing
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn fleet(dir: &Path, programs: &[&str], preferred: Option<&str>) -> AgentRegistry {
        for program in programs {
            let path = dir.join(program);
            fs::write(&path, "").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let own = AgentDoc {
            protocol: Some(AgentProtocol::Acp),
            command: Some(vec!["mine".to_owned(), "--acp".to_owned()]),
            ..AgentDoc::default()
        };
        let moved = AgentDoc { command: Some(vec!["other-pi".to_owned()]), ..AgentDoc::default() };
        let broken = AgentDoc { protocol: Some(AgentProtocol::Acp), ..AgentDoc::default() };
        let agents = [("my-own", own), ("pi", moved), ("broken", broken)]
            .map(|(name, doc)| (name.to_owned(), doc));
        let mut fleet =
            AgentRegistry::new(agents, PricesDoc::default(), preferred.map(str::to_owned));
        fleet.path = Some(dir.as_os_str().to_owned());
        fleet
    }

    fn name(fleet: &AgentRegistry, named: Option<&str>) -> Result<String, NoAgent> {
        fleet.choose(named).map(|agent| agent.name)
    }

    #[test]
    fn the_first_installed_one_in_a_fixed_order_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(name(&fleet(dir.path(), &[], None), None), Err(NoAgent::None { .. })));
        for (installed, expected) in [
            ("mine", "my-own"),
            ("other-pi", "pi"),
            ("gemini", "gemini"),
            ("codex", "codex"),
            ("claude", "claude"),
        ] {
            assert_eq!(name(&fleet(dir.path(), &[installed], None), None).unwrap(), expected);
        }
    }

    #[test]
    fn who_is_named_is_taken_or_missed() {
        let dir = tempfile::tempdir().unwrap();
        let fleet = fleet(dir.path(), &["claude", "codex"], Some("codex"));
        assert_eq!(name(&fleet, None).unwrap(), "codex");
        assert_eq!(name(&fleet, Some("claude")).unwrap(), "claude");
        assert!(matches!(name(&fleet, Some("pi")), Err(NoAgent::NotInstalled { .. })));
        let unknown = name(&fleet, Some("clod")).unwrap_err();
        assert!(unknown.to_string().contains("claude, codex, gemini, pi, my-own"), "{unknown}");
        assert!(matches!(name(&fleet, Some("broken")), Err(NoAgent::NoCommand { .. })));
    }

    #[test]
    fn a_file_that_cannot_run_is_no_program() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("claude"), "").unwrap();
        let fleet = fleet(dir.path(), &[], None);
        assert!(fleet.choose(Some("claude")).is_err());
    }
}
