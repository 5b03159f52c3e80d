//! Implements the engine's `Journal` port.

use std::sync::Arc;

use materia_contract::{CastLine, Command, CommandId, Record, RunId, blob};
use materia_engine::{
    AppendError, Batch, Blobs, BoxFuture, Chapter, ClaimError, Cursor, Disk, DiskUsage, Epoch,
    Head, Journal, Lease, Lines, PAGE_BYTES, Page, PostError, Posted, Posting, ReadError, Receipt,
    Snapshot, Snapshots, Tail, follow, may_block, off_thread,
};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::fault::Fault;
use super::writer::{self, Claim, Job};
use crate::blobs::FileBlobs;

use super::{OpenError, SqliteJournal, disk_usage, inbox, lease, list, moved, read, snapshots};

impl SqliteJournal {
    /// Runs a job on this thread, if the only run has the thread to itself, otherwise on the writer thread.
    async fn hand_in(&self, job: Job) -> Result<(), AppendError> {
        let writer = self.writer().await?;
        let left = if may_block() && self.held.is_one() {
            if self.others_are_due() {
                tokio::task::yield_now().await;
            }
            writer.do_here(job)
        } else {
            Some(job)
        };
        if let Some(job) = left {
            writer.hand_in(job);
        }
        Ok(())
    }

    /// Reads about one run. A process that drives only one run, on this thread, needs no second connection.
    async fn read_about<T: Send + 'static>(
        &self,
        run: &RunId,
        mut read: impl FnMut(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, ReadError> {
        if may_block()
            && self.held.is_one_or_none()
            && let Some(found) = self.writer.get().and_then(|writer| writer.read_here(&mut read))
        {
            return Ok(found);
        }
        self.readers.with(run, read).await
    }

    /// Claims a run, also one that was copied to another journal: only a copy that comes home may write to it.
    pub fn claim_moved(&self, run: &RunId) -> BoxFuture<'_, Result<Lease, ClaimError>> {
        self.claim_for(run, true)
    }

    /// Where a run goes on that was copied from here to another journal.
    pub fn moved(&self, run: &RunId) -> BoxFuture<'_, Result<Option<String>, ReadError>> {
        let (run, wanted) = (run.clone(), run.clone());
        Box::pin(async move {
            self.read_about(&run, move |connection| Ok(moved::place(connection, &wanted)?)).await
        })
    }

    /// Notes under a lease where a run goes on; `None` says that it goes on here again.
    pub fn move_to(
        &self,
        run: &RunId,
        epoch: Epoch,
        place: Option<&str>,
    ) -> BoxFuture<'_, Result<(), AppendError>> {
        let (run, wanted, place) = (run.clone(), run.clone(), place.map(str::to_owned));
        Box::pin(async move {
            let mark =
                move |connection: &_| moved::mark(connection, &wanted, epoch, place.as_deref());
            let marked = self.readers.with(&run, mark).await;
            let newest = marked.map_err(|error| AppendError::Storage(error.to_string()))?;
            if newest == epoch { Ok(()) } else { Err(AppendError::Fenced { run, epoch, newest }) }
        })
    }

    fn claim_for(&self, run: &RunId, even_moved: bool) -> BoxFuture<'_, Result<Lease, ClaimError>> {
        let (run, locks, held) = (run.clone(), self.locks(), Arc::clone(&self.held));
        let foreign = self.foreign.then(|| OpenError::Foreign { path: self.path.clone() });
        Box::pin(async move {
            if let Some(foreign) = foreign {
                return Err(ClaimError::Storage { run, what: foreign.to_string() });
            }
            let wanted = run.clone();
            let lock = off_thread(move || lease::lock(&locks, &wanted, &held)).await?;
            let (answer, answered) = oneshot::channel();
            let noted = match self
                .hand_in(Job::Claim(Claim { run: run.clone(), even_moved }, answer))
                .await
            {
                Ok(()) => answered.await.unwrap_or_else(|_| Err(writer::gone())),
                Err(error) => Err(error),
            };
            match noted {
                Ok(epoch) => {
                    tracing::debug!(cast = %run, %epoch, "claimed");
                    self.changes.tell(&run);
                    Ok(Lease::new(epoch, lock))
                }
                Err(error) => Err(ClaimError::Storage { run, what: error.to_string() }),
            }
        })
    }
}

