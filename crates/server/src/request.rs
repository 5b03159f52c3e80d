//! A request that passed the guard, and answers.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use materia_contract::api::Endpoint;
use materia_contract::{CommandId, RefusalCode, content_hash};
use materia_engine::off_thread;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::runtime::Handle;

use crate::http::access::random_hex;
use crate::http::peer::Caller;
use crate::http::problem::Refused;
use crate::projects::Cast;
use crate::state::App;

/// The header that names what is done, so that it is done once.
const KEY_HEADER: &str = "idempotency-key";

/// A request that passed the guard.
pub(crate) struct Request {
    pub(crate) parts: HashMap<String, String>,
    pub(crate) query: HashMap<String, String>,
    pub(crate) headers: HeaderMap,
    /// Who is calling, where a connection says.
    pub(crate) caller: Option<Caller>,
    pub(crate) body: Bytes,
}

/// The parameters of a query. What the table does not name is refused: it would be overlooked.
pub(crate) fn query_of(
    text: &str,
    endpoint: &Endpoint,
) -> Result<HashMap<String, String>, Refused> {
    let mut query = HashMap::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (Some(name), Some(value)) = (decoded(name), decoded(value)) else {
            return Err(Refused::usage("the query of the request has an invalid percent encoding"));
        };
        let Some(param) = endpoint.query.iter().find(|param| param.name == name) else {
            return Err(Refused::usage(format!(
                "`{}` is no parameter of this request",
                materia_app::text::sanitize::one_line(&name, 60)
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
            Refused::new(StatusCode::UNPROCESSABLE_ENTITY, RefusalCode::Usage, detail)
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

    /// The same, for callers on a blocking thread.
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
    let mut response = text("application/json", serde_json::to_string(value).unwrap_or_default());
    *response.status_mut() = status;
    response
}

/// An answer in text of a kind.
pub(crate) fn text(kind: &'static str, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
