//! Files beside the journal, for the casts of a worker.
//!
//! They are not written with each decision. The events are held until a program starts, which may read the files, until
//! the cast rests, or until too much is held. A cast waits for the files of others only if too much waits to be written.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use materia_contract::{CastStatus, NodeId, RunId};
use materia_engine::{BoxFuture, Committed, Observer, record_bytes, status_after};
use materia_journal::Views;

/// So many bytes of events are held for all casts, and so many may wait to be written.
const HELD_BYTES_MAX: usize = 32 << 20;

/// Passes events on to the files when they are needed.
pub(super) struct HeldFiles {
    views: Arc<Views>,
    held: Arc<Mutex<Held>>,
}

#[derive(Default)]
struct Held {
    runs: HashMap<RunId, Vec<Committed>>,
    bytes: usize,
    /// Bytes that were passed on and may not be written yet.
    passed_on: usize,
}

impl HeldFiles {
    pub(super) fn new(views: Arc<Views>) -> Self {
        Self { views, held: Arc::default() }
    }

    /// The cast is no longer driven here: its next driver completes the files from the journal.
    pub(super) fn forget(&self, run: &RunId) {
        let mut held = self.held();
        let news = held.runs.remove(run).unwrap_or_default();
        held.bytes -= size(&news);
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The caller keeps the lock, so that the events of a cast keep their order.
    fn write(&self, held: &mut Held, news: &[Committed]) {
        if news.is_empty() {
            return;
        }
        let bytes = size(news);
        held.bytes -= bytes;
        for news in news {
            self.views.committed(news);
        }
        let Some(written) = self.views.on_file() else { return };
        held.passed_on += bytes;
        let passed = Arc::clone(&self.held);
        tokio::spawn(async move {
            written.await;
            passed.lock().unwrap_or_else(PoisonError::into_inner).passed_on -= bytes;
        });
    }

    fn write_all(&self, held: &mut Held) {
        for news in std::mem::take(&mut held.runs).into_values() {
            self.write(held, &news);
        }
    }
}

fn size(news: &[Committed]) -> usize {
    news.iter().flat_map(|news| news.records.iter()).map(record_bytes).sum()
}

impl Observer for HeldFiles {
    fn committed(&self, news: &Committed) {
        let status = news.records.iter().rev().find_map(|record| status_after(&record.kind));
        let mut held = self.held();
        held.bytes += size(std::slice::from_ref(news));
        held.runs.entry(news.run.clone()).or_default().push(news.clone());
        if held.bytes > HELD_BYTES_MAX {
            self.write_all(&mut held);
        } else if status.is_some_and(|status| status != CastStatus::Running) {
            let of_run = held.runs.remove(&news.run).unwrap_or_default();
            self.write(&mut held, &of_run);
        }
    }

    fn room(&self) -> Option<BoxFuture<'static, ()>> {
        let full = self.held().passed_on > HELD_BYTES_MAX;
        full.then(|| self.views.room()).flatten()
    }

    fn on_file(&self) -> Option<BoxFuture<'static, ()>> {
        self.write_all(&mut self.held());
        self.views.on_file()
    }

    fn streamed(&self, run: &RunId, node: &NodeId, text: &str) {
        self.views.streamed(run, node, text);
    }
}
