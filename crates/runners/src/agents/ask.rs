//! What an agent is asked to do in one turn.

use std::path::PathBuf;

use materia_contract::{Amount, GlobalMode, ToolsDoc, Uuid};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AdapterError, Totals};

/// What an agent is asked to do in one turn.
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
    /// What it may write.
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
    /// What the configuration says about this agent.
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
    /// What the program last reported as the total of the session; absent means unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totals: Option<Totals>,
}

/// What the configuration says about one agent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentSettings {
    /// The program and its first arguments, instead of the usual name on the path.
    pub program: Option<Vec<String>>,
    /// Further variables that are passed on.
    pub env: Vec<String>,
    /// Arguments put behind all others of the first command.
    pub args: Vec<String>,
    /// How often the program itself may try a failed request again, where it can be told.
    pub retries: Option<u32>,
    /// The most one turn may cost, where the program can be told.
    pub max_cost: Option<Amount>,
    /// The home folder, under which programs keep their state. Absent: nothing is known of it.
    pub home: Option<PathBuf>,
    /// Where the program keeps its state, if a variable moves it away from its usual place.
    pub state_dir: Option<PathBuf>,
    /// What tokens cost.
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
            SessionPlan::Resume(session) if session.agent == agent => Ok(Some(session)),
            SessionPlan::Resume(session) => {
                Err(AdapterError::ForeignSession { agent, owner: session.agent.clone() })
            }
        }
    }

    /// The start of the command line: the program of the settings, or its usual name.
    pub(crate) fn program(&self, usual: &str) -> Vec<String> {
        match &self.settings.program {
            Some(program) if !program.is_empty() => program.clone(),
            Some(_) | None => vec![usual.to_owned()],
        }
    }

    /// A place under the home folder, if that is known.
    pub(crate) fn in_home(&self, rest: &str) -> Option<PathBuf> {
        self.settings.home.as_ref().map(|home| home.join(rest))
    }
}
