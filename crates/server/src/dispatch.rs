//! Maps the table of endpoints to their handlers.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{RawPathParams, State};
use axum::http::{HeaderMap, Response, StatusCode, header};
use axum::routing::{MethodFilter, on};
use materia_contract::RefusalCode;
use materia_contract::api::{Access as Needs, ENDPOINTS, Endpoint, Method, Name};
use materia_engine::off_thread;

use crate::http::limits::{BODY_BYTES_MAX, CONFIG_BYTES_MAX, REQUEST_WAIT_MAX};
use crate::http::page;
use crate::http::peer::Caller;
use crate::http::problem::{Answered, Refused};
use crate::request::{Request, query_of};
use crate::resources::{self, Handler};
use crate::spill::spilled;
use crate::state::App;

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
                Refused::new(StatusCode::METHOD_NOT_ALLOWED, RefusalCode::Usage, detail).response()
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
        RefusalCode::Unauthorized,
        "this request is not authenticated: a program sends the token of server.json as `Authorization: Bearer`, a page signs in with the link that `materia ui` prints",
    )
}

fn no_person() -> Refused {
    Refused::new(
        StatusCode::FORBIDDEN,
        RefusalCode::Forbidden,
        "this is for a person who has signed in, not for a token: use the page, or `materia ui` in the folder",
    )
}

async fn answer(
    app: Arc<App>,
    endpoint: &'static Endpoint,
    parts: &RawPathParams,
    request: axum::extract::Request,
) -> Answered {
    let (head, body) = request.into_parts();
    if endpoint.access != Needs::Open && !app.access.knows(&head.headers) {
        return Err(unknown_sender());
    }
    let caller = head.extensions.get::<Caller>().cloned();
    if endpoint.access != Needs::Open
        && let Some(caller) = &caller
    {
        caller.is_known();
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
    if endpoint.access != Needs::Open
        && let Some(caller) = &caller
        && caller.is_of_turn().await
    {
        return Err(Refused::new(
            StatusCode::FORBIDDEN,
            RefusalCode::Forbidden,
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
async fn to_its_end(app: Arc<App>, endpoint: &'static Endpoint, asked: Request) -> Answered {
    let Ok(share) = Arc::clone(&app.acts).try_read_owned() else {
        let detail = "the server ends, and begins nothing more; nothing was done";
        return Err(Refused::new(StatusCode::SERVICE_UNAVAILABLE, RefusalCode::Ending, detail));
    };
    let task = tokio::spawn(async move {
        let _share = share;
        respond(app, endpoint, asked).await
    });
    task.await.unwrap_or_else(|error| {
        let detail = format!("the request broke off: {error}");
        Err(Refused::new(StatusCode::INTERNAL_SERVER_ERROR, RefusalCode::Storage, detail))
    })
}

async fn respond(app: Arc<App>, endpoint: &'static Endpoint, asked: Request) -> Answered {
    let (look, room) = match resources::handler(endpoint.name) {
        Handler::Task(handle) => return handle(app, asked).await,
        Handler::Look(look) => (look, None),
        Handler::LookAtLarge(look) => (look, Arc::clone(&app.large).acquire_owned().await.ok()),
    };
    let folder = app.settings.state_dir.clone();
    let answer = off_thread(move || look(&app, &asked)).await?;
    spilled(answer, &folder, room).await
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
    Err(Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, RefusalCode::Usage, detail))
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
    Refused::new(StatusCode::PAYLOAD_TOO_LARGE, RefusalCode::Usage, detail)
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
            RefusalCode::Usage,
            format!("a request comes in within {} s", REQUEST_WAIT_MAX.as_secs()),
        )),
    }
}
