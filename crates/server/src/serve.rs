//! Starts, runs and stops the server.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use materia_app::Failure;
use materia_contract::CastStatus;
use materia_contract::api::ServerFile;
use materia_engine::{blocking, off_thread};
use materia_safe_fs::Folder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};

use crate::dispatch;
use crate::http::access::Access;
use crate::http::guard::{Asked, Policy};
use crate::http::limits::{
    ACT_WAIT_MAX, CONNECTIONS_MAX, DEATHS_MAX, EXPLORATIONS_MAX, HEAD_BYTES_MAX, LARGE_ANSWERS_MAX,
    READER_WAIT_MAX, REQUEST_WAIT_MAX, STREAMS_MAX,
};
use crate::http::listen::{Called, Listen, Listening};
use crate::http::page;
use crate::http::peer::{Caller, Peer};
use crate::http::problem::Refused;
use crate::http::slow_connection::SlowConnection;
use crate::http::strangers::{Stranger, Strangers};
use crate::projects::Registry;
use crate::projects::driven_casts::{DrivenCasts, Entry};
use crate::projects::keys::Keys;
use crate::projects::pending::{Named, Pending};
use crate::projects::served_folders::ServedFolders;
use crate::resources::trust;
use crate::state::{App, Counts, Settings};
use crate::{single_instance, spill, state_folder};

/// File in the state folder that describes the running server.
pub(crate) const SERVER_FILE: &str = "server.json";

/// How long connections may take to end when the server does.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// Headers of every response.
const HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, page::POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
];

/// Why a server cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// One serves already.
    #[error("a server of yours runs already{}", .0.as_ref().map(|it| format!(" at {} (process {})", it.url, it.pid)).unwrap_or_default())]
    Runs(Option<Box<ServerFile>>),
    /// It cannot listen.
    #[error("cannot listen there: {0}")]
    Listen(io::Error),
    /// The state folder cannot be used.
    #[error("the state folder `{}` cannot be used: {source}", .path.display())]
    State {
        /// The folder.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A project cannot be served.
    #[error("{0}")]
    Project(Failure),
}

/// A server that runs.
pub struct Serving {
    app: Arc<App>,
    ear: Listening,
    policy: Policy,
    left: Vec<Entry>,
    /// Held as long as it runs: one server a profile.
    _lock: File,
}

