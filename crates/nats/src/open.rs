//! Opens a space: connects to a server, and makes the streams that are missing.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use async_nats::jetstream::context::{
    CreateStreamError, CreateStreamErrorKind, GetStreamErrorKind, RequestError, RequestErrorKind,
};
use async_nats::jetstream::object_store::ObjectStore;
use async_nats::jetstream::stream::{Config, DiscardPolicy, StorageType, Stream};
use async_nats::jetstream::{self, Context, ErrorCode};
use async_nats::{Client, ConnectErrorKind, ConnectOptions, ServerAddr};

use crate::Options;

/// How long a server may take to answer. A request without an answer is repeated.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// How long a server may take to accept a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// How long a server that accepts connections and does not answer is asked again: it may only be busy.
const OPEN_WITHIN: Duration = Duration::from_secs(15);

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

/// Connects, and makes the streams of the space where they are missing.
pub(crate) async fn open(options: &Options) -> Result<Opened, OpenError> {
    let client = connect(options).await?;
    let context = jetstream::ContextBuilder::new()
        .timeout(ANSWER_WITHIN)
        .ack_timeout(ANSWER_WITHIN)
        .build(client.clone());
    let [runs, leases, blobs] = streams(options);
    let blobs_bucket = bucket(options.space.as_str(), "blobs");
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
    let blobs = answered(|| context.get_object_store(&blobs_bucket)).await;
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

/// The stream as it is, or made so. A user who may only read needs nothing made.
pub(crate) async fn made(context: &Context, config: Config) -> Result<Stream, String> {
    let error = match answered(|| context.get_stream(&config.name)).await {
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
    let made = answered(|| context.create_stream(config.clone())).await;
    made.map_err(|error| whole(&error))
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
