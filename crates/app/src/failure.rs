//! What is said when something cannot be done: a refusal with a code, or that it broke off.
//!
//! Which exit status or status line that becomes is the matter of each door.

use materia_contract::{Finding, Refusal};
use materia_engine::{ClaimError, EngineError, LoadError, ReadError};
use materia_journal::OpenError;

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// It was refused before anything ran.
    #[error("{}", .0.message)]
    Refused(Box<Refusal>),
    /// It broke off in the middle.
    #[error("{0}")]
    Broken(String),
}

impl Failure {
    fn refused(code: &str, message: impl Into<String>) -> Self {
        let (code, message) = (code.to_owned(), message.into());
        Self::Refused(Box::new(Refusal { code, message, findings: Vec::new() }))
    }

    /// The command was written wrongly.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::refused("usage", message)
    }

    /// What was named is not there, or cannot be used for this.
    pub fn resolution(message: impl Into<String>) -> Self {
        Self::refused("resolution", message)
    }

    /// Nobody has approved the commands.
    pub fn trust(message: impl Into<String>) -> Self {
        Self::refused("trust", message)
    }

    /// Files cannot be read or written.
    pub fn storage(message: impl Into<String>) -> Self {
        Self::refused("storage", message)
    }

    /// The configuration has errors.
    pub fn configuration(message: impl Into<String>, findings: Vec<Finding>) -> Self {
        let (code, message) = ("configuration".to_owned(), message.into());
        Self::Refused(Box::new(Refusal { code, message, findings }))
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
            ClaimError::Io { .. } | ClaimError::Storage { .. } => Self::storage(error.to_string()),
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
