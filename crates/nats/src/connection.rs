//! The connection to the servers: where it works, the streams of the space, single requests.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use async_nats::connection::State;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::object_store::ObjectStore;
use async_nats::jetstream::stream::{
    LastRawMessageErrorKind, RawMessageBuilder, Stream, WithHeaders,
};
use async_nats::jetstream::{self, Context, ErrorCode};
use async_nats::{Client, HeaderMap};
use futures_util::TryStreamExt as _;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::watch;

use crate::Options;
use crate::open::{OpenError, Opened, bucket, open, unreachable, whole};

pub(crate) use async_nats::jetstream::message::StreamMessage;

/// The wait before a request is repeated.
pub(crate) const REPEAT_AFTER: Duration = Duration::from_millis(100);

/// Room that a message leaves below the largest payload of the server.
const PAYLOAD_MARGIN: usize = 4 << 10;

/// Why a request was not carried out.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Fault {
    /// No server has answered for as long as one is waited for.
    #[error("the NATS server was lost: {0}")]
    Lost(String),
    /// The server has no room.
    #[error("the NATS server has no room: {0}")]
    Full(String),
    /// The server does not do it.
    #[error("the NATS server refuses: {0}")]
    Refused(String),
}

/// Result of one attempt to publish.
#[derive(Debug)]
pub(crate) enum Published {
    /// It is stored, at this sequence.
    At(u64),
    /// Another message came first.
    Late,
    /// Nobody knows: no answer came.
    Unknown(String),
}

/// Facts about a server, for `doctor`.
#[derive(Debug, Clone)]
pub struct ServerFacts {
    /// Its version.
    pub version: String,
    /// The largest payload of a message, in bytes.
    pub max_payload: usize,
    /// How many servers keep each message of the space.
    pub replicas: usize,
    /// The time of a lease.
    pub lease: Duration,
}

/// The buckets of workers, once they are there.
#[derive(Default)]
pub(crate) struct Buckets {
    pub(crate) todo: tokio::sync::OnceCell<Stream>,
    pub(crate) workers: tokio::sync::OnceCell<Stream>,
    pub(crate) packs: tokio::sync::OnceCell<Stream>,
}

/// A connection, and the streams of a space.
pub(crate) struct Connection {
    tasks: Tasks,
    pub(crate) client: Client,
    pub(crate) context: Context,
    pub(crate) options: Options,
    /// Runs and inboxes.
    pub(crate) stream: Stream,
    /// The bucket of leases.
    pub(crate) leases: Stream,
    /// The bucket of blobs.
    pub(crate) blobs: ObjectStore,
    pub(crate) blob_stream: Stream,
    /// The buckets of workers.
    pub(crate) buckets: Buckets,
    /// The time of a lease, as the bucket has it.
    pub(crate) lease: Duration,
    /// The name of this process, once it is a worker.
    pub(crate) worker: OnceLock<String>,
    /// How many leases are held, or are being given up.
    pub(crate) held: watch::Sender<usize>,
    /// Whether a server was waited for in vain.
    given_up: AtomicBool,
}

impl Connection {
    /// Connects, and makes the streams of the space where they are not there; with `only_existing`, a space that is not
    /// there is not made: `None`. Blocks.
    pub(crate) fn open(
        options: Options,
        only_existing: bool,
    ) -> Result<Option<Arc<Self>>, OpenError> {
        let tasks = Tasks::begin(&options).map_err(|error| unreachable(&options, &error))?;
        let (answer, answered) = std::sync::mpsc::channel();
        let wanted = options.clone();
        tasks.spawn(async move { answer.send(Box::pin(open(&wanted, only_existing)).await) });
        let opened = answered.recv().map_err(|error| unreachable(&options, &error))??;
        let Some(opened) = opened else { return Ok(None) };
        let Opened { client, context, stream, leases, blobs, blob_stream } = opened;
        let lease = leases.cached_info().config.max_age;
        Ok(Some(Arc::new(Self {
            tasks,
            client,
            context,
            options,
            stream,
            leases,
            blobs,
            blob_stream,
            buckets: Buckets::default(),
            lease,
            worker: OnceLock::new(),
            held: watch::Sender::new(0),
            given_up: AtomicBool::new(false),
        })))
    }