/// A look for a page of records, with the texts that are kept apart from them. The page ends where those make it larger than
/// `bytes`, behind one record at least.
fn whole_page(
    blobs: &FileBlobs,
    run: RunId,
    after: u64,
    bytes: usize,
) -> impl Fn(&Connection) -> Result<Page, Fault> + Send + Sync + 'static {
    let blobs = blobs.clone();
    move |connection| {
        let mut page = read::page(connection, &run, after, bytes)?;
        if !page.records.iter().any(|record| blob::has_mark(&record.data)) {
            return Ok(page);
        }
        let mut taken = 0_u64;
        let fits = |record: &Record| {
            let first = taken == 0;
            let apart = blob::bytes_apart(&record.data);
            taken = taken.saturating_add(apart).saturating_add(record.data.len() as u64);
            first || apart == 0 || taken <= bytes as u64
        };
        let count = page.records.iter().map(fits).take_while(|fits| *fits).count();
        if count < page.records.len() {
            page.records.truncate(count);
            page.end = false;
        }
        blobs.fill(&mut page.records);
        Ok(page)
    }
}

impl Journal for SqliteJournal {
    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<(), AppendError>> {
        let (answer, answered) = oneshot::channel();
        let mut job = Some(Job::Append(batch, answer));
        // A job that was handed in is written, even if the future is dropped.
        if let Some(writer) = self.writer.get().filter(|_| !may_block())
            && let Some(job) = job.take()
        {
            writer.hand_in(job);
        }
        Box::pin(async move {
            if let Some(job) = job {
                self.hand_in(job).await?;
            }
            answered.await.unwrap_or_else(|_| Err(writer::gone()))
        })
    }

