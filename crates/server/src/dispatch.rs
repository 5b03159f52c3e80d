//! Maps the table of endpoints to their handlers.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{RawPathParams, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::routing::{MethodFilter, on};
use materia_contract::api::{
    Access as Needs, Alive, Code, ENDPOINTS, Endpoint, Method, Name, SessionBody, SessionKey,
};
use materia_engine::off_thread;

use crate::limits::{BODY_BYTES_MAX, CONFIG_BYTES_MAX, REQUEST_WAIT_MAX};
use crate::peer::Caller;
use crate::problem::Refused;
use crate::request::{Request, json, json_as, query_of, text};
use crate::spill::spilled;
use crate::state::App;
use crate::{
    act, begin, config, demo, edit, events, explore, inbox, list, metrics, page, query, stream,
    trust, workers, workspace,
};

/// The routes of the table, and the page for everything else.
pub(crate) fn router(app: &Arc<App>) -> Router {
    let mut router = Router::new();
    for endpoint in ENDPOINTS {
        let filter = match endpoint.method {
            Method::Get => MethodFilter::GET,
            Method::Post => MethodFilter::POST,
            Method::Put => MethodFilter::PUT,
            Method::Delete => MethodFilter::DELETE,
        };
        let handler = move |State(app): State<Arc<App>>,
                            parts: RawPathParams,
                            request: axum::extract::Request| async move {
            match answer(app, endpoint, &parts, request).await {
                Ok(response) => response,
                Err(refused) => refused.response(),
            }
        };
        router = router.route(endpoint.path, on(filter, handler));
    }
    router
        .fallback(|State(app): State<Arc<App>>, request: axum::extract::Request| async move {
            elsewhere(&app, &request)
        })
        .method_not_allowed_fallback(
            |State(app): State<Arc<App>>, request: axum::extract::Request| async move {
                if !app.access.knows(request.headers()) {
                    return unknown_sender().response();
                }
                let detail = "this path takes another method; GET /api/openapi.json lists them";
                Refused::new(StatusCode::METHOD_NOT_ALLOWED, "usage", detail).response()
            },
        )
        .with_state(Arc::clone(app))
}

/// A path that is not in the table: the page, or nothing.
fn elsewhere(app: &App, request: &axum::extract::Request) -> Response<Body> {
    let path = request.uri().path();
    if path == "/api" || path.starts_with("/api/") {
        if !app.access.knows(request.headers()) {
            return unknown_sender().response();
        }
        return Refused::unknown("there is no such path; GET /api/openapi.json lists all paths")
            .response();
    }
    page::answer(request.method(), path, app.settings.page_dir.as_deref())
}

fn unknown_sender() -> Refused {
    Refused::new(
        StatusCode::UNAUTHORIZED,
        "unauthorized",
        "this request is not authenticated: a program sends the token of server.json as `Authorization: Bearer`, a page signs in with the link that `materia ui` prints",
    )
}

fn no_person() -> Refused {
    Refused::new(
        StatusCode::FORBIDDEN,
        "forbidden",
        "this is for a person who has signed in, not for a token: use the page, or `materia ui` in the folder",
    )
}

async fn answer(
    app: Arc<App>,
    endpoint: &'static Endpoint,
    parts: &RawPathParams,
    request: axum::extract::Request,
) -> Result<Response<Body>, Refused> {
    let (head, body) = request.into_parts();
    if endpoint.access != Needs::Open && !app.access.knows(&head.headers) {
        return Err(unknown_sender());
    }
    if endpoint.access == Needs::Person && !app.access.has_session(&head.headers) {
        return Err(no_person());
    }
    let query = query_of(head.uri.query().unwrap_or_default(), endpoint)?;
    if endpoint.method.changes() {
        content_type(&head.headers)?;
    }
    let holds_configuration = matches!(
        endpoint.name,
        Name::SaveConfig
            | Name::Check
            | Name::KeepDraft
            | Name::Diff
            | Name::Simulate
            | Name::Explore
            | Name::Link
    );
    let most = if holds_configuration { CONFIG_BYTES_MAX } else { BODY_BYTES_MAX };
    announced(&head.headers, if endpoint.method.changes() { most } else { 0 })?;
    // Looking for the caller's process costs more than all the rest, so it comes behind the rest.
    let caller = head.extensions.get::<Caller>().cloned();
    if endpoint.access != Needs::Open
        && let Some(caller) = &caller
        && caller.is_of_turn().await
    {
        return Err(Refused::new(
            StatusCode::FORBIDDEN,
            "forbidden",
            "this request comes from a process of a turn, and that turn may not control casts; `policy.steer` of its socket allows it",
        ));
    }
    let body = read(body, most, endpoint.method.changes()).await?;
    let parts = parts.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let asked = Request { parts, query, headers: head.headers, caller, body };
    // An exploration changes nothing: it ends when nobody waits for it any more.
    if endpoint.method.changes() && endpoint.name != Name::Explore {
        return to_its_end(app, endpoint, asked).await;
    }
    respond(app, endpoint, asked).await
}