    /// Does something where the connection works, even if the future is dropped.
    pub(crate) fn run<T, W>(self: &Arc<Self>, work: W) -> impl Future<Output = T> + Send + use<T, W>
    where
        T: Send + 'static,
        W: Future<Output = T> + Send + 'static,
    {
        let task = self.tasks.spawn(work);
        async move {
            if let Some(task) = task
                && let Ok(done) = task.await
            {
                return done;
            }
            // The connection was dropped, and with it everybody who would want to know.
            std::future::pending().await
        }
    }

    /// Whether it works among the tasks of its caller, which no task may keep waiting.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.tasks, Tasks::Shared(_))
    }

    /// The largest payload of a message of ours.
    pub(crate) fn room(&self) -> usize {
        self.client.server_info().max_payload.saturating_sub(PAYLOAD_MARGIN)
    }

    /// A word that nobody else has.
    pub(crate) fn nonce(&self) -> String {
        let inbox = self.client.new_inbox();
        inbox.rsplit('.').next().unwrap_or(&inbox).to_owned()
    }

    /// The subject of a run, or of its inbox (`kind` is then `inbox`).
    pub(crate) fn subject(&self, kind: &str, run: &str) -> String {
        format!("materia.{}.{kind}.{run}", self.options.space.as_str())
    }

    /// The key of a run in the bucket of leases.
    pub(crate) fn lease_key(&self, run: &str) -> String {
        format!("$KV.{}.{run}", bucket(self.options.space.as_str(), "leases"))
    }

    /// Publishes a message where the last one of its subject is at `expected`. One attempt.
    pub(crate) async fn publish(
        &self,
        subject: String,
        headers: HeaderMap,
        payload: Vec<u8>,
        expected: Option<u64>,
    ) -> Result<Published, Fault> {
        let mut message = PublishMessage::build().payload(payload.into()).headers(headers);
        if let Some(expected) = expected {
            message = message.expected_last_subject_sequence(expected);
        }
        let sent = match self.context.send_publish(subject, message).await {
            Ok(sent) => sent.await,
            Err(error) => Err(error),
        };
        let error = match sent {
            Ok(ack) => return Ok(Published::At(ack.sequence)),
            Err(error) => error,
        };
        match error.kind() {
            PublishErrorKind::WrongLastSequence => Ok(Published::Late),
            PublishErrorKind::TimedOut
            | PublishErrorKind::BrokenPipe
            | PublishErrorKind::StreamNotFound
            | PublishErrorKind::MaxAckPending => Ok(Published::Unknown(error.to_string())),
            PublishErrorKind::MaxPayloadExceeded => Err(Fault::Refused(error.to_string())),
            PublishErrorKind::WrongLastMessageId | PublishErrorKind::Other => {
                let source = std::error::Error::source(&error);
                let code = source
                    .and_then(|source| source.downcast_ref::<jetstream::Error>())
                    .map(jetstream::Error::error_code);
                let what = source.map_or_else(|| error.to_string(), ToString::to_string);
                match code {
                    Some(ErrorCode::STREAM_WRONG_LAST_SEQUENCE_CONSTANT) => Ok(Published::Late),
                    Some(
                        ErrorCode::INSUFFICIENT_RESOURCES | ErrorCode::STORAGE_RESOURCES_EXCEEDED,
                    ) => Err(Fault::Full(what)),
                    Some(_) | None => Ok(Published::Unknown(what)),
                }
            }
        }
    }

    /// Publishes a message however often it may then be there: for those that are the same twice.
    pub(crate) async fn publish_surely(
        &self,
        subject: &str,
        headers: &HeaderMap,
        payload: &[u8],
    ) -> Result<u64, Fault> {
        let mut patience = self.patience();
        loop {
            let sent = (subject.to_owned(), headers.clone(), payload.to_vec());
            match self.publish(sent.0, sent.1, sent.2, None).await? {
                Published::At(sequence) => return Ok(sequence),
                Published::Late => patience.again("another message came first".to_owned()).await?,
                Published::Unknown(what) => patience.again(what).await?,
            }
        }
    }

    /// For a request that begins now and is repeated until it is answered.
    pub(crate) fn patience(&self) -> Patience<'_> {
        Patience { connection: self, begun: Instant::now() }
    }

    /// The next message of a subject, which may have wildcards, from `from` on. The leader answers.
    pub(crate) async fn next(
        &self,
        stream: &Stream,
        subject: &str,
        from: u64,
    ) -> Result<Option<StreamMessage>, Fault> {
        let wanted = || stream.raw_message_builder().sequence(from.max(1)).next_by_subject(subject);
        self.get(wanted).await
    }

    /// The last message of a subject, which may have wildcards. The leader answers.
    pub(crate) async fn last(
        &self,
        stream: &Stream,
        subject: &str,
    ) -> Result<Option<StreamMessage>, Fault> {
        self.get(|| stream.raw_message_builder().last_by_subject(subject)).await
    }

    /// The message at a sequence. The leader answers.
    pub(crate) async fn at(
        &self,
        stream: &Stream,
        sequence: u64,
    ) -> Result<Option<StreamMessage>, Fault> {
        self.get(|| stream.raw_message_builder().sequence(sequence)).await
    }

    /// The subjects of a stream that have messages, and how many.
    pub(crate) async fn subjects(
        &self,
        stream: &Stream,
        filter: &str,
    ) -> Result<Vec<(String, usize)>, Fault> {
        let mut patience = self.patience();
        loop {
            let error = match stream.info_with_subjects(filter).await {
                Ok(info) => match info.try_collect().await {
                    Ok(all) => return Ok(all),
                    Err(error) => error.to_string(),
                },
                Err(error) => error.to_string(),
            };
            patience.again(error).await?;
        }
    }

    async fn get(
        &self,
        wanted: impl Fn() -> RawMessageBuilder<WithHeaders>,
    ) -> Result<Option<StreamMessage>, Fault> {
        let mut patience = self.patience();
        loop {
            let error = match wanted().send().await {
                Ok(message) => return Ok(Some(message)),
                Err(error) => error,
            };
            match error.kind() {
                LastRawMessageErrorKind::NoMessageFound => return Ok(None),
                LastRawMessageErrorKind::InvalidSubject => {
                    return Err(Fault::Refused(error.to_string()));
                }
                LastRawMessageErrorKind::JetStream(_) | LastRawMessageErrorKind::Other => {
                    patience.again(whole(&error)).await?;
                }
            }
        }
    }

    /// Facts about the server and the space.
    pub(crate) fn facts(&self) -> ServerFacts {
        let info = self.client.server_info();
        ServerFacts {
            version: info.version,
            max_payload: info.max_payload,
            replicas: self.stream.cached_info().config.num_replicas,
            lease: self.lease,
        }
    }
}

