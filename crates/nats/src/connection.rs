//! The connection to the servers: one thread of its own, the streams of the space, single requests.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_nats::connection::State;
use async_nats::jetstream::context::{GetStreamErrorKind, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::object_store::ObjectStore;
use async_nats::jetstream::stream::{
    Config, DiscardPolicy, LastRawMessageErrorKind, RawMessageBuilder, StorageType, Stream,
    WithHeaders,
};
use async_nats::jetstream::{self, Context, ErrorCode};
use async_nats::{Client, ConnectErrorKind, ConnectOptions, HeaderMap};
use tokio::runtime::Runtime;

use crate::Options;

pub(crate) use async_nats::jetstream::message::StreamMessage;

/// How long a server may take to accept a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// How long a server may take to answer. A request without an answer is repeated.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// The wait before a request is repeated.
pub(crate) const REPEAT_AFTER: Duration = Duration::from_millis(100);

/// Room that a message leaves below the largest payload of the server.
const PAYLOAD_MARGIN: usize = 4 << 10;

/// Why the journal could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No server answers there.
    #[error(
        "no NATS server answers at `{address}`: {what}; start it, or name another one (`--journal`)"
    )]
    Unreachable {
        /// The address.
        address: String,
        /// The error.
        what: String,
    },
    /// The server refuses the user.
    #[error(
        "the NATS server at `{address}` refuses: {what}; MATERIA_NATS_CREDS names the file with credentials"
    )]
    Refused {
        /// The address.
        address: String,
        /// The error.
        what: String,
    },
    /// A file of the user's cannot be used.
    #[error("`{path}` cannot be used for the journal: {what}")]
    File {
        /// The file.
        path: String,
        /// The error.
        what: String,
    },
    /// The server cannot hold the space.
    #[error("the NATS server at `{address}` cannot keep casts: {what}")]
    Stream {
        /// The address.
        address: String,
        /// The error.
        what: String,
    },
}

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

/// A connection, and the streams of a space.
pub(crate) struct Connection {
    thread: Thread,
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
    /// The time of a lease, as the bucket has it.
    pub(crate) lease: Duration,
    /// Whether a server was waited for in vain.
    given_up: AtomicBool,
}

