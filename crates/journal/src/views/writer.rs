//! The thread that writes the views.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use materia_contract::{Folders, RunId};
use materia_engine::Committed;

use super::cast::{Cast, EVENTS_FILE};
use super::file::{self, ViewProblem};
use super::queue::Queue;
use super::update::{Item, ViewUpdate};

/// Event files that are kept open.
const OPEN_FILES_MAX: usize = 64;

/// Casts that are remembered; beyond it those that rest are forgotten.
const CASTS_MAX: usize = 4_096;

/// Room for lines that is kept for the next ones.
const SPARE_BYTES_MAX: usize = 1 << 20;

/// Messages to the thread.
pub(super) enum Message {
    /// Events are durable.
    ViewUpdate(Committed),
    /// Write everything and say what went wrong.
    Flush(Sender<Result<(), ViewProblem>>),
    /// Write everything and say so.
    Reached(tokio::sync::oneshot::Sender<()>),
    /// Write out and release a cast, because another task works on its files now.
    Release { run: RunId, answer: Sender<()> },
    /// A cast is caught up, and this is what it is.
    Know { run: RunId, cast: Box<Cast> },
}

pub(super) struct ViewWriter {
    root: PathBuf,
    /// Where the project of the casts is.
    project: Folders,
    queue: Arc<Queue>,
    casts: HashMap<RunId, Kept>,
    open: OpenFiles,
    /// Room for lines, which the next cast takes over from the last.
    spare: Vec<u8>,
    /// The first problem that was not reported yet.
    problem: Option<ViewProblem>,
}

/// A cast and what is still to be written of it.
struct Kept {
    cast: Cast,
    lines: Vec<u8>,
    /// The lines begin the file.
    fresh: bool,
    /// Something went wrong. What comes after it would not fit, so nothing is written until
    /// the cast is caught up.
    broken: bool,
}

impl Kept {
    fn new(cast: Cast) -> Self {
        Self { cast, lines: Vec::new(), fresh: false, broken: false }
    }
}

impl ViewWriter {
    pub(super) fn new(root: PathBuf, project: Folders, queue: Arc<Queue>) -> Self {
        let (casts, open, spare) = (HashMap::new(), OpenFiles::default(), Vec::new());
        Self { root, project, queue, casts, open, spare, problem: None }
    }

    pub(super) fn work(mut self) {
        let queue = Arc::clone(&self.queue);
        let _end = EndWithThread(Arc::clone(&queue));
        while let Some(messages) = queue.take() {
            let mut touched = Vec::new();
            for message in messages {
                match message {
                    Message::ViewUpdate(news) => {
                        let items = news.records.iter().zip(news.events.iter());
                        let items = items.map(|(record, event)| Item {
                            record,
                            event: Some(event),
                            input: None,
                        });
                        let folders = super::folders(&self.project, &self.root, &news.run);
                        if let Some(news) = ViewUpdate::new(&news.run, &folders, items) {
                            self.turn_to(touched.last(), &news.run);
                            touched.push(news.run.clone());
                            self.take_in(news);
                        }
                    }
                    Message::Flush(answer) => {
                        self.write_out(&mut touched);
                        self.note_all();
                        let problem = self.problem.take().map_or(Ok(()), Err);
                        // The caller may be gone.
                        let _ = answer.send(problem);
                    }
                    Message::Reached(answer) => {
                        self.write_out(&mut touched);
                        let _ = answer.send(());
                    }
                    Message::Release { run, answer } => {
                        self.write_out(&mut touched);
                        self.casts.remove(&run);
                        self.open.close(&run);
                        let _ = answer.send(());
                    }
                    Message::Know { run, cast } => {
                        self.casts.insert(run, Kept::new(*cast));
                    }
                }
            }
            self.write_out(&mut touched);
            self.forget();
        }
        self.note_all();
    }

    /// One cast at a time has folders open.
    fn turn_to(&mut self, before: Option<&RunId>, run: &RunId) {
        let before = before.filter(|before| *before != run);
        if let Some(kept) = before.and_then(|before| self.casts.get_mut(before)) {
            kept.cast.let_go();
        }
    }

