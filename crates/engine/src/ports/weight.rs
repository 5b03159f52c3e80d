//! What a run keeps, and the room that its store has left.

use std::sync::{Arc, OnceLock};

/// What a run kept when somebody asked, in bytes. It is worked out beside the run, and there once it is known.
pub type DiskUsage = Arc<OnceLock<u64>>;

/// A disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disk {
    /// Bytes that are free to us.
    pub free: u64,
    /// Bytes it has.
    pub total: u64,
}

/// Nothing to speak of.
pub(crate) fn nothing() -> DiskUsage {
    Arc::new(OnceLock::from(0))
}