/// Does what changes something in a task of its own: a connection that is lost drops this future, not what has begun.
async fn to_its_end(
    app: Arc<App>,
    endpoint: &'static Endpoint,
    asked: Request,
) -> Result<Response<Body>, Refused> {
    let Ok(share) = Arc::clone(&app.acts).try_read_owned() else {
        let detail = "the server ends, and begins nothing more; nothing was done";
        return Err(Refused::new(StatusCode::SERVICE_UNAVAILABLE, "ending", detail));
    };
    let task = tokio::spawn(async move {
        let _share = share;
        respond(app, endpoint, asked).await
    });
    task.await.unwrap_or_else(|error| {
        let detail = format!("the request broke off: {error}");
        Err(Refused::new(StatusCode::INTERNAL_SERVER_ERROR, "storage", detail))
    })
}

async fn respond(
    app: Arc<App>,
    endpoint: &'static Endpoint,
    asked: Request,
) -> Result<Response<Body>, Refused> {
    match endpoint.name {
        Name::Health => health(&app, &asked),
        Name::Codes => {
            let code = app.access.code().map_err(|error| Refused::usage(error.to_string()))?;
            let url = format!("{}/#code={code}", app.url);
            Ok(json(&Code { code, url }))
        }
        Name::Session => session(&app, &asked).await,
        Name::Openapi => Ok(text(
            "application/json",
            materia_compiler::schema("openapi.json").unwrap_or_default().to_owned(),
        )),
        Name::Stop => {
            app.ending.send_replace(true);
            Ok(json_as(StatusCode::ACCEPTED, &alive(&app)))
        }
        Name::Start => begin::start(app, &asked).await,
        Name::Act => act::act(app, &asked).await,
        Name::Drive => act::drive(app, &asked).await,
        Name::Stream => stream::cast(app, &asked).await,
        Name::Changes => stream::changes(app, &asked).await,
        Name::Agents => query::agents(app, &asked).await,
        Name::Metrics => metrics::metrics(app).await,
        Name::Try => edit::tried(app, &asked).await,
        Name::StartDemo => demo::start(app, &asked).await,
        Name::Explore => explore::explore(app, asked).await,
        Name::Events
        | Name::Cast
        | Name::Turn
        | Name::Given
        | Name::Sent
        | Name::Compare
        | Name::File
        | Name::WorkspaceDiff
        | Name::Blob => {
            let room = Arc::clone(&app.large).acquire_owned().await;
            let folder = app.settings.state_dir.clone();
            let answer = off_thread(move || look(&app, endpoint.name, &asked)).await?;
            spilled(answer, &folder, room).await
        }
        Name::Projects
        | Name::AddProject
        | Name::RemoveProject
        | Name::Casts
        | Name::Why
        | Name::Cost
        | Name::Files
        | Name::Workspace
        | Name::ApplyWorkspace
        | Name::DropWorkspace
        | Name::Inbox
        | Name::Workers
        | Name::Trust
        | Name::Approve
        | Name::Config
        | Name::SaveConfig
        | Name::Check
        | Name::Loadouts
        | Name::Loadout
        | Name::Bounds
        | Name::Materia
        | Name::Choices
        | Name::Drafts
        | Name::Draft
        | Name::KeepDraft
        | Name::DropDraft
        | Name::Diff
        | Name::Simulate
        | Name::Link
        | Name::Demo => {
            let folder = app.settings.state_dir.clone();
            let answer = off_thread(move || look(&app, endpoint.name, &asked)).await?;
            spilled(answer, &folder, ()).await
        }
    }
}

