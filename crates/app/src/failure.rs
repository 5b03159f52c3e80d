//! Errors of the application: a refusal with a code, or a failure in the middle.
//!
//! The command line turns them into exit statuses, the server into HTTP statuses.

use materia_contract::{EventError, Finding, Refusal, RefusalCode};
use materia_engine::{ClaimError, EngineError, LoadError, PostError, ReadError};
use materia_journal::OpenError;

use crate::options::Contradiction;

/// The result of what was asked for, or why it was not done.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// It was refused before anything ran.
    #[error("{}", .0.refusal.message)]
    Refused(Box<Refused>),
    /// Its options do not go together.
    #[error(transparent)]
    Contradiction(#[from] Contradiction),
    /// It broke off in the middle.
    #[error("{0}")]
    Broken(String),
}

/// A refusal, and what would help.
#[derive(Debug, Clone)]
pub struct Refused {
    /// The refusal.
    pub refusal: Refusal,
    /// Suggestion; the command line or the page turns it into its own words.
    pub hint: Option<Hint>,
}

/// A next step that helps the user after a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// To look which casts there are.
    ListCasts,
    /// To give the new cast another id.
    OtherId,
    /// To say where the profile is.
    NameProfile,
    /// To look which agents are there, or to do without any.
    FindAgents,
    /// To say where the state folder is.
    NameState,
    /// To work in the project folder instead.
    InProject,
    /// To look at a journal, and to trust it.
    TrustJournal,
    /// To store the command only, or to bring the cast to this folder.
    BringHere,
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(Refused { refusal, hint: None }))
    }
}

impl Failure {
    fn refused(code: RefusalCode, message: impl Into<String>) -> Self {
        Refusal { code, message: message.into(), findings: Vec::new() }.into()
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(self, hint: Hint) -> Self {
        match self {
            Self::Refused(mut refused) => {
                refused.hint = Some(hint);
                Self::Refused(refused)
            }
            other @ (Self::Contradiction(_) | Self::Broken(_)) => other,
        }
    }

    /// The arguments or the request are not valid.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::refused(RefusalCode::Usage, message)
    }

    /// The named thing does not exist, or cannot be used for this.
    pub fn resolution(message: impl Into<String>) -> Self {
        Self::refused(RefusalCode::Resolution, message)
    }

    /// The commands are not approved.
    pub fn trust(message: impl Into<String>) -> Self {
        Self::refused(RefusalCode::Trust, message)
    }

    /// The caller has no permission.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::refused(RefusalCode::Forbidden, message)
    }

    /// Files cannot be read or written.
    pub fn storage(message: impl Into<String>) -> Self {
        Self::refused(RefusalCode::Storage, message)
    }

    /// The configuration has errors.
    pub fn configuration(message: impl Into<String>, findings: Vec<Finding>) -> Self {
        let code = RefusalCode::Configuration;
        Refusal { code, message: message.into(), findings }.into()
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let message = error.to_string();
        if let OpenError::Foreign { .. } = error {
            return Self::trust(message).hint(Hint::TrustJournal);
        }
        let failure = Self::storage(message);
        if let OpenError::State { .. } = error { failure.hint(Hint::NameState) } else { failure }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::storage(error.to_string())
    }
}

impl From<EventError> for Failure {
    fn from(error: EventError) -> Self {
        Self::storage(error.to_string())
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Unknown(_)
            | LoadError::Newer { .. }
            | LoadError::Earlier { .. }
            | LoadError::NoSuchEvent(_) => Self::resolution(error.to_string()),
            LoadError::Read(_) | LoadError::Damaged { .. } => Self::storage(error.to_string()),
        }
    }
}

impl From<PostError> for Failure {
    fn from(error: PostError) -> Self {
        match error {
            PostError::OtherBody(_) => Self::resolution(error.to_string()),
            PostError::Read(error) => error.into(),
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
            EngineError::Lost(_) => Self::Broken(error.to_string()),
            EngineError::Exists(_) => Self::resolution(error.to_string()).hint(Hint::OtherId),
            EngineError::NotApproved(_) => Self::trust(error.to_string()),
            EngineError::HandedOver(_)
            | EngineError::Leftovers(..)
            | EngineError::Workspace(..)
            | EngineError::Answered(_)
            | EngineError::OtherBody(_) => Self::resolution(error.to_string()),
        }
    }
}
