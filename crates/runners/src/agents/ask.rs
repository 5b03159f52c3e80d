//! Input of an agent's turn.

use std::path::PathBuf;

use materia_contract::{Amount, GlobalMode, ToolsDoc, Uuid};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AdapterError, Totals};

/// Input of an agent's turn.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The exact text it gets.
    pub prompt: String,
    /// The project folder.
    pub cwd: PathBuf,
    /// The folder of the cast.
    pub run_dir: PathBuf,
    /// A private folder of this turn, for files the command line names. It exists already.
    pub scratch: PathBuf,
    /// The session it belongs to.
    pub session: SessionPlan,
    /// The tools it may use; absent means whatever the mode allows.
    pub tools: Option<ToolsDoc>,
    /// Write mode.
    pub mode: GlobalMode,
    /// The only folder it may write to in Planning mode, relative to `cwd`.
    pub doc_root: String,
    /// Whether Materia's own sandbox is around the process, so that it can write only where the mode
    /// lets it. What an agent's own flags cannot express is then allowed by them.
    pub confined: bool,
    /// Whether commands may use the network, if the policy says so.
    pub network: Option<bool>,
    /// The model, if one was chosen.
    pub model: Option<String>,
    /// A JSON Schema of the answer, if one is wanted.
    pub schema: Option<Value>,
    /// Configuration of this agent.
    pub settings: AgentSettings,
}

/// The session of a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionPlan {
    /// A new one; it bears this name where the program lets us choose.
    Fresh {
        /// The name.
        id: Uuid,
    },
    /// One that an earlier turn has left behind.
    Resume(AgentSession),
}

/// A session as its program knows it, and what must be remembered about it.
///
/// This is what has to be kept between two turns, whole: without `totals` the usage of the next
/// turn is unknown for programs that report only the total of the session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentSession {
    /// The name of the agent whose session it is.
    pub agent: String,
    /// Its name as the program gave it.
    pub id: String,
    /// Last reported totals of the session; absent means unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totals: Option<Totals>,
}

/// The longest name of a session that is kept.
const SESSION_ID_BYTES_MAX: usize = 200;

impl AgentSession {
    /// Whether its name can stand among the arguments of a program without being taken for a flag,
    /// a path or anything else. The name comes from a program that may say what it likes.
    pub fn is_usable(&self) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
        (1..=SESSION_ID_BYTES_MAX).contains(&self.id.len())
            && !self.id.starts_with('-')
            && self.id.bytes().all(plain)
    }
}

/// Configuration of one agent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentSettings {
    /// The program and its first arguments, instead of the usual name on the path.
    pub program: Option<Vec<String>>,
    /// Further variables that are passed on.
    pub env: Vec<String>,
    /// Arguments put behind all others of the first command.
    pub args: Vec<String>,
    /// Maximum retries of a failed request by the program itself, if the program has an option for it.
    pub retries: Option<u32>,
    /// Maximum cost of one turn, if the program has an option for it.
    pub max_cost: Option<Amount>,
    /// The home folder, under which programs keep their state. Absent: nothing is known of it.
    pub home: Option<PathBuf>,
    /// Value of the variable of its [`Home`](super::Home) in our own environment.
    pub state_dir: Option<PathBuf>,
    /// Token prices.
    pub prices: super::Prices,
}

impl Ask {
    /// The session to continue, if there is one and it is the agent's own.
    pub(crate) fn resumed(
        &self,
        agent: &'static str,
    ) -> Result<Option<&AgentSession>, AdapterError> {
        match &self.session {
            SessionPlan::Fresh { .. } => Ok(None),
            SessionPlan::Resume(session) if session.agent == agent && session.is_usable() => {
                Ok(Some(session))
            }
            SessionPlan::Resume(session) if session.agent == agent => {
                Err(AdapterError::UnusableSession { agent })
            }
            SessionPlan::Resume(session) => {
                Err(AdapterError::ForeignSession { agent, owner: session.agent.clone() })
            }
        }
    }

    /// The model that was chosen, if any. One that could be taken for a flag is refused.
    pub(crate) fn chosen_model(&self, agent: &'static str) -> Result<Option<&str>, AdapterError> {
        match self.model.as_deref() {
            Some(model) if model.starts_with('-') => Err(AdapterError::Cannot {
                agent,
                what: format!("use the model `{model}`: its name begins with `-`"),
                help: "write the model as the agent's own documentation names it".to_owned(),
            }),
            chosen => Ok(chosen),
        }
    }

    /// The start of the command line: the program of the settings, or its usual name.
    pub(crate) fn program(&self, usual: &str) -> Vec<String> {
        match &self.settings.program {
            Some(program) if !program.is_empty() => program.clone(),
            Some(_) | None => vec![usual.to_owned()],
        }
    }
}