/// Handlers that only read or write files. They block, so they run off the runtime's threads.
fn look(app: &Arc<App>, name: Name, asked: &Request) -> Result<Response<Body>, Refused> {
    match name {
        Name::Projects => Ok(query::projects(app)),
        Name::AddProject => query::add_project(app, asked),
        Name::RemoveProject => query::remove_project(app, asked),
        Name::Casts => list::casts(app, asked),
        Name::Cast => query::cast(app, asked),
        Name::Events => events::events(app, asked),
        Name::Turn => query::turn(app, asked),
        Name::Why => query::why(app, asked),
        Name::Given => query::given(app, asked),
        Name::Sent => query::sent(app, asked),
        Name::Cost => query::cost(app, asked),
        Name::Files => query::files(app, asked),
        Name::File => query::file(app, asked),
        Name::Workers => workers::workers(app, asked),
        Name::Workspace => workspace::workspace(app, asked),
        Name::WorkspaceDiff => workspace::diff(app, asked),
        Name::ApplyWorkspace => workspace::apply(app, asked),
        Name::DropWorkspace => workspace::discard(app, asked),
        Name::Blob => query::blob(app, asked),
        Name::Inbox => inbox::inbox(app, asked),
        Name::Trust => trust::list(app, asked),
        Name::Approve => trust::approve(app, &asked.json()?),
        Name::Config => config::config(app, asked),
        Name::SaveConfig => config::save(app, asked),
        Name::Check => config::check(app, asked),
        Name::Loadouts => config::loadouts(app, asked),
        Name::Loadout => config::loadout(app, asked),
        Name::Bounds => config::bounds(app, asked),
        Name::Materia => config::materia(app, asked),
        Name::Compare => query::compare(app, asked),
        Name::Choices => edit::choices(app, asked),
        Name::Drafts => edit::drafts(app, asked),
        Name::Draft => edit::draft(app, asked),
        Name::KeepDraft => edit::keep(app, asked),
        Name::DropDraft => edit::throw_away(app, asked),
        Name::Diff => edit::diff(asked),
        Name::Simulate => edit::simulate(app, asked),
        Name::Link => edit::linked(app, asked),
        Name::Demo => Ok(demo::available(app)),
        Name::Health
        | Name::Codes
        | Name::Session
        | Name::Openapi
        | Name::Stop
        | Name::Start
        | Name::Act
        | Name::Drive
        | Name::Stream
        | Name::Changes
        | Name::Agents
        | Name::Try
        | Name::Explore
        | Name::StartDemo
        | Name::Metrics => Err(Refused::unknown("there is nothing here")),
    }
}

fn alive(app: &App) -> Alive {
    Alive { status: "ok".to_owned(), version: app.settings.version.clone(), proof: None }
}

/// The longest text that a proof is asked for with.
const NONCE_CHARS_MAX: usize = 64;

fn health(app: &App, asked: &Request) -> Result<Response<Body>, Refused> {
    let Some(nonce) = asked.query("nonce") else { return Ok(json(&alive(app))) };
    let plain = nonce.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !plain || nonce.len() > NONCE_CHARS_MAX {
        return Err(Refused::usage("`nonce` has 1 to 64 letters and digits"));
    }
    Ok(json(&Alive { proof: Some(app.access.prove(nonce)), ..alive(app) }))
}

async fn session(app: &App, asked: &Request) -> Result<Response<Body>, Refused> {
    let body: SessionBody = asked.json()?;
    let user = match &asked.caller {
        Some(caller) => caller.user().await,
        None => None,
    };
    let Some(session) = app.access.session(&body.code, user) else {
        return Err(Refused::new(
            StatusCode::UNAUTHORIZED,
            "unauthorized",
            "this code was used, is older than a minute, or is none; `materia ui` prints another link",
        ));
    };
    let mut response = json(&SessionKey { key: session.key, verifier: session.verifier });
    if let Ok(cookie) = HeaderValue::from_str(&session.cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

/// Refuses a body that is not JSON: a form of another site cannot send JSON.
fn content_type(headers: &HeaderMap) -> Result<(), Refused> {
    let mut named = headers.get_all(header::CONTENT_TYPE).iter();
    let is_json = match (named.next(), named.next()) {
        (Some(one), None) => one.to_str().is_ok_and(|text| {
            let mut parts = text.split(';').map(str::trim);
            let kind = parts.next().unwrap_or_default();
            kind.eq_ignore_ascii_case("application/json")
                && parts.all(|part| part.eq_ignore_ascii_case("charset=utf-8"))
        }),
        (None | Some(_), _) => false,
    };
    if is_json {
        return Ok(());
    }
    let detail = "what changes something is sent with `Content-Type: application/json`";
    Err(Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "usage", detail))
}

/// Refuses a body by the length that was announced, before any of it is waited for.
fn announced(headers: &HeaderMap, most: usize) -> Result<(), Refused> {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    // The HTTP library has refused what is no number.
    let length = length.map_or(0, |text| text.parse::<u64>().unwrap_or(u64::MAX));
    if length > most as u64 { Err(too_large(most)) } else { Ok(()) }
}

fn too_large(most: usize) -> Refused {
    let detail = format!("a body of this request has at most {most} bytes");
    Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "usage", detail)
}

/// Reads a body of at most so many bytes, within the time that a request may take.
async fn read(body: Body, most: usize, wanted: bool) -> Result<Bytes, Refused> {
    let most_read = if wanted { most } else { 0 };
    let read = tokio::time::timeout(REQUEST_WAIT_MAX, axum::body::to_bytes(body, most_read)).await;
    match read {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) if wanted => Err(too_large(most)),
        Ok(Err(_)) => Err(Refused::usage("this request has no body")),
        Err(_) => Err(Refused::new(
            StatusCode::REQUEST_TIMEOUT,
            "usage",
            format!("a request comes in within {} s", REQUEST_WAIT_MAX.as_secs()),
        )),
    }
}
