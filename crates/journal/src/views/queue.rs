//! Bounded queue to the thread that writes the views.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use materia_engine::BoxFuture;
use tokio::sync::Notify;

use super::message::Message;

/// The most bytes that may wait; beyond it runs wait for the views.
const WAITING_BYTES_MAX: usize = 1 << 20;

/// Bytes at which the thread writes at once, long before the queue is full: so no run waits, and little is left to
/// write when a run ends.
const BATCH_BYTES: usize = 256 << 10;

/// How long the thread gathers messages before it writes. It writes earlier if a batch is full, a run comes to rest, or
/// a caller waits for the files.
const GATHER: Duration = Duration::from_millis(250);

#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// Wakes the thread.
    news: Condvar,
    /// Wakes the tasks that wait for room.
    room: Notify,
}

#[derive(Default)]
struct State {
    waiting: Vec<Message>,
    bytes: usize,
    /// The thread sleeps until there is something.
    idle: bool,
    /// The thread does not gather any longer.
    urgent: bool,
    life: Life,
}

#[derive(Default, PartialEq, Eq)]
enum Life {
    #[default]
    Open,
    /// No more will come.
    Closed,
    /// The thread has ended, in good order or not.
    Dead,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message of about `bytes`.
    pub(super) fn push(&self, message: Message, bytes: usize) {
        let mut state = self.state();
        if state.life == Life::Dead {
            return;
        }
        state.bytes += bytes;
        state.waiting.push(message);
        let full = state.bytes >= BATCH_BYTES && !state.urgent;
        state.urgent |= full;
        // A thread that gathers wakes by itself; waking it for every step would cost more than
        // the step.
        if state.idle || full {
            state.idle = false;
            self.news.notify_one();
        }
    }

    /// Makes the thread write now.
    pub(super) fn hurry(&self) {
        self.state().urgent = true;
        self.news.notify_one();
    }

    /// A future that completes when there is room; `None` where there is room now.
    pub(super) fn room(self: &Arc<Self>) -> Option<BoxFuture<'static, ()>> {
        if !self.is_full() {
            return None;
        }
        let queue = Arc::clone(self);
        Some(Box::pin(async move {
            loop {
                // Created before the check, so that no notification is missed.
                let called = queue.room.notified();
                if !queue.is_full() {
                    return;
                }
                called.await;
            }
        }))
    }

    /// Whether too much waits; if so, the thread hurries.
    fn is_full(&self) -> bool {
        let mut state = self.state();
        let full = state.bytes >= WAITING_BYTES_MAX && state.life != Life::Dead;
        if full && !state.urgent {
            state.urgent = true;
            self.news.notify_one();
        }
        full
    }

    /// Adds a message whose sender waits.
    pub(super) fn push_urgent(&self, message: Message) {
        let mut state = self.state();
        if state.life == Life::Dead {
            // Dropping the message is the answer.
            return;
        }
        state.waiting.push(message);
        state.urgent = true;
        self.news.notify_one();
    }

    /// No more will come.
    pub(super) fn close(&self) {
        self.state().life = Life::Closed;
        self.news.notify_one();
    }

    /// The thread has ended: waiting callers get no answer.
    pub(super) fn end(&self) {
        let mut state = self.state();
        state.life = Life::Dead;
        state.waiting.clear();
        self.room.notify_waiters();
    }

    /// Everything that waits, once it has gathered a little; `None` after the end.
    pub(super) fn take(&self) -> Option<Vec<Message>> {
        let mut state = self.state();
        while state.waiting.is_empty() && state.life == Life::Open {
            state.idle = true;
            state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.idle = false;
        if !state.urgent && state.life == Life::Open {
            let hurried = |state: &mut State| !state.urgent && state.life == Life::Open;
            let waited = self.news.wait_timeout_while(state, GATHER, hurried);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.urgent = false;
        state.bytes = 0;
        self.room.notify_waiters();
        let taken = std::mem::take(&mut state.waiting);
        (!taken.is_empty()).then_some(taken)
    }
}
