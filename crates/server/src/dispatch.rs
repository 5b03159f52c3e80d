//! From the table of endpoints to the code behind each.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{RawPathParams, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::routing::{MethodFilter, on};
use materia_contract::api::{Access as Needs, Alive, Code, ENDPOINTS, Endpoint, Method, Name, SessionBody, SessionKey};
use materia_contract::{CommandId, content_hash};
use materia_engine::off_thread;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::runtime::Handle;

use crate::access::random_hex;
use crate::limits::{BODY_BYTES_MAX, CONFIG_BYTES_MAX, REQUEST_WAIT_MAX};
use crate::problem::Refused;
use crate::rooms::Cast;
use crate::state::App;
use crate::{act, begin, config, metrics, page, query, stream, trust};

/// The header that names what is done, so that it is done once.
const KEY_HEADER: &str = "idempotency-key";

/// A request that passed the guard.
pub(crate) struct Request {
    parts: HashMap<String, String>,
    query: HashMap<String, String>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// Whether a process that a turn started is calling; the listener finds out, once a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FromTurn(pub(crate) bool);

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
        return Refused::unknown("there is nothing here; GET /api/openapi.json lists what is").response();
    }
    page::answer(request.method(), path)
}

fn unknown_sender() -> Refused {
    Refused::new(
        StatusCode::UNAUTHORIZED,
        "unauthorized",
        "the server does not know who asks: a program sends the token of server.json as `Authorization: Bearer`, a page signs in with the link that `materia ui` prints",
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
    let from_turn = head.extensions.get::<FromTurn>().is_some_and(|it| it.0);
    if from_turn && endpoint.access == Needs::Known {
        return Err(Refused::new(
            StatusCode::FORBIDDEN,
            "forbidden",
            "a process that a turn started asks, and turns do not steer casts",
        ));
    }
    let query = query_of(head.uri.query().unwrap_or_default(), endpoint)?;
    if endpoint.method.changes() {
        content_type(&head.headers)?;
    }
    let most = if matches!(endpoint.name, Name::SaveConfig | Name::Check) {
        CONFIG_BYTES_MAX
    } else {
        BODY_BYTES_MAX
    };
    let body = read(body, most, endpoint.method.changes()).await?;
    let parts = parts.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let asked = Request { parts, query, headers: head.headers, body };
    respond(app, endpoint, asked).await
}

async fn respond(
    app: Arc<App>,
    endpoint: &'static Endpoint,
    asked: Request,
) -> Result<Response<Body>, Refused> {
    match endpoint.name {
        Name::Health => Ok(json(&alive(&app))),
        Name::Codes => {
            let code = app.access.code().map_err(|error| Refused::usage(error.to_string()))?;
            let url = format!("{}/#code={code}", app.url);
            Ok(json(&Code { code, url }))
        }
        Name::Session => session(&app, &asked),
        Name::Openapi => Ok(text("application/json", materia_contract::api::openapi().to_string())),
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
        Name::Projects
        | Name::AddProject
        | Name::Casts
        | Name::Cast
        | Name::Events
        | Name::Turn
        | Name::Why
        | Name::Cost
        | Name::Files
        | Name::File
        | Name::Blob
        | Name::Inbox
        | Name::Trust
        | Name::Approve
        | Name::Config
        | Name::SaveConfig
        | Name::Check
        | Name::Loadouts
        | Name::Loadout
        | Name::Materia => off_thread(move || look(&app, endpoint.name, &asked)).await,
    }
}

/// What only reads or writes files, off the threads of the runtime.
fn look(app: &Arc<App>, name: Name, asked: &Request) -> Result<Response<Body>, Refused> {
    match name {
        Name::Projects => query::projects(app),
        Name::AddProject => query::add_project(app, asked),
        Name::Casts => query::casts(app, asked),
        Name::Cast => query::cast(app, asked),
        Name::Events => query::events(app, asked),
        Name::Turn => query::turn(app, asked),
        Name::Why => query::why(app, asked),
        Name::Cost => query::cost(app, asked),
        Name::Files => query::files(app, asked),
        Name::File => query::file(app, asked),
        Name::Blob => query::blob(app, asked),
        Name::Inbox => query::inbox(app, asked),
        Name::Trust => trust::list(app, asked),
        Name::Approve => trust::approve(app, &asked.json()?),
        Name::Config => config::config(app, asked),
        Name::SaveConfig => config::save(app, asked),
        Name::Check => config::check(app, asked),
        Name::Loadouts => config::loadouts(app, asked),
        Name::Loadout => config::loadout(app, asked),
        Name::Materia => config::materia(app, asked),
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
        | Name::Metrics => Err(Refused::unknown("there is nothing here")),
    }
}

fn alive(app: &App) -> Alive {
    Alive { status: "ok".to_owned(), version: app.settings.version.clone() }
}

fn session(app: &App, asked: &Request) -> Result<Response<Body>, Refused> {
    let body: SessionBody = asked.json()?;
    let Some(session) = app.access.session(&body.code) else {
        return Err(Refused::new(
            StatusCode::UNAUTHORIZED,
            "unauthorized",
            "this code was used, is older than a minute, or is none; `materia ui` prints another link",
        ));
    };
    let mut response = json(&SessionKey { key: session.key });
    if let Ok(cookie) = HeaderValue::from_str(&session.cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

/// What changes something is sent as JSON: a form of another page cannot be.
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

/// Reads a body of at most so many bytes, within the time that a request may take.
async fn read(body: Body, most: usize, wanted: bool) -> Result<Bytes, Refused> {
    let most_read = if wanted { most } else { 0 };
    let read = tokio::time::timeout(REQUEST_WAIT_MAX, axum::body::to_bytes(body, most_read)).await;
    match read {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) if wanted => Err(Refused::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "usage",
            format!("a body of this request has at most {most} bytes"),
        )),
        Ok(Err(_)) => Err(Refused::usage("this request has no body")),
        Err(_) => Err(Refused::new(
            StatusCode::REQUEST_TIMEOUT,
            "usage",
            format!("a request comes in within {} s", REQUEST_WAIT_MAX.as_secs()),
        )),
    }
}

/// The parameters of a query. What the table does not name is refused: it would be overlooked.
fn query_of(text: &str, endpoint: &Endpoint) -> Result<HashMap<String, String>, Refused> {
    let mut query = HashMap::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (Some(name), Some(value)) = (decoded(name), decoded(value)) else {
            return Err(Refused::usage("the query of the request is not written plainly"));
        };
        let Some(param) = endpoint.query.iter().find(|param| param.name == name) else {
            return Err(Refused::usage(format!(
                "`{}` is no parameter of this request",
                materia_app::clean::one_line(&name, 60)
            )));
        };
        if param.number && value.parse::<u64>().is_err() {
            return Err(Refused::usage(format!("`{name}` is a number")));
        }
        if query.insert(name.clone(), value).is_some() {
            return Err(Refused::usage(format!("`{name}` is named twice")));
        }
    }
    Ok(query)
}

