//! Lines of a recording.

use materia_contract::Uuid;
use serde::{Deserialize, Serialize};

use crate::agents::{AgentSession, Cut, SessionPlan};

/// One line of a turn's file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(in crate::agents) enum Line {
    /// Who was asked what.
    Turn {
        /// The socket.
        node: String,
        /// The how-manieth turn of it.
        visit: u32,
        /// The how-manieth try.
        attempt: u32,
        /// The agent.
        agent: String,
        /// The hash of the prompt as it was given.
        prompt_hash: String,
        /// The prompt, secrets removed.
        prompt: String,
    },
    /// A process starts.
    Process {
        /// Its program and arguments.
        argv: Vec<String>,
        /// The names of the variables it sees.
        env: Vec<String>,
        /// Its session.
        session: Session,
    },
    /// It wrote to standard output.
    Out {
        /// Milliseconds since its start.
        t: u64,
        /// Its output.
        text: String,
    },
    /// It wrote something to standard output that is no text.
    OutBytes {
        /// Milliseconds since its start.
        t: u64,
        /// Its output.
        bytes: Vec<u8>,
    },
    /// It wrote to standard error.
    Err {
        /// Milliseconds since its start.
        t: u64,
        /// Its output, as text.
        text: String,
    },
    /// It ended.
    Exit {
        /// Milliseconds since its start.
        t: u64,
        /// Its exit code.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// Why it was ended by us.
        cut: Option<CutWord>,
    },
}

/// The session of a recorded process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::agents) enum Session {
    /// It began one, under this name if the program accepts a name.
    Fresh(Uuid),
    /// It went on in one.
    Resume(AgentSession),
}

impl From<&SessionPlan> for Session {
    fn from(plan: &SessionPlan) -> Self {
        match plan {
            SessionPlan::Fresh { id } => Self::Fresh(*id),
            SessionPlan::Resume(session) => Self::Resume(session.clone()),
        }
    }
}

impl From<Session> for SessionPlan {
    fn from(session: Session) -> Self {
        match session {
            Session::Fresh(id) => Self::Fresh { id },
            Session::Resume(session) => Self::Resume(session),
        }
    }
}

/// [`Cut`], as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::agents) enum CutWord {
    Idle,
    Wall,
    Asked,
    Flood,
}

impl From<Cut> for CutWord {
    fn from(cut: Cut) -> Self {
        match cut {
            Cut::Idle => Self::Idle,
            Cut::Wall => Self::Wall,
            Cut::Asked => Self::Asked,
            Cut::Flood => Self::Flood,
        }
    }
}

impl From<CutWord> for Cut {
    fn from(word: CutWord) -> Self {
        match word {
            CutWord::Idle => Self::Idle,
            CutWord::Wall => Self::Wall,
            CutWord::Asked => Self::Asked,
            CutWord::Flood => Self::Flood,
        }
    }
}
