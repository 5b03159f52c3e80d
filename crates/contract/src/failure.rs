//! Failure classes of a provider. They decide whether a retry can help.

use crate::enum_words::words;

words!(
    /// Why a provider gave no usable answer, as far as it matters for what happens next.
    FailureClass {
        /// It may go well the next time: an overloaded server, a broken stream, a killed process.
        Transient = "transient",
        /// Too much was asked of the provider; it goes on after a while.
        RateLimit = "rate_limit",
        /// The provider does not know the user, or no longer.
        Auth = "auth",
        /// An answer came and breaks what was asked of it.
        Contract = "contract",
        /// It fails every time until a person changes something.
        Permanent = "permanent",
        /// The session that was to be continued is gone; a fresh one may go well.
        SessionLost = "session_lost",
    }
);

impl FailureClass {
    /// Whether a later retry of the same turn may succeed without any change.
    pub fn retries(self) -> bool {
        match self {
            Self::Transient | Self::RateLimit | Self::SessionLost => true,
            Self::Auth | Self::Contract | Self::Permanent => false,
        }
    }
}
