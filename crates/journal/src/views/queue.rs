//! Bounded queue to the thread that writes the views.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use materia_engine::BoxFuture;
use tokio::sync::Notify;

use super::message::Message;

/// The most bytes that may be unwritten; beyond it runs wait for the views.
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
    /// Bytes of messages that are not written yet, those that the thread has taken included.
    bytes: usize,
    /// Bytes of those that it has not taken.
    waiting_bytes: usize,
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
        state.waiting_bytes += bytes;
        state.waiting.push(message);
        let full = state.waiting_bytes >= BATCH_BYTES && !state.urgent;
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

    /// Takes note that these bytes, of this many decisions, are written. Wakes about as many waiting runs: if all of them
    /// woke, each would add a decision before it waits again.
    pub(super) fn written(&self, bytes: usize, decisions: usize) {
        let left = {
            let mut state = self.state();
            state.bytes -= bytes;
            state.bytes
        };
        if left == 0 {
            return self.room.notify_waiters();
        }
        // Some runs that go on bring nothing more, so others are to take their place.
        let each = if left < WAITING_BYTES_MAX / 2 { 2 } else { 1 };
        let going = if left < WAITING_BYTES_MAX { each * decisions } else { 0 };
        (0..going).for_each(|_| self.room.notify_one());
    }

    /// Whether too much is unwritten; if so, the thread hurries.
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
        state.waiting_bytes = 0;
        let taken = std::mem::take(&mut state.waiting);
        (!taken.is_empty()).then_some(taken)
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use super::*;

    #[test]
    fn runs_go_on_as_decisions_are_written_and_all_of_them_when_nothing_is_left() {
        let queue = Arc::new(Queue::default());
        queue.push(Message::Flush(std::sync::mpsc::channel().0), WAITING_BYTES_MAX);
        let mut waiting: Vec<_> = (0..5).map(|_| queue.room().expect("it is full")).collect();
        let mut context = Context::from_waker(Waker::noop());
        let mut gone_on = || {
            let before = waiting.len();
            waiting.retain_mut(|room| room.as_mut().poll(&mut context).is_pending());
            before - waiting.len()
        };
        assert_eq!(gone_on(), 0);
        assert!(queue.take().is_some());
        assert_eq!(gone_on(), 0, "what the thread has taken is not written yet");
        queue.written(1, 1);
        assert_eq!(gone_on(), 1);
        queue.written(WAITING_BYTES_MAX / 2, 1);
        assert_eq!(gone_on(), 2, "more than a half is free");
        queue.written(WAITING_BYTES_MAX / 2 - 1, 1);
        assert_eq!(gone_on(), 2);
    }
}
