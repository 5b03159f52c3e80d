//! Coding agents: the process that performs a turn, and the meaning of its output.
//!
//! An [`Adapter`] knows one program: the command line that starts or resumes a turn under the policy of its socket,
//! and a [`Reader`] for the event stream that it prints. Adapters are pure: they start no process, do not block and
//! touch no file. The caller writes the files of a [`Launch`], runs the process, feeds the stream to the reader and
//! keeps the raw bytes.
//!
//! # Invariants
//!
//! * The outcome of a turn comes from the terminal event of its stream. A stream without one has failed, whatever the
//!   exit code; a good terminal event is good, whatever follows it.
//! * A reader never panics and never fails: it ignores unknown input.
//! * The usage of a turn is the usage of *this turn*. If a program reports the total of its session, [`AgentSession`]
//!   keeps the total so far, which is subtracted.
//!
//! Deliberately absent: retries, timeouts, locks and stored sessions, which belong to the caller; and any rule of a
//! run.

pub mod acp;
mod ask;
pub mod claude;
pub mod codex;
mod detect;
mod environment;
pub mod failure;
pub mod gemini;
mod home;
mod json;
mod live;
pub mod pi;
mod playback;
pub mod price;
mod private_files;
mod process;
mod record;
mod registry;
mod renewal;
mod report;
mod runner;
mod session_files;
mod sessions;
mod stream_reader;
mod tools;
mod transcript;
mod transcript_tail;
pub mod usage;
mod watchdog;
mod write_access;

use std::path::PathBuf;

pub use crate::redact::{MARK, Redactor, Secrets};
pub use ask::{AgentSession, AgentSettings, Ask, SessionPlan};
pub use detect::{Examined, Login, Runtime, examine, node, versions};
pub use environment::allows;
pub use failure::{AgentFault, FailureClass};
pub use home::{Changed, Home, Login as StoredLogin};
pub use live::DOES;
pub use materia_contract::capability::{self, Capabilities};
pub use playback::ReplayRunner;
pub use price::Prices;
pub use record::{RecordError, Recorder, Recording};
pub use registry::{Agent, AgentRegistry, NoAgent, Rules, user_home};
pub use runner::{AgentRunner, SESSION_PATIENCE_DEFAULT};
pub use stream_reader::OUTPUT_BYTES_MAX;
pub use tools::{Grant, Reach, Tool};
pub use transcript::TRANSCRIPT_BYTES_MAX;
pub use transcript_tail::TranscriptTail;
pub use usage::{Totals, Usage};
pub use watchdog::{GRACE_DEFAULT, IDLE_DEFAULT, LINGER_DEFAULT, Limits, WALL_DEFAULT};

use serde_json::Value;

/// One program that can perform agent turns.
pub trait Adapter: Send + Sync {
    /// The name authors write as `provider`.
    fn name(&self) -> &'static str {
        self.capabilities().name
    }

    /// Its capabilities.
    fn capabilities(&self) -> &'static Capabilities;

    /// The process that performs this turn, or why none can.
    fn launch(&self, ask: &Ask) -> Result<Launch, AdapterError>;

    /// Reader of this turn's stream.
    fn reader(&self, ask: &Ask) -> Box<dyn Reader>;

    /// How to find out whether it is there and usable.
    fn probe(&self) -> Probe;

    /// The folder in the user's home in which it keeps its state. Only the adapters that we ship name one.
    fn home(&self) -> Option<&'static Home> {
        None
    }

    /// Whether its process is answered while it runs, by [`Reader::reply`]. Its standard input then
    /// stays open until the turn is [settled](Reader::settled).
    fn dialogue(&self) -> bool {
        false
    }
}

/// An adapter that we ship.
#[derive(Debug)]
pub struct Shipped {
    capabilities: &'static Capabilities,
    launch: fn(&Ask) -> Result<Launch, AdapterError>,
    reader: fn(&Ask) -> Box<dyn Reader>,
    home: &'static Home,
    probe: Probe,
}

impl Adapter for Shipped {
    fn capabilities(&self) -> &'static Capabilities {
        self.capabilities
    }

    fn launch(&self, ask: &Ask) -> Result<Launch, AdapterError> {
        (self.launch)(ask)
    }

    fn reader(&self, ask: &Ask) -> Box<dyn Reader> {
        (self.reader)(ask)
    }

    fn probe(&self) -> Probe {
        self.probe.clone()
    }

    fn home(&self) -> Option<&'static Home> {
        Some(self.home)
    }
}

/// Every adapter of this version, in the order in which one is looked for.
pub fn native() -> [&'static dyn Adapter; 4] {
    [&claude::ADAPTER, &codex::ADAPTER, &gemini::ADAPTER, &pi::ADAPTER]
}

/// The adapter of that name.
pub fn by_name(name: &str) -> Option<&'static dyn Adapter> {
    native().into_iter().find(|adapter| adapter.name() == name)
}

/// Reads the stream of one turn.
///
/// Lines are handed over in order as they arrive, without their line feed; the last one may be cut.
/// What a line says is either understood or ignored.
pub trait Reader: Send {
    /// Takes one line of standard output; returns what is worth showing at once.
    fn line(&mut self, bytes: &[u8]) -> Vec<LiveEvent>;

    /// Takes one line of standard error.
    fn stderr(&mut self, bytes: &[u8]);

