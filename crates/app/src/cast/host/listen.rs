//! Hearing what other processes ask of the runs that are driven here.

use std::sync::Weak;
use std::time::Duration;

use super::Shared;

/// Interval at which the journal is polled: the database does not report what other processes write.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Looks for commands until the host is gone.
pub(super) async fn listen(shared: Weak<Shared>) {
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let Some(shared) = shared.upgrade() else { return };
        if shared.driven().is_empty() {
            continue;
        }
        // A failed look is no reason to stop anything; the next look may succeed.
        for run in shared.journal.addressed().await.unwrap_or_default() {
            shared.pass_on(&run).await;
        }
    }
}
