use std::time::{SystemTime, UNIX_EPOCH};

use materia_contract::time::Micros;

/// Where the engine learns what time it is.
pub trait Clock: Send + Sync {
    /// The present instant.
    fn now(&self) -> Micros;
}

/// The clock of the machine. It may jump; logical time does not (D5).
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Micros {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Micros::try_from(since.as_micros()).unwrap_or(Micros::MAX)
    }
}
