//! Views: files for people and tools, beside the journal.
//!
//! In the folder of a cast: `events.jsonl`, one short line an event; `manifest.json`, identity and
//! progress of the cast; `sockets/<node>/<visit>-<attempt>.*`, input and output of each turn.
//!
//! # Invariants
//!
//! * Everything here can be rebuilt from the journal. Nothing is synced, and no failure here
//!   stops a run: it is reported once, by [`Views::flush`].
//! * Files are written in batches behind the runs: a quarter of a second after the event at the latest, when a run comes
//!   to rest, and before a program starts that may read them ([`Observer::on_file`]).
//! * The files of an event are written before its line. So the last complete line says how far
//!   the views are, and after a crash [`Views::catch_up`] goes on from there.
//! * One writer a cast: a caller of [`Views::catch_up`] or [`Views::verify`], or an observer of the
//!   run, holds its lease.
//!
//! Output that is not UTF-8 is not written here: the runner writes those files itself, and
//! a record that says `lossy` leaves them alone.

mod cast;
mod catch_up;
mod checked;
mod file;
mod inputs;
mod line;
mod manifest;
mod message;
mod queue;
mod update;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use materia_contract::{CastStatus, Event, Folders, Record, RunId};
use materia_engine::{BoxFuture, Committed, Journal, Observer, status_after};

pub use catch_up::CatchUp;
pub use checked::CatchUpError;
pub use file::ViewProblem;

use message::Message;
use queue::Queue;
use writer::ViewWriter;

/// Keeps the views of the casts of one artifact root, on a thread of its own.
///
/// Dropping it writes what is left and ends the thread.
pub struct Views {
    root: PathBuf,
    /// Where the project of the casts is.
    project: Folders,
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

impl Views {
    /// Starts the thread. Makes no file before there is an event. `project` has the folders that events name, for
    /// files with paths; the folder of a cast is under `root`.
    ///
    /// # Panics
    ///
    /// Where the system gives no thread, as every start of a thread does.
    #[must_use]
    pub fn start(root: &Path, project: &Folders) -> Self {
        let queue = Arc::new(Queue::default());
        let keeper = ViewWriter::new(root.to_owned(), project.clone(), Arc::clone(&queue));
        let thread = thread::spawn(|| keeper.work());
        Self { root: root.to_owned(), project: project.clone(), queue, thread: Some(thread) }
    }

    /// Waits until all that was observed is on file; gives the first problem since the last
    /// call. A cast with a problem is left as it is until it is caught up.
    pub fn flush(&self) -> Result<(), ViewProblem> {
        let (answer, answered) = mpsc::channel();
        self.queue.push_urgent(Message::Flush(answer));
        answered.recv().unwrap_or_else(|_| {
            let source = std::io::Error::other("the thread that keeps the views has ended");
            Err(ViewProblem { path: self.root.clone(), source })
        })
    }

    /// Brings the views of a cast up to the journal, looking only at where they end.
    ///
    /// To be called before a run goes on in this process: it also tells the thread what the
    /// cast is.
    pub fn catch_up(&self, journal: &dyn Journal, run: &RunId) -> Result<CatchUp, CatchUpError> {
        self.mend(journal, run, catch_up::catch_up)
    }

    /// Compares every line of a cast with the journal; makes the views anew if one differs.
    pub fn verify(&self, journal: &dyn Journal, run: &RunId) -> Result<CatchUp, CatchUpError> {
        self.mend(journal, run, catch_up::verify)
    }

    fn mend(
        &self,
        journal: &dyn Journal,
        run: &RunId,
        how: fn(&dyn Journal, &RunId, &Folders) -> catch_up::Mended,
    ) -> Result<CatchUp, CatchUpError> {
        let (answer, answered) = mpsc::channel();
        self.queue.push_urgent(Message::Release { run: run.clone(), answer });
        // An error means that the thread is gone, and its files with it.
        let _ = answered.recv();
        let (outcome, cast) = how(journal, run, &folders(&self.project, &self.root, run))?;
        if let Some(cast) = cast {
            self.queue.push(Message::Know { run: run.clone(), cast: Box::new(cast) }, 0);
        }
        Ok(outcome)
    }
}

impl Observer for Views {
    fn committed(&self, news: &Committed) {
        let records: usize = news.records.iter().map(memory).sum();
        let bytes = records + news.events.iter().map(inputs::memory).sum::<usize>();
        // The thread computes the effect on the files, so that the run is not slowed down.
        self.queue.push(Message::ViewUpdate(news.clone(), bytes), bytes);
        let status = news.records.iter().rev().find_map(|record| status_after(&record.kind));
        if status.is_some_and(|status| status != CastStatus::Running) {
            self.queue.hurry();
        }
    }

    fn room(&self) -> Option<BoxFuture<'static, ()>> {
        self.queue.room()
    }

    fn on_file(&self) -> Option<BoxFuture<'static, ()>> {
        let (answer, answered) = tokio::sync::oneshot::channel();
        self.queue.push_urgent(Message::Reached(answer));
        Some(Box::pin(async move {
            // An error means that the thread is gone, and writes nothing more.
            let _ = answered.await;
        }))
    }
}

/// Where the folders of a cast are.
fn folders(project: &Folders, root: &Path, run: &RunId) -> Folders {
    let run_dir = root.join(run.as_str()).to_string_lossy().into_owned();
    Folders { run_dir, ..project.clone() }
}

/// About how much memory a record and its event take.
fn memory(record: &Record) -> usize {
    let whole = record.whole_data().map_or(0, str::len);
    2 * whole + size_of::<Record>() + size_of::<Event>()
}

impl Drop for Views {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            // A panic in there costs views, not the run; there is nothing left to do here.
            let _ = thread.join();
        }
    }
}
