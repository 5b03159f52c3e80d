//! Failure classes of a provider. They decide whether a retry can help.

use crate::schema::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a provider gave no usable answer, as far as it matters for what happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// It may go well the next time: an overloaded server, a broken stream, a killed process.
    Transient,
    /// Too much was asked of the provider; it goes on after a while.
    RateLimit,
    /// The provider does not know the user, or no longer.
    Auth,
    /// An answer came and breaks what was asked of it.
    Contract,
    /// It fails every time until a person changes something.
    Permanent,
    /// The session that was to be continued is gone; a fresh one may go well.
    SessionLost,
}

impl FailureClass {
    /// The word that stands for it outside.
    pub fn word(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::RateLimit => "rate_limit",
            Self::Auth => "auth",
            Self::Contract => "contract",
            Self::Permanent => "permanent",
            Self::SessionLost => "session_lost",
        }
    }

    /// Whether a later retry of the same turn may succeed without any change.
    pub fn retries(self) -> bool {
        match self {
            Self::Transient | Self::RateLimit | Self::SessionLost => true,
            Self::Auth | Self::Contract | Self::Permanent => false,
        }
    }
}