impl Connection {
    /// Connects, and makes the streams of the space where they are not there. Blocks.
    pub(crate) fn open(options: Options) -> Result<Arc<Self>, OpenError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("nats")
            .enable_all()
            .build()
            .map_err(|error| unreachable(&options, &error))?;
        let thread = Thread(Some(runtime));
        let (answer, answered) = std::sync::mpsc::channel();
        let wanted = options.clone();
        thread.spawn(async move { answer.send(Box::pin(open(&wanted)).await) });
        let opened = answered.recv().map_err(|error| unreachable(&options, &error))??;
        let Opened { client, context, stream, leases, blobs, blob_stream } = opened;
        let lease = leases.cached_info().config.max_age;
        Ok(Arc::new(Self {
            thread,
            client,
            context,
            options,
            stream,
            leases,
            blobs,
            blob_stream,
            lease,
            given_up: AtomicBool::new(false),
        }))
    }

    /// Does something on the thread of the connection, even if the future is dropped.
    pub(crate) fn run<T, W>(self: &Arc<Self>, work: W) -> impl Future<Output = T> + Send + use<T, W>
    where
        T: Send + 'static,
        W: Future<Output = T> + Send + 'static,
    {
        let task = self.thread.spawn(work);
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

    /// The largest payload of a message of ours.
    pub(crate) fn room(&self) -> usize {
        self.client.server_info().max_payload.saturating_sub(PAYLOAD_MARGIN).max(PAYLOAD_MARGIN)
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
        format!("$KV.{}.{run}", leases_bucket(self.options.space.as_str()))
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

/// The thread of a connection. It is dropped by tasks, too, which may not wait for it.
struct Thread(Option<Runtime>);

impl Thread {
    fn spawn<W>(&self, work: W) -> Option<tokio::task::JoinHandle<W::Output>>
    where
        W: Future<Output: Send> + Send + 'static,
    {
        self.0.as_ref().map(|runtime| runtime.spawn(work))
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// An error with its causes.
fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

fn unreachable(options: &Options, error: &dyn std::error::Error) -> OpenError {
    OpenError::Unreachable { address: options.shown(), what: whole(error) }
}

fn leases_bucket(space: &str) -> String {
    format!("materia-{space}-leases")
}

fn blobs_bucket(space: &str) -> String {
    format!("materia-{space}-blobs")
}

struct Opened {
    client: Client,
    context: Context,
    stream: Stream,
    leases: Stream,
    blobs: ObjectStore,
    blob_stream: Stream,
}

async fn open(options: &Options) -> Result<Opened, OpenError> {
    let client = connect(options).await?;
    let context = jetstream::ContextBuilder::new()
        .timeout(ANSWER_WITHIN)
        .ack_timeout(ANSWER_WITHIN)
        .build(client.clone());
    let [runs, leases, blobs] = streams(options);
    let bucket = blobs_bucket(options.space.as_str());
    let (stream, leases, blob_stream) =
        tokio::try_join!(made(&context, runs), made(&context, leases), made(&context, blobs))
            .map_err(|what| {
                let address = options.shown();
                if what.contains("ermission") {
                    OpenError::Refused { address, what }
                } else {
                    OpenError::Stream { address, what }
                }
            })?;
    let blobs = context.get_object_store(bucket).await;
    let failed = |what| OpenError::Stream { address: options.shown(), what };
    let blobs = blobs.map_err(|error| failed(whole(&error)))?;
    Ok(Opened { client, context, stream, leases, blobs, blob_stream })
}

async fn connect(options: &Options) -> Result<Client, OpenError> {
    let mut how = ConnectOptions::new().name("materia").connection_timeout(CONNECT_WITHIN);
    let file =
        |path: &Path, what: String| OpenError::File { path: path.display().to_string(), what };
    if let Some(path) = &options.credentials {
        let text = std::fs::read_to_string(path).map_err(|error| file(path, error.to_string()))?;
        how = how.credentials(&text).map_err(|error| file(path, error.to_string()))?;
    }
    if let Some(path) = &options.certificate {
        std::fs::File::open(path).map_err(|error| file(path, error.to_string()))?;
        how = how.add_root_certificates(path.clone());
    }
    if options.url.split(',').any(|one| one.trim().starts_with("tls://")) {
        how = how.require_tls(true);
    }
    let servers: Vec<&str> = options.url.split(',').map(str::trim).collect();
    how.connect(servers).await.map_err(|error| match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            OpenError::Refused { address: options.shown(), what: whole(&error) }
        }
        ConnectErrorKind::ServerParse
        | ConnectErrorKind::Dns
        | ConnectErrorKind::TimedOut
        | ConnectErrorKind::Tls
        | ConnectErrorKind::Io
        | ConnectErrorKind::MaxReconnects => unreachable(options, &error),
    })
}

/// The stream as it is, or made so. A user who may only read needs nothing made.
async fn made(context: &Context, config: Config) -> Result<Stream, String> {
    let error = match context.get_stream(&config.name).await {
        Ok(stream) => return Ok(stream),
        Err(error) => error,
    };
    let missing = matches!(
        error.kind(),
        GetStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND
    );
    if !missing {
        return Err(format!("{} (is JetStream enabled, and permitted?)", whole(&error)));
    }
    context.create_stream(config).await.map_err(|error| whole(&error))
}

/// Nothing reads by direct get: any replica answers it, and may be behind.
fn streams(options: &Options) -> [Config; 3] {
    let space = options.space.as_str();
    let usual = || Config {
        storage: StorageType::File,
        num_replicas: options.replicas,
        allow_direct: false,
        discard: DiscardPolicy::New,
        ..Config::default()
    };
    let (leases, blobs) = (leases_bucket(space), blobs_bucket(space));
    [
        Config {
            name: format!("materia-{space}"),
            subjects: vec![format!("materia.{space}.run.>"), format!("materia.{space}.inbox.>")],
            deny_delete: true,
            deny_purge: true,
            ..usual()
        },
        Config {
            name: format!("KV_{leases}"),
            subjects: vec![format!("$KV.{leases}.>")],
            max_messages_per_subject: 1,
            max_age: options.lease,
            // The window of message ids must not be longer than that.
            duplicate_window: options.lease,
            allow_rollup: true,
            deny_delete: true,
            ..usual()
        },
        Config {
            name: format!("OBJ_{blobs}"),
            subjects: vec![format!("$O.{blobs}.C.>"), format!("$O.{blobs}.M.>")],
            allow_rollup: true,
            ..usual()
        },
    ]
}
