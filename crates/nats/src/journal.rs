//! Implements the engine's `Journal` port.

use std::sync::{Arc, Mutex, OnceLock};

use materia_contract::time::wall_time;
use materia_contract::{CastLine, Command, CommandId, RunId};
use materia_engine::{
    AppendError, Batch, Blobs, BoxFuture, ClaimError, Cursor, DiskUsage, Epoch, Head, Journal,
    Lease, Lines, PAGE_BYTES, Page, PostError, Posted, Posting, ReadError, Receipt, Tail, follow,
    weight_of,
};
use tokio::sync::watch;

use crate::blobs::ObjectBlobs;
use crate::connection::{Connection, ServerFacts};
use crate::inner::Inner;
use crate::message::Home;
use crate::open::OpenError;
use crate::{Options, lease, read};

/// A journal on NATS `JetStream`.
#[derive(Clone)]
pub struct NatsJournal {
    pub(crate) inner: Arc<Inner>,
    blobs: ObjectBlobs,
    /// Changes whenever there may be more of any run; begun by the first who asks.
    changed: Arc<OnceLock<watch::Receiver<u64>>>,
}

/// Does something on the thread of the connection.
macro_rules! on_thread {
    ($journal:expr, $inner:ident, [$($name:ident = $value:expr),*], $work:expr) => {{
        let $inner = Arc::clone(&$journal.inner);
        $(let $name = $value;)*
        Box::pin($journal.inner.connection.run(async move { $work }))
    }};
}

impl NatsJournal {
    /// Connects to the servers, and makes the space where it is not there. Blocks.
    pub fn open(options: Options) -> Result<Self, OpenError> {
        let address = options.shown();
        let gone = || OpenError::Stream { address, what: "the space cannot be made".to_owned() };
        Connection::open(options, false)?.map(Self::on).ok_or_else(gone)
    }

    /// Connects to the servers to read a space; `None` if it is not there. Blocks.
    pub fn open_existing(options: Options) -> Result<Option<Self>, OpenError> {
        Ok(Connection::open(options, true)?.map(Self::on))
    }

    fn on(connection: Arc<Connection>) -> Self {
        let blobs = ObjectBlobs(Arc::clone(&connection));
        let inner = Inner {
            connection,
            blobs: blobs.clone(),
            known: Mutex::default(),
            quiet: Mutex::default(),
            inboxes: OnceLock::new(),
            empty: Mutex::default(),
        };
        Self { inner: Arc::new(inner), blobs, changed: Arc::default() }
    }

    /// Facts about the server and the space.
    #[must_use]
    pub fn facts(&self) -> ServerFacts {
        self.inner.connection.facts()
    }

    /// Tells the space from every other, by whichever address it is reached: its name, and when it was made.
    #[must_use]
    pub fn identity(&self) -> String {
        let made = self.inner.connection.stream.cached_info().created.unix_timestamp_nanos();
        let made = i64::try_from(made / 1_000).unwrap_or(0);
        format!("space `{}` of {}", self.options().space.as_str(), wall_time(made))
    }

    /// How it was opened.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.inner.connection.options
    }

    /// Changes whenever there may be more of any run, whichever process writes.
    #[must_use]
    pub fn changed(&self) -> watch::Receiver<u64> {
        let begin = || {
            let connection = &self.inner.connection;
            read::changes(connection, connection.stream.clone(), connection.subject("*", ">"))
        };
        self.changed.get_or_init(begin).clone()
    }

    /// Messages of a run that Materia did not write, by their sequence.
    #[must_use]
    pub fn foreign_messages(&self, run: &RunId) -> BoxFuture<'static, Result<Vec<u64>, ReadError>> {
        on_thread!(self, inner, [run = run.clone()], Ok(inner.fresh(&run).await?.foreign.clone()))
    }

    /// The runs that are driven now, by whichever machine.
    #[must_use]
    pub fn driven(&self) -> BoxFuture<'static, Result<Vec<RunId>, ReadError>> {
        on_thread!(self, inner, [], Ok(lease::held(&inner.connection).await?))
    }

    /// Where the project of a run is; `None` if nobody noted it.
    #[must_use]
    pub fn home(&self, run: &RunId) -> BoxFuture<'static, Result<Option<Home>, ReadError>> {
        on_thread!(self, inner, [run = run.clone()], Ok(inner.fresh(&run).await?.home.clone()))
    }

    /// Where a run goes on that was copied from here to another journal.
    #[must_use]
    pub fn moved(&self, run: &RunId) -> BoxFuture<'static, Result<Option<String>, ReadError>> {
        on_thread!(self, inner, [run = run.clone()], Ok(inner.fresh(&run).await?.moved.clone()))
    }

    /// Appends also to a run that was copied to another journal: for a copy that comes home.
    #[must_use]
    pub fn append_moved(&self, batch: Batch) -> BoxFuture<'static, Result<(), AppendError>> {
        on_thread!(self, inner, [], inner.append(&batch, true).await)
    }

    /// Notes under a lease where a run goes on; `None` says that it goes on here again.
    pub fn move_to(
        &self,
        run: &RunId,
        epoch: Epoch,
        place: Option<&str>,
    ) -> BoxFuture<'static, Result<(), AppendError>> {
        on_thread!(self, inner, [run = run.clone(), place = place.map(str::to_owned)], {
            inner.move_to(&run, epoch, place).await
        })
    }
}

