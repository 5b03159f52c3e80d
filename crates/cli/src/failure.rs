//! How a command can end, and what is said when it ends badly.

use std::io;

use materia_contract::{Finding, Refusal, RefusalReport};
use materia_engine::{ClaimError, EngineError, LoadError, ReadError};
use materia_journal::OpenError;

/// The exit status of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// All is well.
    Done,
    /// A cast failed, or a check did not hold.
    Failed,
    /// Nothing was done.
    Refused,
    /// A cast waits for a person.
    Waiting,
    /// A person interrupted it.
    Interrupted,
}

impl Exit {
    /// The number that the shell sees.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Refused => 2,
            Self::Waiting => 3,
            Self::Interrupted => 130,
        }
    }
}

/// Why a command did not come to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// It was refused before anything ran.
    #[error("{}", .0.message)]
    Refused(Box<Refusal>),
    /// It broke off in the middle.
    #[error("{0}")]
    Broken(String),
    /// Standard output is gone.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    fn refused(code: &str, message: impl Into<String>) -> Self {
        let (code, message) = (code.to_owned(), message.into());
        Self::Refused(Box::new(Refusal { code, message, findings: Vec::new() }))
    }

    /// The command was written wrongly.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::refused("usage", message)
    }

    /// What was named is not there, or cannot be used for this.
    pub(crate) fn resolution(message: impl Into<String>) -> Self {
        Self::refused("resolution", message)
    }

    /// Nobody has approved the commands.
    pub(crate) fn trust(message: impl Into<String>) -> Self {
        Self::refused("trust", message)
    }

    /// Files cannot be read or written.
    pub(crate) fn storage(message: impl Into<String>) -> Self {
        Self::refused("storage", message)
    }

    /// The configuration has errors.
    pub(crate) fn configuration(message: impl Into<String>, findings: Vec<Finding>) -> Self {
        let (code, message) = ("configuration".to_owned(), message.into());
        Self::Refused(Box::new(Refusal { code, message, findings }))
    }

    /// The object that `--json` prints, where there is one.
    pub(crate) fn report(self) -> Option<RefusalReport> {
        match self {
            Self::Refused(error) => Some(RefusalReport { error: *error }),
            Self::Broken(_) | Self::Output(_) => None,
        }
    }

    /// The exit status.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Refused(_) => Exit::Refused,
            // Whoever read has seen enough.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
            Self::Broken(_) | Self::Output(_) => Exit::Failed,
        }
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self::storage(error.to_string())
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::storage(error.to_string())
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Unknown(_) => Self::resolution(error.to_string()),
            LoadError::Read(_) | LoadError::Damaged { .. } => Self::storage(error.to_string()),
        }
    }
}

impl From<ClaimError> for Failure {
    fn from(error: ClaimError) -> Self {
        match error {
            ClaimError::Held { .. } => Self::resolution(error.to_string()),
            ClaimError::Io { .. } => Self::storage(error.to_string()),
        }
    }
}

/// For errors before a run has taken its first step; what comes later is no refusal.
impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Claim(error) => error.into(),
            EngineError::Load(error) => error.into(),
            EngineError::Drive(error) => Self::Broken(error.to_string()),
            EngineError::Exists(_) => {
                Self::resolution(format!("{error}; choose another `--cast-id`"))
            }
            EngineError::Newer { .. } => Self::resolution(error.to_string()),
        }
    }
}