/// Begins to serve. Nothing is answered before [`Serving::run`].
pub async fn serve(settings: Settings) -> Result<Serving, ServeError> {
    let state = settings.state_dir.clone();
    let failed = |source| ServeError::State { path: state.clone(), source };
    state_folder::check(&state).map_err(failed)?;
    let lock = single_instance::take(&state).map_err(failed)?;
    let Some(lock) = lock else { return Err(ServeError::Runs(running(&state).map(Box::new))) };
    // The file of a server that was killed names a port where another program may listen by now.
    match fs::remove_file(state.join(SERVER_FILE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        Ok(()) | Err(_) => {}
    }
    let ear = Listening::open(&settings.listen).await.map_err(ServeError::Listen)?;
    let (url, port) = ear.address().map_err(ServeError::Listen)?;
    let access = Access::open(&state, port).map_err(failed)?;
    let (ledger, left) = DrivenCasts::open(&state).map_err(failed)?;
    let keys = Keys::open(&state).map_err(failed)?;
    let rooms = Registry::default();
    for dir in &settings.projects {
        let project = (settings.open)(dir).map_err(ServeError::Project)?;
        let connecting = project.clone();
        off_thread(move || connecting.remote().map(drop)).await.map_err(ServeError::Project)?;
        rooms.add(project).map_err(|refused| {
            ServeError::Project(Failure::resolution(refused.0.detail.clone()))
        })?;
    }
    let remembered = ServedFolders::at(settings.demo.is_none().then_some(state.as_path()));
    for dir in remembered.folders() {
        let added = (settings.open)(&dir).map_err(Refused::from).and_then(|it| rooms.add(it));
        if let Err(refused) = added {
            tracing::warn!(dir = %dir.display(), why = refused.0.detail, "not served any more");
        }
    }
    remembered.note(&rooms).map_err(failed)?;
    let policy = port.map_or_else(Policy::socket, Policy::port);
    let app = Arc::new(App {
        settings,
        access,
        url,
        rooms,
        remembered,
        ledger,
        keys,
        pending: Pending::default(),
        streams: Arc::new(Semaphore::new(STREAMS_MAX)),
        large: Arc::new(Semaphore::new(LARGE_ANSWERS_MAX)),
        explorations: Arc::new(Semaphore::new(EXPLORATIONS_MAX)),
        ending: watch::Sender::new(false),
        acts: Arc::default(),
        counts: Counts::default(),
    });
    let serving = Serving { app, ear, policy, left, _lock: lock };
    serving.say().map_err(failed)?;
    Ok(serving)
}

/// Reads the server file.
pub(crate) fn running(state: &Path) -> Option<ServerFile> {
    let bytes = Folder::at(state).ok()?.read(SERVER_FILE, 64 << 10).ok()?;
    serde_json::from_slice(&bytes).ok()
}

impl Serving {
    /// The address of the page; for a socket its path.
    pub fn url(&self) -> &str {
        &self.app.url
    }

    /// An address that opens the page signed in, once, at the first project.
    pub fn link(&self) -> io::Result<String> {
        let first = self.app.rooms.projects().into_iter().next();
        let project = first.map(|it| format!("&project={}", it.id)).unwrap_or_default();
        Ok(format!("{}/#code={}{project}", self.app.url, self.app.access.code()?))
    }

    /// Asks the server to end.
    pub fn stopper(&self) -> impl Fn() + Send + Sync + 'static {
        let app = Arc::clone(&self.app);
        move || {
            app.ending.send_replace(true);
        }
    }

    /// Writes down where it is to be found.
    fn say(&self) -> io::Result<()> {
        let said = ServerFile {
            url: self.app.url.clone(),
            pid: std::process::id(),
            token: self.app.access.token().to_owned(),
            version: self.app.settings.version.clone(),
        };
        let text = serde_json::to_vec(&said).map_err(io::Error::other)?;
        Folder::at(&self.app.settings.state_dir)?.replace(SERVER_FILE, &text)
    }

    /// Serves until it is asked to end. Its casts then rest, and can be resumed.
    pub async fn run(self) {
        let Self { app, ear, policy, left, _lock } = self;
        let router = dispatch::router(&app);
        let policy = Arc::new(policy);
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let mut ending = app.ending.subscribe();
        let giving_back = tokio::spawn(spill::give_memory_back());
        if app.settings.resume {
            let resuming = Arc::clone(&app);
            tokio::spawn(async move { off_thread(move || carry_on_left(&resuming, &left)).await });
        }
        let strangers = Arc::new(Strangers::default());
        loop {
            let next = async {
                let caller = ear.next().await;
                if places.available_permits() == 0 {
                    strangers.close_oldest();
                }
                // Further callers wait in the backlog.
                (Arc::clone(&places).acquire_owned().await, caller)
            };
            let (place, caller) = tokio::select! {
                next = next => next,
                _ = ending.wait_for(|ending| *ending) => break,
            };
            let (Ok(place), Ok(caller)) = (place, caller) else {
                // Too many open files, or a caller who has gone: others may come.
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            };
            let (app, router, policy) = (Arc::clone(&app), router.clone(), Arc::clone(&policy));
            let stranger = strangers.add();
            tokio::spawn(async move {
                let _place = place;
                call(app, router, policy, caller, stranger).await;
            });
        }
        drop(ear);
        // Wait for running requests first: they may still start casts.
        let through = tokio::time::timeout(ACT_WAIT_MAX, Arc::clone(&app.acts).write_owned()).await;
        for room in app.rooms.open() {
            room.host.stop("the server was stopped").await;
        }
        let _ = tokio::time::timeout(LAST_ANSWERS, places.acquire_many(256)).await;
        drop(through);
        giving_back.abort();
        let state = app.settings.state_dir.clone();
        off_thread(move || clear(&app, &state)).await;
    }
}

/// Takes away what says that a server runs.
fn clear(app: &App, state: &Path) {
    for room in app.rooms.open() {
        let _ = room.views.flush();
    }
    if running(state).is_some_and(|said| said.pid == std::process::id()) {
        let _ = fs::remove_file(state.join(SERVER_FILE));
    }
    if let Listen::Unix(path) = &app.settings.listen {
        let _ = fs::remove_file(path);
    }
}

