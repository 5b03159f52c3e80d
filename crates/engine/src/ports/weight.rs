//! Disk usage of a run, and free space of its store.

use std::sync::Arc;

use tokio::sync::SetOnce;

/// Disk usage of a run at the time of the request, in bytes. It is computed on another thread and set once it is
/// known.
pub type DiskUsage = Arc<SetOnce<u64>>;

/// A disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disk {
    /// Bytes that are free to us.
    pub free: u64,
    /// Bytes it has.
    pub total: u64,
}

/// A disk usage of 0 bytes.
pub(crate) fn nothing() -> DiskUsage {
    Arc::new(SetOnce::from(0))
}