    /// Whether the outcome is known. A process that does not end soon after by itself may be
    /// ended; that changes nothing about the outcome.
    fn settled(&self) -> bool;

    /// Next bytes for the process's input; called after every piece of its output.
    fn reply(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Last bytes for the process's input before it is asked to exit.
    fn farewell(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Outcome of the turn.
    fn finish(self: Box<Self>, exit: Exit) -> Ended;
}

/// The process to start for a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// The program and its arguments; no shell reads them.
    pub argv: Vec<String>,
    /// Standard input, which is then closed.
    pub stdin: Vec<u8>,
    /// Variables to set.
    pub set_env: Vec<(String, String)>,
    /// Names of variables that are passed on where they are set; a final `*` stands for any rest.
    /// Nothing else of our own environment reaches the process.
    pub pass_env: Vec<String>,
    /// Files to write before the start, all of them below [`Ask::scratch`].
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// The signal that asks it to stop politely.
    pub polite: Polite,
}

/// The signal by which a program cleans up after itself best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Polite {
    /// SIGTERM.
    Terminate,
    /// SIGINT.
    Interrupt,
}

/// Why an adapter cannot perform a turn. The compiler says the same before the cast where it can.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdapterError {
    /// The agent has no way to keep a rule of the socket.
    #[error("{agent} cannot {what}; {help}")]
    Cannot {
        /// The agent.
        agent: &'static str,
        /// The missing capability.
        what: String,
        /// Remedy.
        help: String,
    },
    /// The session has a name that cannot be an argument.
    #[error("the session has a name that {agent} cannot be given; start a fresh one")]
    UnusableSession {
        /// The agent that was asked.
        agent: &'static str,
    },
    /// A session of another agent was handed over.
    #[error("the session belongs to {owner} and {agent} cannot continue it; start a fresh one")]
    ForeignSession {
        /// The agent that was asked.
        agent: &'static str,
        /// The agent that began the session.
        owner: String,
    },
}

/// How a process ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exit {
    /// Its exit code.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Why we ended it, if we did.
    pub cut: Option<Cut>,
}

/// Why a process was ended by us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// It said nothing for too long.
    Idle,
    /// It took too long as a whole.
    Wall,
    /// The cast was stopped.
    Asked,
    /// It said more than we keep.
    Flood,
}

/// Outcome of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// The answer, or why there is none.
    pub outcome: Result<Answer, AgentFault>,
    /// The session as it stands now, to be kept for the next turn. There even if the turn failed, as
    /// soon as the program has named it.
    pub session: Option<AgentSession>,
    /// Usage of this turn, as far as it is known.
    pub usage: Usage,
}

/// Note about a session whose name cannot be an argument.
const UNUSABLE_SESSION: &str = "the agent named its session with other characters than A-Z, a-z, 0-9, `.`, `_`, `:` \
     and `-`, or with a `-` in front; it is not kept, and the next turn begins anew";

impl Ended {
    /// Drops a session that no longer exists, so that it is not resumed again, and one whose name cannot be an
    /// argument of the next turn.
    fn honest(mut self) -> Self {
        if self.session.take_if(|session| !session.is_usable()).is_some()
            && let Ok(answer) = &mut self.outcome
        {
            answer.notes.push(UNUSABLE_SESSION.to_owned());
        }
        if let Err(fault) = &self.outcome
            && fault.class == FailureClass::SessionLost
        {
            self.session = None;
        }
        self
    }
}

/// An agent's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The final text. Where the program checked an object against the schema, its JSON.
    pub text: String,
    /// The object that the program itself checked against the schema.
    pub structured: Option<Value>,
    /// Things worth a warning, such as tool calls that were denied.
    pub notes: Vec<String>,
}

/// Something a turn shows while it runs. No fact, only news.
#[derive(Debug, Clone, PartialEq)]
pub enum LiveEvent {
    /// The program has begun; which model answers, if it says so.
    Started {
        /// The model.
        model: Option<String>,
    },
    /// The next piece of the answer.
    Delta(String),
    /// A whole message, where the program sends no pieces.
    Message(String),
    /// A tool is used.
    Tool {
        /// Its name as the program says it.
        name: String,
        /// Its subject: a command, a path, a pattern.
        about: String,
    },
    /// A tool has finished.
    ToolDone {
        /// Its name, if known.
        name: String,
        /// Whether it went well.
        ok: bool,
    },
    /// A file was written.
    File(PathBuf),
    /// The program tries again by itself.
    Retry(String),
    /// Something a person should know.
    Warning(String),
}

/// How to find out whether an agent is installed and logged in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The program, as it is looked for on the path.
    pub program: &'static str,
    /// Arguments that make it print its version.
    pub version: &'static [&'static str],
    /// Arguments that make it say whether it is logged in: exit 0 means yes. Absent where it
    /// cannot say.
    pub login: Option<&'static [&'static str]>,
    /// Variables of which one, if set, is a login.
    pub keys: &'static [&'static str],
    /// Files of which one, if it is there, is a login; relative to the home folder.
    pub credentials: &'static [&'static str],
    /// How to install it, as a command to show.
    pub install: &'static str,
    /// How to log in, as a sentence to show.
    pub how_to_log_in: &'static str,
    /// The version these adapters were written against.
    pub tested: &'static str,
}
