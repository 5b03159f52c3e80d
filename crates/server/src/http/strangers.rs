//! Connections whose caller has not authenticated. If all places are taken, the oldest of them is closed, so that they
//! cannot keep others out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The open connections of callers that have not authenticated, in their order.
#[derive(Debug, Default)]
pub(crate) struct Strangers(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    next: u64,
    open: BTreeMap<u64, Arc<Notify>>,
}

/// One such connection, until it is dropped or its caller authenticates.
#[derive(Debug)]
pub(crate) struct Stranger {
    number: u64,
    close: Arc<Notify>,
    among: Arc<Strangers>,
}

impl Strangers {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection.
    pub(crate) fn add(self: &Arc<Self>) -> Stranger {
        let close = Arc::new(Notify::new());
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.open.insert(number, Arc::clone(&close));
        Stranger { number, close, among: Arc::clone(self) }
    }

    /// Closes the oldest, if there is one.
    pub(crate) fn close_oldest(&self) {
        if let Some((_, close)) = self.state().open.pop_first() {
            close.notify_one();
        }
    }
}

impl Stranger {
    /// The caller has authenticated: the connection is not closed for others.
    pub(crate) fn is_known(&self) {
        self.among.state().open.remove(&self.number);
    }

    /// Completes when the connection is to be closed.
    pub(crate) async fn closed(&self) {
        self.close.notified().await;
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.is_known();
    }
}