impl Journal for NatsJournal {
    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<(), AppendError>> {
        on_thread!(self, inner, [], inner.append(&batch, false).await)
    }

    fn read(
        &self,
        run: &RunId,
        after: u64,
        bytes: usize,
    ) -> BoxFuture<'_, Result<Page, ReadError>> {
        on_thread!(self, inner, [run = run.clone()], inner.page(&run, after, bytes).await)
    }

    fn tail(&self, run: &RunId, after: u64) -> Tail {
        let connection = &self.inner.connection;
        let changes = connection.subject("run", run.as_str());
        let changes = read::changes(connection, connection.stream.clone(), changes);
        let (inner, run) = (Arc::clone(&self.inner), run.clone());
        follow(after, changes, move |after| {
            let (work, run) = (Arc::clone(&inner), run.clone());
            inner.connection.run(async move { work.page(&run, after, PAGE_BYTES).await })
        })
    }

    fn blobs(&self) -> &dyn Blobs {
        &self.blobs
    }

    fn head(&self, run: &RunId) -> BoxFuture<'_, Result<Option<Head>, ReadError>> {
        on_thread!(self, inner, [run = run.clone()], {
            let last = inner.fresh(&run).await?.last;
            Ok(last.map(|last| Head { seq: last.seq, ts: last.ts, hash: last.hash }))
        })
    }

    fn runs(
        &self,
        after: Option<&Cursor>,
        bytes: usize,
    ) -> BoxFuture<'_, Result<Lines, ReadError>> {
        on_thread!(self, inner, [after = after.cloned()], inner.lines(after.as_ref(), bytes).await)
    }

    fn line(&self, run: &RunId) -> BoxFuture<'_, Result<Option<CastLine>, ReadError>> {
        on_thread!(self, inner, [run = run.clone()], inner.line(&run).await)
    }

    fn claim(&self, run: &RunId) -> BoxFuture<'_, Result<Lease, ClaimError>> {
        on_thread!(self, inner, [run = run.clone()], lease::claim(&inner, &run).await)
    }

    fn is_driven(&self, run: &RunId) -> BoxFuture<'_, Result<bool, ClaimError>> {
        on_thread!(self, inner, [run = run.clone()], {
            let holder = lease::holder(&inner.connection, &run).await;
            let holder = holder.map_err(|fault| lease::failed(&run, &fault))?;
            Ok(holder.is_some())
        })
    }

    fn post(&self, run: &RunId, command: &Command) -> BoxFuture<'_, Result<Posting, PostError>> {
        on_thread!(self, inner, [run = run.clone(), command = command.clone()], {
            inner.post(&run, command).await
        })
    }

    fn withdraw(
        &self,
        run: &RunId,
        epoch: Epoch,
        command: &CommandId,
    ) -> BoxFuture<'_, Result<bool, ReadError>> {
        on_thread!(self, inner, [run = run.clone(), command = command.clone()], {
            Ok(inner.withdraw(&run, epoch, &command).await?)
        })
    }

    fn commands(&self, run: &RunId) -> BoxFuture<'_, Result<Vec<Posted>, ReadError>> {
        on_thread!(self, inner, [run = run.clone()], inner.commands(&run).await)
    }

    fn addressed(&self) -> BoxFuture<'_, Result<Vec<RunId>, ReadError>> {
        on_thread!(self, inner, [], inner.addressed().await)
    }

    /// Counted from the events: the files of a run may be on another machine.
    fn weigh(&self, run: &RunId) -> DiskUsage {
        let (inner, run, weighed) = (Arc::clone(&self.inner), run.clone(), DiskUsage::default());
        let told = Arc::clone(&weighed);
        drop(self.inner.connection.run(async move {
            let (mut bytes, mut after) = (0_u64, 0);
            // Records that cannot be read are not counted.
            while let Ok(page) = inner.page(&run, after, PAGE_BYTES).await {
                bytes = bytes.saturating_add(weight_of(&page.records));
                after = page.records.last().map_or(after, |record| record.seq);
                if page.end {
                    break;
                }
            }
            // It is set here and nowhere else.
            let _ = told.set(bytes);
        }));
        weighed
    }

    fn receipt(
        &self,
        run: &RunId,
        command: &CommandId,
    ) -> BoxFuture<'_, Result<Option<Receipt>, ReadError>> {
        on_thread!(self, inner, [run = run.clone(), command = command.clone()], {
            Ok(inner.fresh(&run).await?.receipts.get(&command).cloned())
        })
    }
}

impl std::fmt::Debug for NatsJournal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("NatsJournal").field(&self.options().shown()).finish()
    }
}