    /// Writes the files of some events and keeps their lines for the next write.
    fn take_in(&mut self, news: ViewUpdate) {
        let kept = self.casts.entry(news.run.clone()).or_insert_with(|| {
            Kept::new(Cast::new(news.run.clone(), self.root.join(news.run.as_str())))
        });
        if kept.broken {
            return;
        }
        let result = if kept.cast.last.is_some_and(|(seq, _)| seq + 1 != news.first) {
            let source = io::Error::other("events before the newest ones have not come here");
            Err(ViewProblem { path: kept.cast.events_file(), source })
        } else {
            news.steps.into_iter().try_for_each(|step| kept.cast.apply(step))
        };
        match result {
            Ok(()) => {
                kept.fresh |= news.first == 1;
                kept.cast.last = Some(news.last);
                if kept.lines.capacity() == 0 {
                    kept.lines = std::mem::take(&mut self.spare);
                }
                kept.lines.extend_from_slice(&news.lines);
            }
            Err(problem) => {
                kept.broken = true;
                self.problem.get_or_insert(problem);
            }
        }
    }

    /// Writes the lines of the casts named, each in one write.
    fn write_out(&mut self, touched: &mut Vec<RunId>) {
        for run in touched.drain(..) {
            let Some(kept) = self.casts.get_mut(&run) else {
                continue;
            };
            kept.cast.let_go();
            if kept.lines.is_empty() {
                continue;
            }
            let mut lines = std::mem::take(&mut kept.lines);
            let mut result = self.open.append(&run, &kept.cast, kept.fresh, &lines);
            if lines.capacity() <= SPARE_BYTES_MAX {
                lines.clear();
                self.spare = lines;
            }
            kept.fresh = false;
            if result.is_ok() && kept.cast.manifest_is_due() {
                result = kept.cast.note();
            }
            if let Err(problem) = result {
                kept.broken = true;
                self.open.close(&run);
                self.problem.get_or_insert(problem);
            }
        }
    }

    fn note_all(&mut self) {
        for kept in self.casts.values_mut().filter(|kept| !kept.broken) {
            if let Err(problem) = kept.cast.note() {
                kept.broken = true;
                self.problem.get_or_insert(problem);
            }
        }
    }

    fn forget(&mut self) {
        if self.casts.len() > CASTS_MAX {
            self.casts.retain(|run, kept| {
                let keep = !kept.cast.rests();
                if !keep {
                    self.open.close(run);
                }
                keep
            });
        }
    }
}

/// Ends the queue with the thread, even after a panic.
struct EndWithThread(Arc<Queue>);

impl Drop for EndWithThread {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Event files that are open, the least recently used of which makes room.
#[derive(Default)]
struct OpenFiles {
    files: HashMap<RunId, (File, u64)>,
    uses: u64,
}

impl OpenFiles {
    fn append(
        &mut self,
        run: &RunId,
        cast: &Cast,
        fresh: bool,
        lines: &[u8],
    ) -> Result<(), ViewProblem> {
        self.uses += 1;
        let path = cast.events_file();
        if fresh || !self.files.contains_key(run) {
            self.make_room();
            let folder = cast.make_folder()?;
            if fresh {
                // An existing file with this name does not belong to this cast.
                file::write(&folder, EVENTS_FILE, b"")?;
            }
            let file = file::append(&folder, EVENTS_FILE)?;
            self.files.insert(run.clone(), (file, self.uses));
        }
        let (file, used) = self.files.get_mut(run).expect("it was opened above");
        *used = self.uses;
        file.write_all(lines).map_err(ViewProblem::at(&path))
    }

    fn make_room(&mut self) {
        if self.files.len() >= OPEN_FILES_MAX {
            let oldest = self.files.iter().min_by_key(|(_, (_, used))| *used);
            if let Some(run) = oldest.map(|(run, _)| run.clone()) {
                self.files.remove(&run);
            }
        }
    }

    fn close(&mut self, run: &RunId) {
        self.files.remove(run);
    }
}
