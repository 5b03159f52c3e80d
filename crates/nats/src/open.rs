//! Opens a space: connects to a server, and makes the streams that are missing.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use async_nats::jetstream::context::{
    CreateStreamError, CreateStreamErrorKind, GetStreamErrorKind, RequestError, RequestErrorKind,
};
use async_nats::jetstream::object_store::ObjectStore;
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType, Stream};
use async_nats::jetstream::{self, Context, ErrorCode};
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerAddr, ServerError};
use tokio::sync::watch;

use crate::Options;

/// How long a server may take to answer. A request without an answer is repeated.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// How long a server may take to accept a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// How long a server that accepts connections and does not answer is asked again: it may only be busy.
const OPEN_WITHIN: Duration = Duration::from_secs(15);

/// The smallest payload of a server that leaves room for decisions beside their headers.
const PAYLOAD_MIN: usize = 16 << 10;

/// The shortest time after which a key may lapse.
const AGE_MIN: Duration = Duration::from_secs(1);

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

/// An error with its causes.
pub(crate) fn whole(error: &dyn Error) -> String {
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

pub(crate) fn unreachable(options: &Options, error: &dyn Error) -> OpenError {
    OpenError::Unreachable { address: options.shown(), what: whole(error) }
}

/// The name of a bucket of a space.
pub(crate) fn bucket(space: &str, what: &str) -> String {
    format!("materia-{space}-{what}")
}

/// A client with the streams of its space.
pub(crate) struct Opened {
    pub(crate) client: Client,
    pub(crate) context: Context,
    pub(crate) stream: Stream,
    pub(crate) leases: Stream,
    pub(crate) blobs: ObjectStore,
    pub(crate) blob_stream: Stream,
}

/// Connects, and makes the streams of the space where they are missing. With `only_existing`, a space without the stream
/// of runs is left as it is: `None`.
pub(crate) async fn open(
    options: &Options,
    only_existing: bool,
) -> Result<Option<Opened>, OpenError> {
    let (tell, mut told) = watch::channel(None);
    let client = connect(options, tell).await?;
    let largest = client.server_info().max_payload;
    if largest < PAYLOAD_MIN {
        return Err(OpenError::Stream {
            address: options.shown(),
            what: format!(
                "its largest message has {largest} bytes; set its `max_payload` to {PAYLOAD_MIN} or more"
            ),
        });
    }
    let context = jetstream::ContextBuilder::new()
        .timeout(ANSWER_WITHIN)
        .ack_timeout(ANSWER_WITHIN)
        .build(client.clone());
    let [runs, leases, blobs] = streams(options);
    let blobs_bucket = bucket(options.space.as_str(), "blobs");
    let all = async {
        if only_existing && found(&context, &runs.name).await?.is_none() {
            return Ok(None);
        }
        let all =
            tokio::try_join!(made(&context, runs), made(&context, leases), made(&context, blobs));
        all.map(Some)
    };
    let address = options.shown();
    // A request that is not permitted gets no answer.
    let refused = async {
        let what = told.wait_for(Option::is_some).await.ok().and_then(|what| what.clone());
        match what {
            Some(what) => what,
            None => std::future::pending().await,
        }
    };
    let made = tokio::select! {
        biased;
        made = all => made.map_err(|what| OpenError::Stream { address, what })?,
        what = refused => return Err(OpenError::Refused { address, what }),
    };
    let Some((stream, leases, blob_stream)) = made else { return Ok(None) };
    let blobs = answered(|| context.get_object_store(&blobs_bucket)).await;
    let failed = |what| OpenError::Stream { address: options.shown(), what };
    let blobs = blobs.map_err(|error| failed(whole(&error)))?;
    Ok(Some(Opened { client, context, stream, leases, blobs, blob_stream }))
}

/// `refused` gets what the server refuses.
async fn connect(
    options: &Options,
    refused: watch::Sender<Option<String>>,
) -> Result<Client, OpenError> {
    let mut how = ConnectOptions::new().name("materia").connection_timeout(CONNECT_WITHIN);
    how = how.event_callback(move |event| {
        if let Event::ServerError(ServerError::Other(what)) = event {
            refused.send_replace(Some(what));
        }
        std::future::ready(())
    });
    let file =
        |path: &Path, what: String| OpenError::File { path: path.display().to_string(), what };
    if let Some(path) = &options.credentials {
        let text = std::fs::read_to_string(path).map_err(|error| file(path, error.to_string()))?;
        how = how.credentials(&text).map_err(|error| file(path, error.to_string()))?;
    }
    // The client does not take them from the address by itself.
    let addresses = options.url.split(',').filter_map(|one| one.trim().parse::<ServerAddr>().ok());
    for address in addresses {
        if let (Some(user), Some(password)) = (address.username(), address.password()) {
            how = how.user_and_password(user.to_owned(), password.to_owned());
        }
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

/// Repeats a request that is not answered in time.
async fn answered<T, E: Error + 'static, F: Future<Output = Result<T, E>>>(
    ask: impl Fn() -> F,
) -> Result<T, E> {
    let begun = Instant::now();
    loop {
        match ask().await {
            Err(error) if is_late(&error) && begun.elapsed() < OPEN_WITHIN => {}
            answer => return answer,
        }
    }
}

/// Whether a request failed because no answer came in time.
fn is_late(error: &(dyn Error + 'static)) -> bool {
    let request = error.downcast_ref::<RequestError>().map(RequestError::kind);
    let create = error.downcast_ref::<CreateStreamError>().map(CreateStreamError::kind);
    request == Some(RequestErrorKind::TimedOut)
        || create == Some(CreateStreamErrorKind::TimedOut)
        || error.source().is_some_and(is_late)
}

/// A stream, if it is there.
async fn found(context: &Context, name: &str) -> Result<Option<Stream>, String> {
    let error = match answered(|| context.get_stream(name)).await {
        Ok(stream) => return Ok(Some(stream)),
        Err(error) => error,
    };
    let missing = matches!(
        error.kind(),
        GetStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND
    );
    if missing {
        return Ok(None);
    }
    Err(format!("{} (is JetStream enabled, and permitted?)", whole(&error)))
}

/// The stream as it is, or made so. A user who may only read needs nothing made.
pub(crate) async fn made(context: &Context, config: Config) -> Result<Stream, String> {
    if let Some(stream) = found(context, &config.name).await? {
        return fitting(stream, &config);
    }
    let made = answered(|| context.create_stream(config.clone())).await;
    // Another process may have made it meanwhile, or it has other subjects.
    made.map_err(|error| format!("stream `{}`: {}", config.name, whole(&error)))
}

/// A stream that is there, if it keeps messages as Materia needs it.
pub(crate) fn fitting(stream: Stream, needed: &Config) -> Result<Stream, String> {
    let wrong = wrong_settings(&stream.cached_info().config, needed);
    if wrong.is_empty() {
        return Ok(stream);
    }
    Err(format!(
        "stream `{}` has other settings than Materia needs ({}); choose another space (`--space`), or remove the stream if it holds nothing that you need",
        needed.name,
        wrong.join(", ")
    ))
}

/// Settings with which messages would be lost, refused, or kept where they must lapse.
fn wrong_settings(found: &Config, needed: &Config) -> Vec<&'static str> {
    let limit = |limit: i64| limit.max(0);
    let missing = |subject: &String| !found.subjects.contains(subject);
    let lapses = |config: &Config| !config.max_age.is_zero();
    let too_soon = lapses(found) && found.max_age < AGE_MIN;
    [
        ("`subjects`", needed.subjects.iter().any(missing)),
        ("`storage` is not `file`", found.storage != StorageType::File),
        ("`retention` is not `limits`", found.retention != RetentionPolicy::Limits),
        (
            "`max_bytes` with `discard: old`",
            found.discard == DiscardPolicy::Old && limit(found.max_bytes) != 0,
        ),
        ("`max_age`", lapses(found) != lapses(needed) || too_soon),
        ("`max_msgs`", limit(found.max_messages) != 0),
        ("`max_msg_size`", limit(found.max_message_size.into()) != 0),
        (
            "`max_msgs_per_subject`",
            limit(found.max_messages_per_subject) != limit(needed.max_messages_per_subject),
        ),
        ("`no_ack`", found.no_ack),
        ("`sealed`", found.sealed),
        ("`deny_delete`", found.deny_delete != needed.deny_delete),
        ("`deny_purge`", needed.deny_purge && !found.deny_purge),
    ]
    .into_iter()
    .filter_map(|(name, is_wrong)| is_wrong.then_some(name))
    .collect()
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
    let (leases, blobs) = (bucket(space, "leases"), bucket(space, "blobs"));
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