/// Carries on the casts that an earlier server was driving when it died (S4).
fn carry_on_left(app: &Arc<App>, left: &[Entry]) {
    for entry in left {
        let id = &entry.cast_id;
        let served = match (app.settings.open)(&entry.project) {
            Ok(project) => app.rooms.add(project),
            Err(failure) => {
                tracing::warn!(%id, %failure, "its project cannot be served");
                continue;
            }
        };
        let Ok(served) = served else { continue };
        let Ok(cast) = app.rooms.find(Some(&served.id), id.as_str(), &Handle::current()) else {
            let _ = app.ledger.remove(&entry.root, id);
            continue;
        };
        let line = blocking(cast.journal()).line(id).ok().flatten();
        if line.is_none_or(|line| line.status != CastStatus::Running) {
            // It had come to rest.
            let _ = app.ledger.remove(&entry.root, id);
            continue;
        }
        if entry.deaths >= DEATHS_MAX {
            tracing::warn!(%id, "{DEATHS_MAX} servers in a row died while they drove it; it is carried on by hand only");
            continue;
        }
        let named = Named { provider: entry.provider.clone(), ..Named::default() };
        if let Err(refused) = trust::resume(app, &cast, &named) {
            tracing::warn!(%id, why = refused.0.detail, "it is not carried on");
        }
    }
}

/// Answers one connection.
async fn call(
    app: Arc<App>,
    router: Router,
    policy: Arc<Policy>,
    called: Called,
    stranger: Stranger,
) {
    let stranger = Arc::new(stranger);
    match called {
        Called::Tcp(stream, from) => {
            let peer = stream.local_addr().map_or(Peer::Unknown, |to| Peer::Tcp(from, to));
            converse(app, router, policy, stream, Caller::new(peer, stranger)).await;
        }
        Called::Unix(stream) => {
            // Another user cannot open the socket; who can all the same is root.
            let known = stream.peer_cred().ok();
            let process = known.and_then(|it| Some(Peer::Process(it.pid()?, Some(it.uid()))));
            let peer = process.unwrap_or(Peer::Unknown);
            converse(app, router, policy, stream, Caller::new(peer, stranger)).await;
        }
    }
}

async fn converse<S>(app: Arc<App>, router: Router, policy: Arc<Policy>, stream: S, caller: Caller)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let cut_off = Arc::clone(&app);
    let stream = SlowConnection::new(stream, READER_WAIT_MAX, move || {
        cut_off.counts.cut_off.fetch_add(1, Ordering::Relaxed);
        tracing::info!("a reader took nothing for too long and was cut off");
    });
    let mut ending = app.ending.subscribe();
    let each = caller.clone();
    let answering = service_fn(move |request: Request<Incoming>| {
        let (app, router, policy) = (Arc::clone(&app), router.clone(), Arc::clone(&policy));
        let caller = each.clone();
        async move {
            Ok::<_, std::convert::Infallible>(answer(app, router, &policy, request, caller).await)
        }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST_WAIT_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), answering);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // What goes wrong on a connection is its caller's matter.
        _ = connection.as_mut() => return,
        () = caller.is_closed() => return,
        _ = ending.wait_for(|ending| *ending) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

async fn answer(
    app: Arc<App>,
    router: Router,
    policy: &Policy,
    mut request: Request<Incoming>,
    caller: Caller,
) -> Response<Body> {
    app.counts.requests.fetch_add(1, Ordering::Relaxed);
    let asked = Asked {
        method: request.method(),
        uri: request.uri(),
        version: request.version(),
        headers: request.headers(),
    };
    let checked = policy.check(&asked);
    request.extensions_mut().insert(caller);
    let mut response = match checked {
        Ok(()) => match TowerToHyperService::new(router).call(request).await {
            Ok(response) => response,
        },
        Err(refused) => {
            app.counts.refused.fetch_add(1, Ordering::Relaxed);
            let mut response = refused.response();
            // What follows on the connection may be part of the body.
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            response
        }
    };
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    if response.status() == StatusCode::PAYLOAD_TOO_LARGE {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