/// How long a request has been without an answer.
pub(crate) struct Patience<'a> {
    connection: &'a Connection,
    begun: Instant,
}

impl Patience<'_> {
    /// Waits before the next attempt; fails if a server was waited for long enough.
    pub(crate) async fn again(&mut self, what: String) -> Result<(), Fault> {
        let Connection { client, given_up, options, .. } = self.connection;
        // After one wait in vain, later requests fail at once until the client is connected again.
        let in_vain =
            given_up.load(Ordering::Relaxed) && client.connection_state() != State::Connected;
        if in_vain || self.begun.elapsed() >= options.patience {
            given_up.store(true, Ordering::Relaxed);
            return Err(Fault::Lost(what));
        }
        tracing::debug!(what, "repeated");
        tokio::time::sleep(REPEAT_AFTER).await;
        Ok(())
    }
}

/// Where a connection works.
enum Tasks {
    /// On a thread of its own. It is dropped by tasks, too, which may not wait for it.
    Own(Option<Runtime>),
    /// Among the tasks of the caller.
    Shared(Handle),
}

impl Tasks {
    fn begin(options: &Options) -> std::io::Result<Self> {
        if let Some(runtime) = &options.runtime {
            return Ok(Self::Shared(runtime.clone()));
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("nats")
            .enable_all()
            .build()?;
        Ok(Self::Own(Some(runtime)))
    }

    fn spawn<W>(&self, work: W) -> Option<tokio::task::JoinHandle<W::Output>>
    where
        W: Future<Output: Send> + Send + 'static,
    {
        match self {
            Self::Own(runtime) => runtime.as_ref().map(|runtime| runtime.spawn(work)),
            Self::Shared(runtime) => Some(runtime.spawn(work)),
        }
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        if let Self::Own(runtime) = self
            && let Some(runtime) = runtime.take()
        {
            runtime.shutdown_background();
        }
    }
}
