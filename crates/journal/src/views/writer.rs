//! The thread that writes the views.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use materia_contract::{Folders, RunId};
use materia_engine::Committed;
use materia_safe_fs::{Anchor, Folder};

use super::cast::Cast;
use super::file::{self, ViewProblem};
use super::manifest::EVENTS_FILE;
use super::message::Message;
use super::queue::Queue;
use super::update::{Item, ViewUpdate};

/// Event files that are kept open.
const OPEN_FILES_MAX: usize = 64;

/// Casts that are remembered; beyond it those that rest are forgotten.
const CASTS_MAX: usize = 4_096;

/// Room for lines that is kept for the next ones.
const SPARE_BYTES_MAX: usize = 1 << 20;

pub(super) struct ViewWriter {
    root: PathBuf,
    /// The same folder, held since the beginning.
    anchor: Anchor,
    /// Where the project of the casts is.
    project: Folders,
    queue: Arc<Queue>,
    casts: HashMap<RunId, Kept>,
    open: OpenFiles,
    /// Memory for the lines of a batch.
    lines: Vec<u8>,
    /// The first problem that was not reported yet.
    problem: Option<ViewProblem>,
}

/// A cast that is written.
struct Kept {
    cast: Cast,
    /// Something went wrong. What comes after it would not fit, so nothing is written until
    /// the cast is caught up.
    broken: bool,
}

impl Kept {
    fn new(cast: Cast) -> Self {
        Self { cast, broken: false }
    }
}

impl ViewWriter {
    pub(super) fn new(root: PathBuf, project: Folders, queue: Arc<Queue>) -> Self {
        // Held from now on: whatever a turn does to the path later leads nowhere else.
        let anchor = Anchor::of(&root);
        let (casts, open, lines) = (HashMap::new(), OpenFiles::default(), Vec::new());
        Self { root, anchor, project, queue, casts, open, lines, problem: None }
    }

    pub(super) fn work(mut self) {
        let queue = Arc::clone(&self.queue);
        let _end = EndWithThread(Arc::clone(&queue));
        while let Some(messages) = queue.take() {
            let mut batch = Batch::default();
            for message in messages {
                match message {
                    Message::ViewUpdate(news, bytes) => batch.add(news, bytes),
                    Message::Flush(answer) => {
                        self.write(&mut batch);
                        self.note_all();
                        let problem = self.problem.take().map_or(Ok(()), Err);
                        // The caller may be gone.
                        let _ = answer.send(problem);
                    }
                    Message::Reached(answer) => {
                        self.write(&mut batch);
                        let _ = answer.send(());
                    }
                    Message::Release { run, answer } => {
                        self.write(&mut batch);
                        self.casts.remove(&run);
                        self.open.close(&run);
                        let _ = answer.send(());
                    }
                    Message::Know { run, cast } => {
                        self.write(&mut batch);
                        self.casts.insert(run, Kept::new(*cast));
                    }
                }
            }
            self.write(&mut batch);
            self.forget();
        }
        self.note_all();
    }

    /// Writes what came of each cast in one go, so that its folders are opened once.
    fn write(&mut self, batch: &mut Batch) {
        let casts = batch.take();
        // Looked at once for all of them. An error shows again at the first file.
        let root = if casts.is_empty() { None } else { self.anchor.make().ok() };
        for (run, News { decisions, bytes }) in casts {
            let count = decisions.len();
            self.write_one(&run, decisions, root.clone());
            self.queue.written(bytes, count);
        }
    }

    fn write_one(&mut self, run: &RunId, news: Vec<Committed>, root: Option<Arc<Folder>>) {
        let kept = self
            .casts
            .entry(run.clone())
            .or_insert_with(|| Kept::new(Cast::new(run.clone(), self.root.join(run.as_str()))));
        if kept.broken {
            return;
        }
        kept.cast.hold(root);
        let folders = super::folders(&self.project, &self.root, run);
        self.lines.clear();
        let mut fresh = false;
        let mut decisions = news.into_iter();
        let written = decisions.try_for_each(|news| {
            fresh |= take_in(&mut kept.cast, &news, &folders, &mut self.lines)?;
            Ok(())
        });
        // Events whose files are there have their lines, also where a later file could not be written.
        let mut appended = Ok(());
        if !self.lines.is_empty() {
            appended = self.open.append(run, &kept.cast, fresh, &self.lines);
        }
        let mut result = written.and(appended);
        if result.is_ok() && kept.cast.manifest_is_due() {
            result = kept.cast.note();
        }
        kept.cast.let_go();
        if let Err(problem) = result {
            kept.broken = true;
            self.open.close(run);
            self.problem.get_or_insert(problem);
        }
        self.lines.clear();
        self.lines.shrink_to(SPARE_BYTES_MAX);
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

/// News to be written: casts in the order of their first news, each with its news in their order.
#[derive(Default)]
struct Batch {
    casts: Vec<(RunId, News)>,
    places: HashMap<RunId, usize>,
}

/// News of one cast, and about how many bytes they take.
#[derive(Default)]
struct News {
    decisions: Vec<Committed>,
    bytes: usize,
}

impl Batch {
    fn add(&mut self, decision: Committed, bytes: usize) {
        let place = *self.places.entry(decision.run.clone()).or_insert(self.casts.len());
        if place == self.casts.len() {
            self.casts.push((decision.run.clone(), News::default()));
        }
        let (_, news) = &mut self.casts[place];
        news.decisions.push(decision);
        news.bytes += bytes;
    }

    fn take(&mut self) -> Vec<(RunId, News)> {
        self.places.clear();
        std::mem::take(&mut self.casts)
    }
}

/// Writes the files of a decision and adds its lines to `lines`, unless one of the files cannot be written. Says whether
/// they begin the file.
fn take_in(
    cast: &mut Cast,
    news: &Committed,
    folders: &Folders,
    lines: &mut Vec<u8>,
) -> Result<bool, ViewProblem> {
    let items = news.records.iter().zip(news.events.iter());
    let items = items.map(|(record, event)| Item { record, event: Some(event), input: None });
    let before = lines.len();
    let Some(news) = ViewUpdate::new(lines, folders, items) else { return Ok(false) };
    let written = if cast.last.is_some_and(|(seq, _)| seq + 1 != news.first) {
        let source = io::Error::other("events before the newest ones have not come here");
        Err(ViewProblem { path: cast.events_file(), source })
    } else {
        news.steps.into_iter().try_for_each(|step| cast.apply(step))
    };
    match written {
        Ok(()) => cast.last = Some(news.last),
        Err(_) => lines.truncate(before),
    }
    written.map(|()| news.first == 1)
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
            if fresh {
                // An existing file with this name does not belong to this cast.
                file::write(&cast.make_folder()?, EVENTS_FILE, b"")?;
            }
            let file = cast.open_lines()?;
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