/// A part of a query, with what is written as `%XX` and `+` as it is meant.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        rest = after;
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = std::str::from_utf8(after.get(..2)?).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                rest = &after[2..];
            }
            other => bytes.push(*other),
        }
    }
    String::from_utf8(bytes).ok()
}

impl Request {
    /// A part of the path.
    pub(crate) fn part(&self, name: &str) -> &str {
        self.parts.get(name).map_or("", String::as_str)
    }

    /// A parameter of the query.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A number of the query.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.query(name).and_then(|value| value.parse().ok())
    }

    /// The body, as what it has to be.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, Refused> {
        let value: Value = serde_json::from_slice(&self.body)
            .map_err(|error| Refused::usage(format!("the body is no JSON: {error}")))?;
        serde_json::from_value(value).map_err(|error| {
            let detail = format!("the body does not have the form of this request: {error}");
            Refused::new(StatusCode::UNPROCESSABLE_ENTITY, "usage", detail)
        })
    }

    /// A hash of the body, the same however it is written.
    pub(crate) fn body_hash(&self) -> Result<String, Refused> {
        Ok(content_hash(&self.json::<Value>()?))
    }

    /// The key of the request; one is made where it has none.
    pub(crate) fn key(&self) -> Result<CommandId, Refused> {
        let mut named = self.headers.get_all(KEY_HEADER).iter();
        let (Some(key), None) = (named.next(), named.next()) else {
            if self.headers.contains_key(KEY_HEADER) {
                return Err(Refused::usage("the request has more than one `Idempotency-Key`"));
            }
            let made = random_hex::<16>().map_err(|error| Refused::usage(error.to_string()))?;
            return Ok(CommandId::kept(made));
        };
        let text = key.to_str().unwrap_or_default().trim_matches('"');
        CommandId::parse(text)
            .map_err(|error| Refused::usage(format!("`Idempotency-Key`: {error}")))
    }

    /// The cast that the path names.
    pub(crate) async fn cast(&self, app: &Arc<App>) -> Result<Cast, Refused> {
        let (app, id) = (Arc::clone(app), self.part("id").to_owned());
        let project = self.query("project").map(str::to_owned);
        off_thread(move || app.rooms.find(project.as_deref(), &id, &Handle::current())).await
    }

    /// The same, for whoever may wait.
    pub(crate) fn cast_here(&self, app: &App) -> Result<Cast, Refused> {
        app.rooms.find(self.query("project"), self.part("id"), &Handle::current())
    }
}

/// An answer in JSON.
pub(crate) fn json(value: &impl Serialize) -> Response<Body> {
    json_as(StatusCode::OK, value)
}

/// The same with a status of its own.
pub(crate) fn json_as(status: StatusCode, value: &impl Serialize) -> Response<Body> {
    let mut response =
        text("application/json", serde_json::to_string(value).unwrap_or_default());
    *response.status_mut() = status;
    response
}

/// An answer in text of a kind.
pub(crate) fn text(kind: &'static str, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
