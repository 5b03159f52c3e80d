//! Results of a search for a secret.

/// Result of a search at one position.
pub(super) enum Found {
    /// A secret of this length; `open` if it goes on beyond what we have.
    Secret {
        length: usize,
        open: bool,
    },
    /// The first line of a private key, of this length.
    Key {
        length: usize,
    },
    /// The beginning of one, perhaps.
    Perhaps,
    Nothing,
}