    fn read(
        &self,
        run: &RunId,
        after: u64,
        bytes: usize,
    ) -> BoxFuture<'_, Result<Page, ReadError>> {
        let (run, wanted) = (run.clone(), run.clone());
        Box::pin(async move {
            self.read_about(&run, whole_page(&self.blobs, wanted, after, bytes)).await
        })
    }

    fn tail(&self, run: &RunId, after: u64) -> Tail {
        let (readers, run) = (Arc::clone(&self.readers), run.clone());
        let blobs = self.blobs.clone();
        // The followed changes live as long as the stream.
        let (changes, told) = (Arc::clone(&self.changes), self.changes.of(&run));
        follow(after, told, move |after| {
            let (readers, run, wanted) = (Arc::clone(&readers), run.clone(), run.clone());
            let blobs = blobs.clone();
            let _follows = &changes;
            async move {
                let look = whole_page(&blobs, wanted, after, PAGE_BYTES);
                readers.with(&run, look).await
            }
        })
    }

    fn blobs(&self) -> &dyn Blobs {
        &self.blobs
    }

    fn head(&self, run: &RunId) -> BoxFuture<'_, Result<Option<Head>, ReadError>> {
        let (run, wanted) = (run.clone(), run.clone());
        Box::pin(async move {
            self.read_about(&run, move |connection| read::head(connection, &wanted)).await
        })
    }

    fn runs(
        &self,
        after: Option<&Cursor>,
        bytes: usize,
    ) -> BoxFuture<'_, Result<Lines, ReadError>> {
        let before = list::before(after);
        Box::pin(async move {
            let before = before?;
            self.readers.with_all(move |connection| list::runs(connection, before, bytes)).await
        })
    }

    fn line(&self, run: &RunId) -> BoxFuture<'_, Result<Option<CastLine>, ReadError>> {
        let (run, wanted) = (run.clone(), run.clone());
        Box::pin(async move {
            self.read_about(&run, move |connection| list::one(connection, &wanted)).await
        })
    }

    fn claim(&self, run: &RunId) -> BoxFuture<'_, Result<Lease, ClaimError>> {
        self.claim_for(run, false)
    }

    fn is_driven(&self, run: &RunId) -> BoxFuture<'_, Result<bool, ClaimError>> {
        let (run, locks) = (run.clone(), self.locks());
        Box::pin(async move {
            // The locks of a foreign journal are not in this user's state folder.
            if self.foreign {
                return Ok(false);
            }
            off_thread(move || lease::is_locked(&locks, &run)).await
        })
    }

    fn post(&self, run: &RunId, command: &Command) -> BoxFuture<'_, Result<Posting, PostError>> {
        let (run, wanted, command) = (run.clone(), run.clone(), command.clone());
        Box::pin(async move {
            let post = move |connection: &_| inbox::post(connection, &wanted, &command);
            self.readers.with(&run, post).await?.map_err(PostError::OtherBody)
        })
    }

    fn withdraw(
        &self,
        run: &RunId,
        epoch: Epoch,
        command: &CommandId,
    ) -> BoxFuture<'_, Result<bool, ReadError>> {
        let (run, wanted, command) = (run.clone(), run.clone(), command.clone());
        Box::pin(async move {
            let work = move |connection: &_| inbox::withdraw(connection, &wanted, epoch, &command);
            self.readers.with(&run, work).await
        })
    }

    fn commands(&self, run: &RunId) -> BoxFuture<'_, Result<Vec<Posted>, ReadError>> {
        let (run, wanted) = (run.clone(), run.clone());
        Box::pin(async move {
            // Commands in a foreign journal were not sent by this user.
            if self.foreign {
                return Ok(Vec::new());
            }
            self.read_about(&run, move |connection| inbox::commands(connection, &wanted)).await
        })
    }

    fn addressed(&self) -> BoxFuture<'_, Result<Vec<RunId>, ReadError>> {
        Box::pin(async move {
            if self.foreign {
                return Ok(Vec::new());
            }
            self.readers.with_all(inbox::addressed).await
        })
    }

    fn receipt(
        &self,
        run: &RunId,
        command: &CommandId,
    ) -> BoxFuture<'_, Result<Option<Receipt>, ReadError>> {
        let (run, wanted, command) = (run.clone(), run.clone(), command.clone());
        Box::pin(async move {
            self.read_about(&run, move |connection| inbox::receipt(connection, &wanted, &command))
                .await
        })
    }

    fn weigh(&self, run: &RunId) -> DiskUsage {
        disk_usage::weigh(self.root.join(run.as_str()))
    }

    fn disk(&self) -> Option<Disk> {
        disk_usage::disk(&self.root)
    }

    fn snapshots(&self) -> Option<&dyn Snapshots> {
        // The hash chain does not cover snapshots, so foreign ones cannot be trusted.
        (!self.foreign).then_some(self as &dyn Snapshots)
    }
}

impl Snapshots for SqliteJournal {
    fn keep(&self, run: &RunId, snapshot: Snapshot) -> BoxFuture<'_, ()> {
        let job = Job::Keep(run.clone(), Box::new(snapshot));
        // An error is ignored: a snapshot is optional.
        Box::pin(async move { drop(self.hand_in(job).await) })
    }

    fn newest(&self, run: &RunId) -> BoxFuture<'_, Result<Option<Snapshot>, ReadError>> {
        let (run, wanted) = (run.clone(), run.clone());
        Box::pin(async move {
            self.read_about(&run, move |connection| snapshots::newest(connection, &wanted)).await
        })
    }

    fn before(&self, run: &RunId, seq: u64) -> BoxFuture<'_, Result<Option<Snapshot>, ReadError>> {
        let (run, wanted) = (run.clone(), run.clone());
        Box::pin(async move {
            self.read_about(&run, move |connection| snapshots::before(connection, &wanted, seq))
                .await
        })
    }

    fn chapters(&self, run: &RunId) -> BoxFuture<'_, Result<Vec<Chapter>, ReadError>> {
        let (run, wanted) = (run.clone(), run.clone());
        Box::pin(async move {
            self.read_about(&run, move |connection| snapshots::chapters(connection, &wanted)).await
        })
    }
}
